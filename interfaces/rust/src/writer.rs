// SPDX-License-Identifier: MIT
//
//! Output.

use crate::region::RegionMut;
use crate::stream::Stream;
use crate::sys;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr::{self, NonNull};

/// How much of the stream's buffer is taken at once for [`Write`].
const ROOM: usize = 32 << 10;

/// An output stream: files, pipes, sockets, terminals.
///
/// It implements [`Write`], buffered as by [`BufWriter`](std::io::BufWriter): bytes are put by
/// [`flush`](Write::flush), when the buffer is full, and at the end.  [`Writer::region`] gives room in
/// that buffer itself.  The stream owns its descriptor and is closed when it is dropped;
/// [`Writer::close`] tells how that went.  It implements [`Seek`], too.
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
/// What a write that failed has not written is lost: an error such as `ENOSPC`, or `EAGAIN` of a
/// descriptor that does not wait, is told once, by the call that met it or the next.
#[derive(Debug)]
pub struct Writer {
    stream: Stream,
    region: NonNull<u8>,
    used: usize,
    room: usize,
}

// SAFETY: a region may be used and given back by any thread, and a shared reference gives no way to it.
unsafe impl Send for Writer {}
unsafe impl Sync for Writer {}

impl Writer {
    /// Creates a file, or empties one that is there.
    ///
    /// # Errors
    /// Those of [`File::create`], and `ENOMEM`.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Writer> {
        Writer::new(File::create(path)?)
    }

    /// A stream on a descriptor that is open for writing: a [`File`], a socket, the input of a child.
    ///
    /// A filter writes its standard output by
    /// `Writer::new(std::io::stdout().as_fd().try_clone_to_owned()?)`, with
    /// [`AsFd`](std::os::unix::io::AsFd).
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

    /// Room for `n` bytes in the stream's own buffer, however large, to be filled and committed.
    ///
    /// # Errors
    /// `EINVAL` for an `n` of 0, `ENOMEM`, and those of writing what was there before.
    pub fn region(&mut self, n: usize) -> io::Result<RegionMut<'_>> {
        self.commit()?;
        let bytes = self.allocate(n)?;
        Ok(RegionMut::new(&self.stream, bytes))
    }

    /// The name of the stream module that serves the stream.
    pub fn module(&mut self) -> &str {
        self.stream.module()
    }

    /// Writes what is left and closes the stream, and tells what dropping it would not.
    ///
    /// # Errors
    /// Those of `write(2)` and `close(2)`; `EBUSY` when a region was leaked: then the stream is, too.
    pub fn close(mut self) -> io::Result<()> {
        let committed = self.commit();
        let writer = ManuallyDrop::new(self);
        // SAFETY: nothing else of the writer is to be dropped.
        let closed = unsafe { ptr::read(&writer.stream) }.close();
        committed.and(closed)
    }

    pub(crate) fn settled(&mut self) -> io::Result<&Stream> {
        self.commit()?;
        Ok(&self.stream)
    }

    fn allocate(&self, n: usize) -> io::Result<(NonNull<u8>, usize)> {
        // SAFETY: a call on an open stream.  Output has no end.
        let bytes = self.stream.allocate(n, |stream, n| unsafe { sys::asf_salloc(stream, n) })?;
        bytes.ok_or_else(|| io::ErrorKind::WriteZero.into())
    }

    /// What is in the region becomes the stream's.
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
    /// There is room for them.
    #[inline]
    unsafe fn put(&mut self, from: &[u8]) {
        // SAFETY: the caller's promise; the region is the writer's own.
        unsafe { self.region.as_ptr().add(self.used).copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        self.used += from.len();
    }

    /// Writes a text that `digits` stores at the address that it gets, and whose end it returns.  The text goes
    /// into the region, or through a copy if the region has too little room.
    ///
    /// # Safety
    /// It stores no more than `ROOM` bytes.
    #[inline]
    pub(crate) unsafe fn write_digits<const ROOM: usize>(
        &mut self,
        digits: impl FnOnce(*mut u8) -> *mut u8,
    ) -> io::Result<()> {
        if ROOM <= self.room - self.used {
            // SAFETY: there is room, and both addresses are in the region.
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
        // SAFETY: n is what there is room for.
        unsafe { self.put(&from[..n]) };
        Ok(n)
    }
}

impl Write for Writer {
    #[inline]
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if from.len() <= self.room - self.used {
            // SAFETY: there is room.
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
        // SAFETY: there is room.
        unsafe { self.put(from) };
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.commit()?;
        // SAFETY: a call on an open stream.
        sys::check(unsafe { sys::asf_sflush(self.stream.as_ptr()) })
    }
}

impl Seek for Writer {
    /// # Errors
    /// `ESPIPE` of what cannot seek, `EINVAL` of a place before the beginning; those of `write(2)`.
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
