// SPDX-License-Identifier: MIT
//
//! The C stream that a reader or writer owns, and its calls with Rust's types.

use crate::sys;
use std::ffi::CStr;
use std::fmt;
use std::io::{self, SeekFrom};
use std::mem::ManuallyDrop;
use std::os::raw::{c_int, c_void};
use std::os::unix::io::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::path::Path;
use std::ptr::NonNull;

/// An open stream.  A drop closes it, unless `asf_each_part` lends it, and closes it itself.
pub struct Stream {
    stream: NonNull<sys::Cios>,
    lent: bool,
}

// SAFETY: any thread may make any call of <asf/asf.h>; the calls take the stream's lock.  Only
// asf_module_name does not, and needs an exclusive reference here.
unsafe impl Send for Stream {}
unsafe impl Sync for Stream {}

/// Bytes of a stream: their address and number.
pub type Bytes = (NonNull<u8>, usize);

impl Stream {
    pub fn open(fd: OwnedFd, flags: c_int) -> io::Result<Stream> {
        let mut error = 0;
        // SAFETY: the descriptor is open, and the stream owns it from now on.
        let stream = unsafe { sys::asf_sopen_fd(fd.as_raw_fd(), flags, &mut error) };
        let stream = NonNull::new(stream).ok_or_else(|| sys::error(error))?;
        let _ = fd.into_raw_fd();
        Ok(Stream { stream, lent: false })
    }

    pub fn open_part(path: &Path, part: &sys::Part) -> io::Result<Stream> {
        let (path, mut error) = (sys::path(path)?, 0);
        // SAFETY: the path is valid, and the library checks the part.
        let stream = unsafe { sys::asf_sopen_part(path.as_ptr(), part, &mut error) };
        let stream = NonNull::new(stream).ok_or_else(|| sys::error(error))?;
        Ok(Stream { stream, lent: false })
    }

    /// # Safety
    /// The stream stays open as long as the result is used.
    pub unsafe fn lend(stream: NonNull<sys::Cios>) -> Stream {
        Stream { stream, lent: true }
    }

    pub fn close(self) -> io::Result<()> {
        let stream = ManuallyDrop::new(self);
        if stream.lent {
            return Ok(());
        }
        // SAFETY: nothing else uses the stream.  If a region has leaked, the stream is not closed and leaks
        // as well.
        sys::check(unsafe { sys::asf_sclose(stream.as_ptr()) })
    }

    #[inline]
    pub fn as_ptr(&self) -> *mut sys::Cios {
        self.stream.as_ptr()
    }

    /// Makes a call that allocates a region, with the wanted length.  `None`: the end of the file.
    #[inline]
    pub fn allocate(
        &self,
        n: usize,
        call: impl FnOnce(*mut sys::Cios, &mut isize) -> *mut c_void,
    ) -> io::Result<Option<Bytes>> {
        let mut length = n.min(isize::MAX as usize) as isize;
        match NonNull::new(call(self.as_ptr(), &mut length)) {
            Some(region) => Ok(Some((region.cast(), length as usize))),
            None if length == 0 => Ok(None),
            None => Err(sys::error(length as i64)),
        }
    }

    /// Gives back a region of `have` bytes.  If `used` is less than `have`, the region must be the latest;
    /// the unused bytes are read again, or not written.
    pub fn free(&self, region: NonNull<u8>, used: usize, have: usize) -> io::Result<()> {
        let mut kept = used as isize;
        let mut region: *mut c_void = region.as_ptr().cast();
        // SAFETY: the caller owns the region; srealloc may move it.
        unsafe {
            if used < have {
                let shorter = sys::asf_srealloc(self.as_ptr(), region, &mut kept);
                if shorter.is_null() {
                    sys::asf_sfree(self.as_ptr(), region);
                    return Err(sys::error(kept as i64));
                }
                region = shorter;
            }
            sys::check(sys::asf_sfree(self.as_ptr(), region))
        }
    }

    /// Sets the offset: allocates one byte there, and gives it back unused.
    pub fn seek(&self, to: SeekFrom, writes: bool) -> io::Result<u64> {
        let (offset, whence) = match to {
            SeekFrom::Start(offset) => (i64::try_from(offset).unwrap_or(-1), sys::SEEK_SET),
            SeekFrom::Current(offset) => (offset, sys::SEEK_CUR),
            SeekFrom::End(offset) => (offset, sys::SEEK_END),
        };
        // SAFETY: the stream is open.
        let byte = self.allocate(1, |stream, n| unsafe { sys::asf_sallocAt(stream, n, offset, whence) })?;
        match byte {
            // SAFETY: this function owns the region.
            Some((region, _)) if writes => {
                sys::check(unsafe { sys::asf_sabandon(self.as_ptr(), region.as_ptr().cast()) })?
            }
            Some((region, n)) => self.free(region, 0, n)?,
            None => (),
        }
        self.position()
    }

    /// Writes the output, and returns the stream's offset.
    pub fn position(&self) -> io::Result<u64> {
        // SAFETY: the stream and its descriptor are open.
        sys::check(unsafe { sys::asf_sflush(self.as_ptr()) })?;
        let place = unsafe { sys::lseek(self.fd(), 0, sys::SEEK_CUR) };
        u64::try_from(place).map_err(|_| io::Error::last_os_error())
    }

    pub fn module(&mut self) -> &str {
        // SAFETY: the library's string lives as long as the stream.
        let name = unsafe { CStr::from_ptr(sys::asf_module_name(self.as_ptr())) };
        name.to_str().unwrap_or("")
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as the stream is.
        unsafe { BorrowedFd::borrow_raw(self.fd()) }
    }

    pub fn fd(&self) -> c_int {
        // SAFETY: the stream is open.
        unsafe { sys::asf_fileno(self.as_ptr()) }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fd = Some(self.fd()).filter(|&fd| fd >= 0);
        to.debug_struct("Stream").field("fd", &fd).finish_non_exhaustive()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.lent {
            // SAFETY: as in close.
            unsafe { sys::asf_sclose(self.as_ptr()) };
        }
    }
}
