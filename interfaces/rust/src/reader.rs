// SPDX-License-Identifier: MIT
//
//! Input.

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

/// An input stream: files, pipes, sockets, terminals.
///
/// It implements [`Read`], [`BufRead`] and [`Seek`], and shows what it reads where it lies: by
/// [lines](Reader::lines_in_place), by [records](Reader::records) and by [regions](Reader::region).
/// All these ways can be mixed: each goes on where the one before has ended.  The stream owns its
/// descriptor and is closed when it is dropped.
///
/// Bytes that are borrowed from a `Reader` are in memory of its own: they stay as they are whatever
/// becomes of the file.  [`Reader::mapped`] is for who can promise that nobody changes it.
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
///   [`BufReader`](io::BufReader)'s `read_until` for lines below 200 bytes, two thirds for lines of 1 KB to
///   3 KB; with [`fields`](crate::fields), a third of that of `split`.
/// - [`region`](Reader::region) and [`records`](Reader::records) show any number of bytes without a buffer of
///   the program's own.
/// - [`each_part`](crate::each_part) and [`read_columns`](crate::read_columns) read one file by threads.
///
/// It gains nothing where bytes are copied to the program: the methods of [`Read`] and [`BufRead`]
/// (`read_until`, `read_line`, `lines`) are about as fast as `BufReader`'s, and so is what is built on them.
/// A [`read`](Read::read) of 64 KB or more costs a quarter more CPU time than [`File`]'s, since it copies
/// the bytes once more; a whole file is best read by [`std::fs::read`].
///
/// # Threads
/// A `Reader` may be sent to another thread.  Threads read one stream together by
/// [`Reader::share`], or each a part of a file by [`each_part`](crate::each_part).
///
/// # Errors
/// Every [`io::Error`] of this crate has the code of the system's `errno`
/// ([`raw_os_error`](io::Error::raw_os_error)).  When a signal has interrupted a wait the kind is
/// [`Interrupted`](io::ErrorKind::Interrupted), after which a call may be made again, and
/// [`WouldBlock`](io::ErrorKind::WouldBlock) for a descriptor that does not wait.
#[derive(Debug)]
pub struct Reader<On = Descriptor> {
    stream: Stream,
    held: Option<Held>,
    on: PhantomData<On>,
}

/// What a [`Reader`] is on that has a descriptor: it can [seek](Seek) and be borrowed [as one](AsFd).
#[derive(Debug)]
pub enum Descriptor {}

/// What a [`PartReader`] is on.  A stream that [`each_part`](crate::each_part) lends lives for `'a`.
#[derive(Debug)]
pub struct PartOf<'a>(PhantomData<&'a ()>);

/// A [`Reader`] on a part of a file, which ends where the part ends.
///
/// It has no descriptor of its own, whose offset would count from the beginning of the file, and so
/// implements neither [`AsFd`] nor [`Seek`]; [`Shared::region_at`] takes bytes at an offset in the part.
pub type PartReader<'a> = Reader<PartOf<'a>>;

/// A region that `BufRead` has lent out of, up to `used`.
#[derive(Debug)]
struct Held {
    region: NonNull<u8>,
    used: usize,
    length: usize,
}

// SAFETY: a region may be used and given back by any thread, and through a shared reference there is
// no way to one here.
unsafe impl<On> Send for Reader<On> {}
unsafe impl<On> Sync for Reader<On> {}

impl Reader {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// Those of [`File::open`], and `ENOMEM`.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Reader> {
        Reader::new(File::open(path)?)
    }

    /// A stream on a descriptor: a [`File`], a socket, the output of a child.  It goes on where the
    /// descriptor stands.
    ///
    /// A filter reads its standard input by
    /// `Reader::new(std::io::stdin().as_fd().try_clone_to_owned()?)`, with
    /// [`AsFd`](std::os::unix::io::AsFd).
    ///
    /// # Errors
    /// `ENOMEM`.
    pub fn new(file: impl Into<OwnedFd>) -> io::Result<Reader> {
        let stream = Stream::open(file.into(), sys::O_RDONLY)?;
        // SAFETY: a call on an open stream.  What is no regular file refuses it and is never mapped.
        unsafe { sys::asf_advise(stream.as_ptr(), sys::COPIED) };
        Ok(Reader::on(stream))
    }

    /// As [`Reader::new`], and where that was measured to be faster the file is mapped, and not copied.
    /// (`ASF_OPTIONS=module=map` has every file mapped.)
    ///
    /// # Safety
    /// As long as bytes are borrowed from the reader nobody, in this process or another, may write to
    /// the file or truncate it: the bytes would change under a shared reference.
    ///
    /// # Errors
    /// `ENOMEM`.  When the file is truncated all the same, its missing part reads as zero bytes, and
    /// the call that gives it back fails with `EIO`.
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
    /// `ESTALE`: the file was replaced, rewritten or truncated since it was cut; one that has only grown
    /// is read to the part's end.  `EINVAL`: no part.  Else those of [`File::open`], and `ENOMEM`.  A read
    /// fails with `EIO` if the file was truncated before the part's end.
    pub fn open_part(path: impl AsRef<Path>, part: &Part) -> io::Result<Self> {
        Ok(Reader::on(Stream::open_part(path.as_ref(), part)?))
    }
}

impl<On> Reader<On> {
    pub(crate) fn on(stream: Stream) -> Self {
        Reader { stream, held: None, on: PhantomData }
    }

    /// The lines of the stream, in place: [`Reader::split_in_place`] at `\n`.
    pub fn lines_in_place(&mut self) -> Lines<'_> {
        self.split_in_place(b'\n')
    }

    /// What is between delimiters, in place and without them.
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

    /// The stream as records of `size` bytes, in place.  The last is shorter when the stream ends
    /// within it.
    pub fn records(&mut self, size: usize) -> Records<'_> {
        let failed = self.settle().err();
        Records::begin(&self.stream, size, failed)
    }

    /// The next `n` bytes as a region; fewer when the stream ends before, or an error comes, which the
    /// next call tells.  `None`: the end of the stream.
    ///
    /// # Errors
    /// `EINVAL` for an `n` of 0, `ENOMEM`, and those of `read(2)`.
    pub fn region(&mut self, n: usize) -> io::Result<Option<Region<'_>>> {
        self.share()?.region(n)
    }

    /// The stream for several threads, or for several regions at the same time.
    ///
    /// # Errors
    /// Those of giving back what [`BufRead`] has lent.
    pub fn share(&mut self) -> io::Result<Shared<'_>> {
        self.settle()?;
        Ok(Shared { stream: &self.stream })
    }

    /// The name of the stream module that serves the stream: `read`, `map`, `pipe`.
    pub fn module(&mut self) -> &str {
        self.stream.module()
    }

    /// Closes the stream, and tells what dropping it would not.
    ///
    /// # Errors
    /// Those of `close(2)`; `EBUSY` when a region was leaked: then the stream is, too.
    pub fn close(mut self) -> io::Result<()> {
        let settled = self.settle();
        let reader = ManuallyDrop::new(self);
        // SAFETY: nothing else of the reader is to be dropped.
        let closed = unsafe { ptr::read(&reader.stream) }.close();
        settled.and(closed)
    }

    pub(crate) fn settled(&mut self) -> io::Result<&Stream> {
        self.settle()?;
        Ok(&self.stream)
    }

    /// Gives back what BufRead holds.
    fn settle(&mut self) -> io::Result<()> {
        self.held.take().map_or(Ok(()), |held| self.stream.free(held.region, held.used, held.length))
    }

    #[cold]
    fn fill(&mut self) -> io::Result<&[u8]> {
        self.settle()?;
        // SAFETY: a call on an open stream; what is at hand is all that is taken.
        let next =
            self.stream.allocate(usize::MAX, |stream, n| unsafe { sys::asf_salloc_some(stream, n) })?;
        self.held = next.map(|(region, length)| Held { region, used: 0, length });
        Ok(self.at_hand())
    }

    #[inline]
    fn at_hand(&self) -> &[u8] {
        match &self.held {
            // SAFETY: the region is this reader's until settle, which takes it exclusively.
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
    /// `ESPIPE` of what cannot seek, `EINVAL` of a place before the beginning.
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

/// A [`Reader`] in the hands of several threads: each call takes the next bytes of the stream, and
/// no two calls the same.  It can be copied and sent.
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
    /// As [`Reader::region`].
    ///
    /// # Errors
    /// The same.
    pub fn region(&self, n: usize) -> io::Result<Option<Region<'a>>> {
        // SAFETY: a call on an open stream; so are those below.
        self.allocate(n, |stream, n| unsafe { sys::asf_salloc(stream, n) })
    }

    /// What is at hand, at least one byte and at most `n`: waits only when there is nothing.
    ///
    /// # Errors
    /// As [`Reader::region`].
    pub fn region_some(&self, n: usize) -> io::Result<Option<Region<'a>>> {
        self.allocate(n, |stream, n| unsafe { sys::asf_salloc_some(stream, n) })
    }

    /// The bytes up to the next delimiter, and with it; without it when the stream ends before, or an
    /// error comes, which the next call tells.
    ///
    /// `longest` is how many bytes a region may have, or 0 for 1 MB.
    ///
    /// # Errors
    /// `EMSGSIZE` when there are more before the delimiter: then nothing is taken, and a call with a larger
    /// limit may follow.  Else as [`Reader::region`].
    pub fn until(&self, delimiter: u8, longest: usize) -> io::Result<Option<Region<'a>>> {
        self.allocate(longest, |stream, n| unsafe { sys::asf_salloc_until(stream, delimiter.into(), n) })
    }

    /// `n` bytes of a file from `offset` on, with nothing of another thread's coming between.  The
    /// stream goes on after them.
    ///
    /// # Errors
    /// `ESPIPE` when it cannot seek.  Else as [`Reader::region`].
    pub fn region_at(&self, offset: u64, n: usize) -> io::Result<Option<Region<'a>>> {
        // An offset that is too large becomes one below 0: EINVAL.
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
