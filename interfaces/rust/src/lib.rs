// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
#![deny(missing_debug_implementations)]
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod lines;
mod numbers;
mod parts;
mod reader;
mod region;
mod stream;
mod sys;
mod writer;

pub use lines::{fields, Fields, Lines, Records};
pub use numbers::{read_columns, Column};
pub use parts::{each_part, parts, Cut};
pub use reader::{Descriptor, PartOf, PartReader, Reader, Shared};
pub use region::{Region, RegionMut};
pub use sys::Part;
pub use writer::Writer;

use std::ffi::CStr;
use std::io;

/// Copies the next `most` bytes of one stream to another in the cheapest way that the two streams allow.
/// Returns the number of bytes, which is less than `most` only at the end of the input.  The output is
/// flushed before a read waits.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// # let (source, target) = (path.with_extension("1"), path.with_extension("2"));
/// # std::fs::write(&source, "some text")?;
/// let mut from = asf::Reader::open(&source)?;
/// let mut to = asf::Writer::create(&target)?;
/// assert_eq!(asf::copy(&mut from, &mut to, u64::MAX)?, 9);
/// to.close()?;
/// # assert_eq!(std::fs::read(&target)?, b"some text");
/// # std::fs::remove_file(&source)?;
/// # std::fs::remove_file(&target)?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The errors of `read(2)` and `write(2)`, and `ENOMEM`.  If the output failed, its next call returns the
/// error again.
pub fn copy<On>(from: &mut Reader<On>, to: &mut Writer, most: u64) -> io::Result<u64> {
    let (from, to) = (from.settled()?.as_ptr(), to.settled()?.as_ptr());
    // SAFETY: both streams are open.
    let copied = unsafe { sys::asf_copy(from, to, most.min(i64::MAX as u64) as i64) };
    u64::try_from(copied).map_err(|_| sys::error(copied))
}

/// The version of the library, such as `0.3.0`.
pub fn version() -> &'static str {
    // SAFETY: asf_version returns a constant string.
    unsafe { CStr::from_ptr(sys::asf_version()) }.to_str().unwrap_or("")
}

/// The compiler refuses to use a stream that was closed or moved.
#[cfg(doctest)]
#[doc = include_str!("../tests/closed.md")]
struct Closed;
