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

/// Bytes of an input stream, in the memory where the stream read them.  A drop gives them back.
///
/// Any number of regions may exist while the reader is borrowed.  They may be dropped in any order by any
/// thread.
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

// SAFETY: no thread writes to the memory, and any thread may give it back.
unsafe impl Send for Region<'_> {}
unsafe impl Sync for Region<'_> {}

impl<'a> Region<'a> {
    pub(crate) fn new(stream: &'a Stream, (data, length): Bytes) -> Region<'a> {
        Region { stream, data, length }
    }

    /// Gives the region back, and returns the error that a drop ignores.
    ///
    /// # Errors
    /// `EIO` if the file was truncated under the region of a [mapped](crate::Reader::mapped) file.
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

/// Room in the buffer of an output stream: the stream writes the bytes from there.
///
/// The region begins empty.  [`Write`] appends to it, up to the size that
/// [`Writer::region`](crate::Writer::region) was asked for; a write to a full region is short.  The region
/// derefs to its bytes.  [`RegionMut::commit`] adds them to the stream; dropping the region discards them.
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
/// While the region exists, the writer cannot be used:
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

// SAFETY: the region owns its memory like a Vec, and any thread may call the C stream.
unsafe impl Send for RegionMut<'_> {}
unsafe impl Sync for RegionMut<'_> {}

impl<'a> RegionMut<'a> {
    pub(crate) fn new(stream: &'a Stream, (data, capacity): Bytes) -> RegionMut<'a> {
        RegionMut { stream, data, length: 0, capacity }
    }

    /// Returns the most bytes that the region can hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the unused room, to be filled by other means than [`Write`].
    pub fn spare_capacity_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: the region owns the memory, and returns it as uninitialized.
        unsafe {
            let spare = self.data.as_ptr().add(self.length).cast();
            slice::from_raw_parts_mut(spare, self.capacity - self.length)
        }
    }

    /// Sets the number of bytes in the region.
    ///
    /// # Safety
    /// `length` is at most [`RegionMut::capacity`], and the bytes up to it have been initialized.
    pub unsafe fn set_len(&mut self, length: usize) {
        debug_assert!(length <= self.capacity);
        self.length = length;
    }

    /// Adds the region's bytes to the stream.
    ///
    /// # Errors
    /// The errors of a write that waited for this region.
    pub fn commit(self) -> io::Result<()> {
        let region = mem::ManuallyDrop::new(self);
        region.stream.free(region.data, region.length, region.capacity)
    }

    /// Discards the region, as a drop does, and returns the error that a drop ignores.
    ///
    /// # Errors
    /// The errors of a write that waited for this region; `ENOMEM`.
    pub fn abandon(self) -> io::Result<()> {
        mem::ManuallyDrop::new(self).give_up()
    }

    fn give_up(&self) -> io::Result<()> {
        // SAFETY: the region is given up only once.
        sys::check(unsafe { sys::asf_sabandon(self.stream.as_ptr(), self.data.as_ptr().cast()) })
    }
}

impl Write for RegionMut<'_> {
    #[inline]
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let n = from.len().min(self.capacity - self.length);
        // SAFETY: the region has room for n bytes, and no other reference to them exists.
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
        // SAFETY: the first `length` bytes are initialized.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.length) }
    }
}

impl DerefMut for RegionMut<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for deref; the region is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.length) }
    }
}

impl Drop for RegionMut<'_> {
    fn drop(&mut self) {
        let _ = self.give_up();
    }
}
