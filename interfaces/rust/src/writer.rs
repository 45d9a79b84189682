// SPDX-License-Identifier: MIT
//
//! Output streams.

use crate::region::RegionMut;
use crate::stream::Stream;
use crate::sys;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr::{self, NonNull};

/// Bytes of the stream's buffer that [`Write`] takes at a time.
const ROOM: usize = 32 << 10;

/// An output stream on a file, pipe, socket or terminal.
///
/// It implements [`Write`] and [`Seek`].  Like [`BufWriter`](std::io::BufWriter) it buffers: it writes when
/// the buffer is full, on [`flush`](Write::flush), and at the end.  [`Writer::region`] returns room in the
/// buffer itself.  The stream owns its descriptor, and a drop closes both but ignores errors.
/// [`Writer::close`] returns them.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// use std::io::Write;
/// let mut output = asf::Writer::create(&path)?;
/// writeln!(output, "{} and {}", 1, 2)?;
/// output.close()?;
/// assert_eq!(std::fs::read(&path)?, b"1 and 2\n");
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// Bytes that a failed write has not written are lost.  An error such as `ENOSPC`, or `EAGAIN` of a
/// non-blocking descriptor, is returned once, by the failing call or the next.
#[derive(Debug)]
pub struct Writer {
    stream: Stream,
    region: NonNull<u8>,
    used: usize,
    room: usize,
}

// SAFETY: any thread may use a region and give it back, and a shared reference gives no access to it.
unsafe impl Send for Writer {}
unsafe impl Sync for Writer {}

impl Writer {
    /// Creates a file, or truncates an existing one.
    ///
    /// # Errors
    /// The errors of [`File::create`], and `ENOMEM`.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Writer> {
        Writer::new(File::create(path)?)
    }

    /// Opens a stream on a descriptor that is open for writing: a [`File`], a socket, the input of a child.
    ///
    /// A filter writes standard output with `Writer::new(std::io::stdout().as_fd().try_clone_to_owned()?)`,
    /// with [`AsFd`](std::os::unix::io::AsFd).
    ///
    /// # Errors
    /// `ENOMEM`.
    pub fn new(file: impl Into<OwnedFd>) -> io::Result<Writer> {
        let file = file.into();
        // SAFETY: the descriptor is open.
        let flags = unsafe { sys::fcntl(file.as_raw_fd(), sys::F_GETFL) };
        let stream = Stream::open(file, sys::O_WRONLY | flags & sys::O_APPEND)?;
        Ok(Writer { stream, region: NonNull::dangling(), used: 0, room: 0 })
    }

    /// Returns room for `n` bytes, however many, in the stream's own buffer, to be filled and committed.
    ///
    /// # Errors
    /// `EINVAL` for an `n` of 0, `ENOMEM`, and the errors of writing earlier bytes.
    pub fn region(&mut self, n: usize) -> io::Result<RegionMut<'_>> {
        self.commit()?;
        let bytes = self.allocate(n)?;
        Ok(RegionMut::new(&self.stream, bytes))
    }

    /// Returns the name of the stream module that serves the stream.
    pub fn module(&mut self) -> &str {
        self.stream.module()
    }

    /// Writes the buffered bytes, closes the stream, and returns the error that a drop ignores.
    ///
    /// # Errors
    /// The errors of `write(2)` and `close(2)`; `EBUSY` if a region was leaked: then the stream leaks as well.
    pub fn close(mut self) -> io::Result<()> {
        let committed = self.commit();
        let writer = ManuallyDrop::new(self);
        // SAFETY: no other field of the writer needs a drop.
        let closed = unsafe { ptr::read(&writer.stream) }.close();
        committed.and(closed)
    }

    pub(crate) fn settled(&mut self) -> io::Result<&Stream> {
        self.commit()?;
        Ok(&self.stream)
    }

    fn allocate(&self, n: usize) -> io::Result<(NonNull<u8>, usize)> {
        // SAFETY: the stream is open.  Output never returns `None` for an end.
        let bytes = self.stream.allocate(n, |stream, n| unsafe { sys::asf_salloc(stream, n) })?;
        bytes.ok_or_else(|| io::ErrorKind::WriteZero.into())
    }

    /// Gives the region back, and adds its used bytes to the stream.
    fn commit(&mut self) -> io::Result<()> {
        let (used, room) = (self.used, self.room);
        self.used = 0;
        self.room = 0;
        if room == 0 {
            return Ok(());
        }
        self.stream.free(self.region, used, room)
    }

    /// # Safety
    /// The region has room for `from`.
    #[inline]
    unsafe fn put(&mut self, from: &[u8]) {
        // SAFETY: the caller guarantees the room; the writer owns the region.
        unsafe { self.region.as_ptr().add(self.used).copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        self.used += from.len();
    }

    /// Writes the text that `digits` stores at the given address; `digits` returns the end of the text.  If
    /// the region has too little room, the text goes through a copy.
    ///
    /// # Safety
    /// `digits` stores at most `ROOM` bytes.
    #[inline]
    pub(crate) unsafe fn write_digits<const ROOM: usize>(
        &mut self,
        digits: impl FnOnce(*mut u8) -> *mut u8,
    ) -> io::Result<()> {
        if ROOM <= self.room - self.used {
            // SAFETY: the region has room, and both addresses are in it.
            let to = unsafe { self.region.as_ptr().add(self.used) };
            self.used += digits(to) as usize - to as usize;
            return Ok(());
        }
        let mut text = [0; ROOM];
        let to = text.as_mut_ptr();
        let n = digits(to) as usize - to as usize;
        self.write_all(&text[..n])
    }

    #[cold]
    fn write_slowly(&mut self, from: &[u8]) -> io::Result<usize> {
        if self.used == self.room {
            self.commit()?;
            let (region, room) = self.allocate(ROOM)?;
            self.region = region;
            self.room = room;
        }
        let n = from.len().min(self.room - self.used);
        // SAFETY: the region has room for n bytes.
        unsafe { self.put(&from[..n]) };
        Ok(n)
    }
}

impl Write for Writer {
    #[inline]
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if from.len() <= self.room - self.used {
            // SAFETY: the region has room.
            unsafe { self.put(from) };
            return Ok(from.len());
        }
        self.write_slowly(from)
    }

    #[inline]
    fn write_all(&mut self, mut from: &[u8]) -> io::Result<()> {
        while from.len() > self.room - self.used {
            let n = self.write_slowly(from)?;
            from = &from[n..];
        }
        // SAFETY: the region has room.
        unsafe { self.put(from) };
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.commit()?;
        // SAFETY: the stream is open.
        sys::check(unsafe { sys::asf_sflush(self.stream.as_ptr()) })
    }
}

impl Seek for Writer {
    /// # Errors
    /// `ESPIPE` if the stream cannot seek, `EINVAL` for an offset before the beginning; the errors of
    /// `write(2)`.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.commit()?;
        self.stream.seek(to, true)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        self.commit()?;
        self.stream.position()
    }
}

impl AsFd for Writer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl AsRawFd for Writer {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.fd()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.commit();
    }
}
