// SPDX-License-Identifier: MIT
//
//! Parts of a file, for threads.

use crate::reader::{PartReader, Reader};
use crate::stream::Stream;
use crate::sys::{self, Part};
use std::any::Any;
use std::io;
use std::os::raw::{c_int, c_uint, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Mutex;

/// How a file is cut: between lines, unless it says otherwise.
///
/// ```
/// let _ = asf::Cut::default(); // after newlines
/// let _ = asf::Cut::at(0).size(1 << 20); // after null bytes, about 1 MB each
/// let _ = asf::Cut::records(24);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cut(sys::Cut);

impl Cut {
    /// Parts end after this byte.
    pub fn at(delimiter: u8) -> Cut {
        Cut(sys::Cut { delimiter: delimiter.into(), record: 0, size: 0, decode: false })
    }

    /// Parts consist of whole records of so many bytes.
    pub fn records(bytes: u64) -> Cut {
        // 0 would stand for no records: as a number that is too large it is refused.
        let record = i64::try_from(bytes).ok().filter(|&record| record > 0).unwrap_or(-1);
        Cut(sys::Cut { delimiter: 0, record, size: 0, decode: false })
    }

    /// About the bytes of a part; 0, which is the default: 16 MB.  A longer line or record stays whole.
    pub fn size(self, bytes: u64) -> Cut {
        Cut(sys::Cut { size: i64::try_from(bytes).unwrap_or(-1), ..self.0 })
    }

    /// A file that zstd, lz4, gzip or xz has compressed is cut between its frames, and readers on its parts have
    /// the decoded lines or records.  [`size`](Cut::size) counts compressed bytes.
    pub fn decode(self) -> Cut {
        Cut(sys::Cut { decode: true, ..self.0 })
    }
}

impl Default for Cut {
    fn default() -> Cut {
        Cut::at(b'\n')
    }
}

/// Cuts a file into parts, for [`Reader::open_part`] by whatever threads or processes the program has.
/// An empty file has none; a pipe, or anything else that is no regular file, is one part.
///
/// With [rayon](https://docs.rs/rayon) a vector of parts is a parallel iterator:
///
/// ```ignore
/// use rayon::prelude::*;
/// let lines: io::Result<u64> = asf::parts(path, &asf::Cut::default())?
///     .into_par_iter()
///     .map(|part| {
///         let mut lines = 0;
///         asf::Reader::open_part(path, &part)?.lines_in_place().for_each(|_| lines += 1)?;
///         Ok(lines)
///     })
///     .sum();
/// ```
///
/// # Errors
/// `EINVAL` for records of no bytes, `ENOMEM`, those of `open(2)` and `read(2)`.
pub fn parts(path: impl AsRef<Path>, cut: &Cut) -> io::Result<Vec<Part>> {
    let (path, mut found) = (sys::path(path.as_ref())?, ptr::null_mut());
    // SAFETY: a path, how to cut it, and a place for the array.
    let count = unsafe { sys::asf_parts(path.as_ptr(), &cut.0, &mut found) };
    let count = usize::try_from(count).map_err(|_| sys::error(count as i64))?;
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: an array of so many, from malloc, which is freed once.
    unsafe {
        let parts = slice::from_raw_parts(found, count).to_vec();
        sys::free(found.cast());
        Ok(parts)
    }
}

/// Calls `work` once for each part of a file, in up to `threads` threads at the same time, the calling
/// one included, and returns when all calls have returned.
///
/// If `threads` is 0, there are as many as the process may use of the processors, by its affinity and its
/// control group's quota.  With a [size](Cut::size) of 0 the parts have 1 to 16 MB, several for each
/// thread if the file is large.  What cannot be cut, such as a pipe, is one part, which the calling
/// thread works on.  The file is opened once: if it is replaced meanwhile, the old one is read.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// # std::fs::write(&path, "a line\nanother\n")?;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// let lines = AtomicU64::new(0);
/// asf::each_part(&path, &asf::Cut::default(), 0, |input, _part| {
///     let mut found = 0;
///     input.lines_in_place().for_each(|_| found += 1)?;
///     lines.fetch_add(found, Ordering::Relaxed);
///     Ok(())
/// })?;
/// assert_eq!(lines.into_inner(), 2);
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
///
/// The reader is lent for the call:
///
/// ```compile_fail,E0521
/// let kept = std::sync::Mutex::new(None);
/// asf::each_part("/dev/null", &asf::Cut::default(), 0, |input, _part| {
///     *kept.lock().unwrap() = Some(input);
///     Ok(())
/// });
/// ```
///
/// # Errors
/// The first error of `work`, after which no further part is begun, and reads of the other parts fail
/// with `ECANCELED`; those of [`parts`].  `EBUSY` when `work` has leaked (`mem::forget`) a region.
///
/// # Panics
/// A panic of `work` ends the others as an error does, and goes on in the caller.
pub fn each_part<F>(path: impl AsRef<Path>, cut: &Cut, threads: usize, work: F) -> io::Result<()>
where
    F: Fn(&mut PartReader<'_>, &Part) -> io::Result<()> + Sync,
{
    let path = sys::path(path.as_ref())?;
    let crew = Crew { work, failures: Mutex::default() };
    let argument = &crew as *const Crew<F> as *mut c_void;
    // SAFETY: work_on gets the crew, which all threads may use, until the call returns.
    let result = unsafe {
        sys::asf_each_part(path.as_ptr(), &cut.0, threads_for_c(threads), work_on::<F>, None, argument)
    };
    if result != FAILED {
        return sys::check(result);
    }
    match crew.failures.into_inner().unwrap().into_iter().next() {
        Some(Failure::Panic(payload)) => panic::resume_unwind(payload),
        Some(Failure::Error(error)) => Err(error),
        None => Ok(()),
    }
}

pub(crate) fn threads_for_c(threads: usize) -> c_uint {
    c_uint::try_from(threads).unwrap_or(c_uint::MAX)
}

enum Failure {
    Error(io::Error),
    Panic(Box<dyn Any + Send>),
}

/// What the threads share.  All failures are kept, to be dropped by the caller: that may panic.
struct Crew<F> {
    work: F,
    failures: Mutex<Vec<Failure>>,
}

/// What `work_on` returns to end the work, unlike the library's errors.
const FAILED: c_int = 1;

extern "C" fn work_on<F>(stream: *mut sys::Cios, part: *const Part, crew: *mut c_void) -> c_int
where
    F: Fn(&mut PartReader<'_>, &Part) -> io::Result<()> + Sync,
{
    // SAFETY: each_part's crew, and the library's part and stream, which are there during this call.
    let (crew, part) = unsafe { (&*(crew as *const Crew<F>), &*part) };
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `work` takes a reader of any lifetime, and so cannot keep it.
        let mut reader = Reader::on(unsafe { Stream::lend(NonNull::new_unchecked(stream)) });
        (crew.work)(&mut reader, part)?;
        reader.close()
    }));
    let failure = match outcome {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => Failure::Error(error),
        Err(payload) => Failure::Panic(payload),
    };
    crew.failures.lock().unwrap().push(failure);
    FAILED
}
