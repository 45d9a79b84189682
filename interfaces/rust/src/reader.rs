// SPDX-License-Identifier: MIT
//
//! Input streams.

use crate::lines::{Lines, Records};
use crate::region::Region;
use crate::stream::Stream;
use crate::sys::{self, Part};
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::raw::c_void;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;

/// An input stream on a file, pipe, socket or terminal.
///
/// It implements [`Read`], [`BufRead`] and [`Seek`], and shows its input in place as
/// [lines](Reader::lines_in_place), [records](Reader::records) and [regions](Reader::region).  All these ways
/// can be mixed: each call continues where the one before ended.  The stream owns its descriptor, and a drop
/// closes both.
///
/// Bytes borrowed from a `Reader` are in its own memory, and do not change with the file.  Use
/// [`Reader::mapped`] only if no process changes the file.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// # std::fs::write(&path, "one\ntwo\n")?;
/// use std::io::BufRead;
/// let mut input = asf::Reader::open(&path)?;
/// let mut first = String::new();
/// input.read_line(&mut first)?;
/// assert_eq!(first, "one\n");
/// assert_eq!(input.region(3)?.as_deref(), Some(&b"two"[..]));
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
///
/// # What it gains over `std::io`
/// - [`lines_in_place`](Reader::lines_in_place) takes a half to a sixth of the CPU time of
///   [`BufReader`](io::BufReader)'s `read_until` for lines below 200 bytes.  For lines of 1 KB to 3 KB it
///   takes two thirds.  With [`fields`](crate::fields) it takes a third of the time of `split`.
/// - [`region`](Reader::region) and [`records`](Reader::records) show any number of bytes without a buffer in
///   the program.
/// - [`each_part`](crate::each_part) and [`read_columns`](crate::read_columns) read one file with several
///   threads.
///
/// It gains nothing where bytes are copied to the program.  The methods of [`Read`] and [`BufRead`]
/// (`read_until`, `read_line`, `lines`) are about as fast as `BufReader`'s.  A [`read`](Read::read) of 64 KB
/// or more costs a quarter more CPU time than [`File`]'s, because the bytes are copied once more.  To read a
/// whole file, use [`std::fs::read`].
///
/// # Threads
/// A `Reader` may move to another thread.  Several threads read one stream with [`Reader::share`], or one
/// part of a file each with [`each_part`](crate::each_part).
///
/// # Errors
/// Every [`io::Error`] of this crate has the system's `errno` ([`raw_os_error`](io::Error::raw_os_error)).
/// If a signal interrupts a wait, the kind is [`Interrupted`](io::ErrorKind::Interrupted), and the call may
/// be repeated.  If a non-blocking descriptor has no data, the kind is
/// [`WouldBlock`](io::ErrorKind::WouldBlock).
#[derive(Debug)]
pub struct Reader<On = Descriptor> {
    stream: Stream,
    held: Option<Held>,
    on: PhantomData<On>,
}

/// Marks a [`Reader`] with a descriptor, which can [seek](Seek) and lend the [descriptor](AsFd).
#[derive(Debug)]
pub enum Descriptor {}

/// Marks a [`PartReader`].  `'a` is the lifetime of a stream that [`each_part`](crate::each_part) lends.
#[derive(Debug)]
pub struct PartOf<'a>(PhantomData<&'a ()>);

/// A [`Reader`] on a part of a file; it ends where the part ends.
///
/// It implements neither [`AsFd`] nor [`Seek`], because it has no descriptor of its own, and offsets would
/// count from the beginning of the file.  [`Shared::region_at`] returns bytes at an offset in the part.
pub type PartReader<'a> = Reader<PartOf<'a>>;

/// The region that `BufRead` lends from; its first `used` bytes are consumed.
#[derive(Debug)]
struct Held {
    region: NonNull<u8>,
    used: usize,
    length: usize,
}

// SAFETY: any thread may use a region and give it back, and a shared reference gives no access to it.
unsafe impl<On> Send for Reader<On> {}
unsafe impl<On> Sync for Reader<On> {}

impl Reader {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// The errors of [`File::open`], and `ENOMEM`.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Reader> {
        Reader::new(File::open(path)?)
    }

    /// Opens a stream on a descriptor: a [`File`], a socket, the output of a child.  It begins at the
    /// descriptor's offset.
    ///
    /// A filter reads standard input with `Reader::new(std::io::stdin().as_fd().try_clone_to_owned()?)`, with
    /// [`AsFd`](std::os::unix::io::AsFd).
    ///
    /// # Errors
    /// `ENOMEM`.
    pub fn new(file: impl Into<OwnedFd>) -> io::Result<Reader> {
        let stream = Stream::open(file.into(), sys::O_RDONLY)?;
        // SAFETY: the stream is open.  The call fails if the file is not regular, but then the file is never
        // mapped.
        unsafe { sys::asf_advise(stream.as_ptr(), sys::COPIED) };
        Ok(Reader::on(stream))
    }

    /// Like [`Reader::new`], but the file is mapped instead of copied where measurements showed that to be
    /// faster.  `ASF_OPTIONS=module=map` maps every file.
    ///
    /// # Safety
    /// While bytes are borrowed from the reader, no process may write to the file or truncate it, this
    /// process included.  Otherwise the bytes change under a shared reference.
    ///
    /// # Errors
    /// `ENOMEM`.  If the file is truncated nevertheless, its missing part reads as zero bytes, and the call
    /// that gives it back fails with `EIO`.
    pub unsafe fn mapped(file: impl Into<OwnedFd>) -> io::Result<Reader> {
        let stream = Stream::open(file.into(), sys::O_RDONLY)?;
        Ok(Reader::on(stream))
    }
}

impl Reader<PartOf<'static>> {
    /// Opens a stream on a part of a file, from [`parts`](crate::parts).
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
    /// # std::fs::write(&path, "a line\nanother\n")?;
    /// for part in asf::parts(&path, &asf::Cut::default())? {
    ///     let mut input = asf::Reader::open_part(&path, &part)?;
    ///     input.lines_in_place().for_each(|line| println!("{} bytes", line.len()))?;
    /// }
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// `ESTALE`: the file was replaced, rewritten or truncated after it was cut; a file that has only grown
    /// is read to the part's end.  `EINVAL`: the part is not valid.  Otherwise the errors of [`File::open`],
    /// and `ENOMEM`.  A read fails with `EIO` if the file was truncated before the part's end.
    pub fn open_part(path: impl AsRef<Path>, part: &Part) -> io::Result<Self> {
        Ok(Reader::on(Stream::open_part(path.as_ref(), part)?))
    }
}

impl<On> Reader<On> {
    pub(crate) fn on(stream: Stream) -> Self {
        Reader { stream, held: None, on: PhantomData }
    }

    /// Returns the lines of the stream in place: [`Reader::split_in_place`] at `\n`.
    pub fn lines_in_place(&mut self) -> Lines<'_> {
        self.split_in_place(b'\n')
    }

    /// Returns the bytes between delimiters in place, without the delimiters.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
    /// # std::fs::write(&path, "one:two:three")?;
    /// let mut input = asf::Reader::open(&path)?;
    /// let mut parts = input.split_in_place(b':');
    /// while let Some(part) = parts.next() {
    ///     println!("{} bytes", part?.len());
    /// }
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn split_in_place(&mut self, delimiter: u8) -> Lines<'_> {
        let failed = self.settle().err();
        Lines::begin(&self.stream, delimiter, failed)
    }

    /// Returns the stream as records of `size` bytes, in place.  The last record is shorter if the stream
    /// ends within it.
    pub fn records(&mut self, size: usize) -> Records<'_> {
        let failed = self.settle().err();
        Records::begin(&self.stream, size, failed)
    }

    /// Returns the next `n` bytes as a region; `None` at the end of the stream.  The region has fewer bytes
    /// if the stream ends, or if an error follows, which the next call returns.
    ///
    /// # Errors
    /// `EINVAL` for an `n` of 0, `ENOMEM`, and the errors of `read(2)`.
    pub fn region(&mut self, n: usize) -> io::Result<Option<Region<'_>>> {
        self.share()?.region(n)
    }

    /// Returns the stream for use by several threads, or for several regions at the same time.
    ///
    /// # Errors
    /// An error of giving back the bytes that [`BufRead`] has lent.
    pub fn share(&mut self) -> io::Result<Shared<'_>> {
        self.settle()?;
        Ok(Shared { stream: &self.stream })
    }

    /// Returns the name of the stream module that serves the stream: `read`, `map`, `pipe`.
    pub fn module(&mut self) -> &str {
        self.stream.module()
    }

    /// Closes the stream, and returns the error that a drop ignores.
    ///
    /// # Errors
    /// The errors of `close(2)`; `EBUSY` if a region was leaked: then the stream leaks as well.
    pub fn close(mut self) -> io::Result<()> {
        let settled = self.settle();
        let reader = ManuallyDrop::new(self);
        // SAFETY: no other field of the reader needs a drop.
        let closed = unsafe { ptr::read(&reader.stream) }.close();
        settled.and(closed)
    }

    pub(crate) fn settled(&mut self) -> io::Result<&Stream> {
        self.settle()?;
        Ok(&self.stream)
    }

    /// Gives back the region that BufRead holds.
    fn settle(&mut self) -> io::Result<()> {
        self.held.take().map_or(Ok(()), |held| self.stream.free(held.region, held.used, held.length))
    }

    #[cold]
    fn fill(&mut self) -> io::Result<&[u8]> {
        self.settle()?;
        // SAFETY: the stream is open; the call takes only buffered bytes, or waits for some.
        let next =
            self.stream.allocate(usize::MAX, |stream, n| unsafe { sys::asf_salloc_some(stream, n) })?;
        self.held = next.map(|(region, length)| Held { region, used: 0, length });
        Ok(self.at_hand())
    }

    #[inline]
    fn at_hand(&self) -> &[u8] {
        match &self.held {
            // SAFETY: the region is valid until settle, which borrows the reader exclusively.
            Some(held) => unsafe { &slice::from_raw_parts(held.region.as_ptr(), held.length)[held.used..] },
            None => &[],
        }
    }
}

impl<On> BufRead for Reader<On> {
    #[inline]
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at_hand().is_empty() {
            return self.fill();
        }
        Ok(self.at_hand())
    }

    #[inline]
    fn consume(&mut self, amount: usize) {
        if let Some(held) = &mut self.held {
            held.used = held.length.min(held.used.saturating_add(amount));
        }
    }
}

impl<On> Read for Reader<On> {
    #[inline]
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        let n = self.fill_buf()?.read(to)?;
        self.consume(n);
        Ok(n)
    }
}

impl Seek for Reader {
    /// # Errors
    /// `ESPIPE` if the stream cannot seek, `EINVAL` for an offset before the beginning.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.settle()?;
        self.stream.seek(to, false)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        self.settle()?;
        self.stream.position()
    }
}

impl AsFd for Reader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl AsRawFd for Reader {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.fd()
    }
}

impl<On> Drop for Reader<On> {
    fn drop(&mut self) {
        let _ = self.settle();
    }
}

/// A [`Reader`] shared by several threads.  Each call takes the next bytes of the stream, and no two calls
/// take the same.  A `Shared` can be copied and sent.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// # std::fs::write(&path, "a\nb\nc\n".repeat(1000))?;
/// let mut input = asf::Reader::open(&path)?;
/// let shared = input.share()?;
/// let count = || std::iter::from_fn(|| shared.until(b'\n', 0).transpose()).count();
/// let lines = std::thread::scope(|threads| {
///     let other = threads.spawn(count);
///     count() + other.join().unwrap()
/// });
/// assert_eq!(lines, 3000);
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
///
/// Its regions live no longer than the borrow of the reader:
///
/// ```compile_fail,E0505
/// let mut input = asf::Reader::open("/dev/null").unwrap();
/// let region = input.share().unwrap().region(10).unwrap();
/// drop(input);
/// println!("{:?}", region.as_deref());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    stream: &'a Stream,
}

impl<'a> Shared<'a> {
    /// Returns a region, as [`Reader::region`] does.
    ///
    /// # Errors
    /// The errors of [`Reader::region`].
    pub fn region(&self, n: usize) -> io::Result<Option<Region<'a>>> {
        // SAFETY: the stream is open, here and in the calls below.
        self.allocate(n, |stream, n| unsafe { sys::asf_salloc(stream, n) })
    }

    /// Returns the buffered bytes, at least one and at most `n`; waits only if none is buffered.
    ///
    /// # Errors
    /// The errors of [`Reader::region`].
    pub fn region_some(&self, n: usize) -> io::Result<Option<Region<'a>>> {
        self.allocate(n, |stream, n| unsafe { sys::asf_salloc_some(stream, n) })
    }

    /// Returns the bytes up to and including the next delimiter.  The delimiter is missing if the stream ends
    /// before it, or if an error follows, which the next call returns.
    ///
    /// `longest` is the most bytes a region may have; 0 means 1 MB.
    ///
    /// # Errors
    /// `EMSGSIZE` if the delimiter is not within `longest` bytes: no byte is taken, and a call with a larger
    /// limit may follow.  Otherwise the errors of [`Reader::region`].
    pub fn until(&self, delimiter: u8, longest: usize) -> io::Result<Option<Region<'a>>> {
        self.allocate(longest, |stream, n| unsafe { sys::asf_salloc_until(stream, delimiter.into(), n) })
    }

    /// Returns `n` bytes of a file from `offset` on, with no other thread's call in between.  The stream
    /// continues after them.
    ///
    /// # Errors
    /// `ESPIPE` if the stream cannot seek.  Otherwise the errors of [`Reader::region`].
    pub fn region_at(&self, offset: u64, n: usize) -> io::Result<Option<Region<'a>>> {
        // An offset that is too large becomes negative, which is EINVAL.
        self.allocate(n, |stream, n| unsafe { sys::asf_sallocAt(stream, n, offset as i64, sys::SEEK_SET) })
    }

    fn allocate(
        &self,
        n: usize,
        call: impl FnOnce(*mut sys::Cios, &mut isize) -> *mut c_void,
    ) -> io::Result<Option<Region<'a>>> {
        Ok(self.stream.allocate(n, call)?.map(|bytes| Region::new(self.stream, bytes)))
    }
}
