// SPDX-License-Identifier: MIT
//
//! Regions of streams.

use crate::stream::{Bytes, Stream};
use crate::sys;
use std::fmt;
use std::io::{self, Write};
use std::mem::{self, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

/// Bytes of an input stream, where it has read them; given back when it is dropped.
///
/// Regions may be kept as long as the reader is borrowed, in any number, and dropped in any order by
/// any thread.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// # std::fs::write(&path, "one two")?;
/// let mut input = asf::Reader::open(&path)?;
/// let shared = input.share()?;
/// let (one, two) = (shared.region(4)?.unwrap(), shared.region(4)?.unwrap());
/// assert_eq!((&one[..], &two[..]), (&b"one "[..], &b"two"[..]));
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
pub struct Region<'a> {
    stream: &'a Stream,
    data: NonNull<u8>,
    length: usize,
}

// SAFETY: it is memory that nobody writes to, and any thread may give it back.
unsafe impl Send for Region<'_> {}
unsafe impl Sync for Region<'_> {}

impl<'a> Region<'a> {
    pub(crate) fn new(stream: &'a Stream, (data, length): Bytes) -> Region<'a> {
        Region { stream, data, length }
    }

    /// Gives the region back, and tells what dropping it would not.
    ///
    /// # Errors
    /// `EIO` when the file was truncated under the region of a [mapped](crate::Reader::mapped) file.
    pub fn free(self) -> io::Result<()> {
        let region = mem::ManuallyDrop::new(self);
        region.stream.free(region.data, region.length, region.length)
    }
}

impl fmt::Debug for Region<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Region").field(&&**self).finish()
    }
}

impl Deref for Region<'_> {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the region is valid and unchanged until it is given back.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.length) }
    }
}

impl Drop for Region<'_> {
    fn drop(&mut self) {
        let _ = self.stream.free(self.data, self.length, self.length);
    }
}

/// Room in the buffer of an output stream: what is put into it is written from there.
///
/// It grows from empty to the size that [`Writer::region`](crate::Writer::region) was asked for, by
/// [`Write`], which writes less when it is full; it derefs to what it has.  [`RegionMut::commit`]
/// makes that part of the stream; a region that is dropped counts as never allocated.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// use std::io::Write;
/// let mut output = asf::Writer::create(&path)?;
/// let mut region = output.region(100)?;
/// write!(region, "{:08x}", 0xa5f)?;
/// region[0] = b'x';
/// region.commit()?;
/// drop(output.region(1000)?); // nothing of it is written
/// output.close()?;
/// assert_eq!(std::fs::read(&path)?, b"x0000a5f");
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
///
/// As long as it is there, the writer is not used:
///
/// ```compile_fail,E0499
/// let mut output = asf::Writer::create("/dev/null").unwrap();
/// let one = output.region(1).unwrap();
/// let two = output.region(1).unwrap();
/// one.commit().unwrap();
/// ```
pub struct RegionMut<'a> {
    stream: &'a Stream,
    data: NonNull<u8>,
    length: usize,
    capacity: usize,
}

// SAFETY: as a Vec; the C stream's calls are for any thread.
unsafe impl Send for RegionMut<'_> {}
unsafe impl Sync for RegionMut<'_> {}

impl<'a> RegionMut<'a> {
    pub(crate) fn new(stream: &'a Stream, (data, capacity): Bytes) -> RegionMut<'a> {
        RegionMut { stream, data, length: 0, capacity }
    }

    /// How many bytes it can have.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// What is left of it, to be filled by other means than [`Write`].
    pub fn spare_capacity_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: it is the region's own, and as it is not initialized it is not shown as if it were.
        unsafe {
            let spare = self.data.as_ptr().add(self.length).cast();
            slice::from_raw_parts_mut(spare, self.capacity - self.length)
        }
    }

    /// Sets how many bytes it has.
    ///
    /// # Safety
    /// `length` is at most [`RegionMut::capacity`], and the bytes up to it have been initialized.
    pub unsafe fn set_len(&mut self, length: usize) {
        debug_assert!(length <= self.capacity);
        self.length = length;
    }

    /// Makes what it has the next bytes of the stream.
    ///
    /// # Errors
    /// Those of a write that waited for this region.
    pub fn commit(self) -> io::Result<()> {
        let region = mem::ManuallyDrop::new(self);
        region.stream.free(region.data, region.length, region.capacity)
    }

    /// Gives the region up, as dropping it does, and tells how that went.
    ///
    /// # Errors
    /// Those of a write that waited for this region; `ENOMEM`.
    pub fn abandon(self) -> io::Result<()> {
        mem::ManuallyDrop::new(self).give_up()
    }

    fn give_up(&self) -> io::Result<()> {
        // SAFETY: the region is given up once.
        sys::check(unsafe { sys::asf_sabandon(self.stream.as_ptr(), self.data.as_ptr().cast()) })
    }
}

impl Write for RegionMut<'_> {
    #[inline]
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let n = from.len().min(self.capacity - self.length);
        // SAFETY: there is room for n bytes, which nobody else has a reference to.
        unsafe { self.data.as_ptr().add(self.length).copy_from_nonoverlapping(from.as_ptr(), n) };
        self.length += n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for RegionMut<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("RegionMut").field(&&**self).finish()
    }
}

impl Deref for RegionMut<'_> {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes have been initialized.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.length) }
    }
}

impl DerefMut for RegionMut<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as deref; the region is exclusive.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.length) }
    }
}

impl Drop for RegionMut<'_> {
    fn drop(&mut self) {
        let _ = self.give_up();
    }
}
