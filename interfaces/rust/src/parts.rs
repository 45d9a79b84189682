// SPDX-License-Identifier: MIT
//
//! Parts of a file, which threads read at the same time.

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

/// How a file is cut; by default between lines.
///
/// ```
/// let _ = asf::Cut::default(); // after newlines
/// let _ = asf::Cut::at(0).size(1 << 20); // after null bytes, about 1 MB each
/// let _ = asf::Cut::records(24);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cut(sys::Cut);

impl Cut {
    /// Parts end after the byte `delimiter`.
    pub fn at(delimiter: u8) -> Cut {
        Cut(sys::Cut { delimiter: delimiter.into(), record: 0, size: 0, decode: false })
    }

    /// Parts consist of whole records of `bytes` bytes.
    pub fn records(bytes: u64) -> Cut {
        // To C, 0 means no records: pass -1 instead, which C refuses, as for numbers that are too large.
        let record = i64::try_from(bytes).ok().filter(|&record| record > 0).unwrap_or(-1);
        Cut(sys::Cut { delimiter: 0, record, size: 0, decode: false })
    }

    /// Sets the approximate bytes of a part.  0, the default, means 16 MB.  A longer line or record stays
    /// whole.
    pub fn size(self, bytes: u64) -> Cut {
        Cut(sys::Cut { size: i64::try_from(bytes).unwrap_or(-1), ..self.0 })
    }

    /// Cuts a file compressed by zstd, lz4, gzip or xz between its frames.  Readers on the parts return
    /// decoded lines or records.  [`size`](Cut::size) counts compressed bytes.
    pub fn decode(self) -> Cut {
        Cut(sys::Cut { decode: true, ..self.0 })
    }
}

impl Default for Cut {
    fn default() -> Cut {
        Cut::at(b'\n')
    }
}

/// Cuts a file into parts, which any thread or process can open with [`Reader::open_part`].  An empty file
/// has no parts.  A pipe, or any other file that is not regular, is one part.
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
/// `EINVAL` for records of 0 bytes, `ENOMEM`, and the errors of `open(2)` and `read(2)`.
pub fn parts(path: impl AsRef<Path>, cut: &Cut) -> io::Result<Vec<Part>> {
    let (path, mut found) = (sys::path(path.as_ref())?, ptr::null_mut());
    // SAFETY: the path and the cut are valid, and `found` receives the array.
    let count = unsafe { sys::asf_parts(path.as_ptr(), &cut.0, &mut found) };
    let count = usize::try_from(count).map_err(|_| sys::error(count as i64))?;
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: malloc allocated an array of `count` parts, which is freed once here.
    unsafe {
        let parts = slice::from_raw_parts(found, count).to_vec();
        sys::free(found.cast());
        Ok(parts)
    }
}

/// Calls `work` once for each part of a file, in up to `threads` threads at a time, including the calling
/// one.  Returns when all calls have returned.
///
/// If `threads` is 0, there is one thread for each processor that the process's affinity and its control
/// group's quota allow.  With a [size](Cut::size) of 0 the parts have 1 to 16 MB, and a large file has
/// several parts for each thread.  Input that cannot be cut, such as a pipe, is one part for the calling
/// thread.  The file is opened once: if another replaces it meanwhile, the old file is read.
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
/// The reader is borrowed for the call only:
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
/// The first error of `work`, and the errors of [`parts`].  After an error no further part begins, and reads
/// of the other parts fail with `ECANCELED`.  `EBUSY` if `work` has leaked (`mem::forget`) a region.
///
/// # Panics
/// A panic of `work` stops the other calls as an error does, and continues in the caller.
pub fn each_part<F>(path: impl AsRef<Path>, cut: &Cut, threads: usize, work: F) -> io::Result<()>
where
    F: Fn(&mut PartReader<'_>, &Part) -> io::Result<()> + Sync,
{
    let path = sys::path(path.as_ref())?;
    let crew = Crew { work, failures: Mutex::default() };
    let argument = &crew as *const Crew<F> as *mut c_void;
    // SAFETY: work_on gets the crew, which all threads may share, and which lives until the call returns.
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

/// Data that the threads share.  The caller drops all failures, because a drop may panic.
struct Crew<F> {
    work: F,
    failures: Mutex<Vec<Failure>>,
}

/// The result of `work_on` that ends the work; the library's errors are negative.
const FAILED: c_int = 1;

extern "C" fn work_on<F>(stream: *mut sys::Cios, part: *const Part, crew: *mut c_void) -> c_int
where
    F: Fn(&mut PartReader<'_>, &Part) -> io::Result<()> + Sync,
{
    // SAFETY: each_part's crew, and the library's part and stream, are valid during this call.
    let (crew, part) = unsafe { (&*(crew as *const Crew<F>), &*part) };
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `work` takes a reader of any lifetime, so it cannot keep the reader.
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
