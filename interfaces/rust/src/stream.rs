// SPDX-License-Identifier: MIT
//
//! What readers and writers share: the C stream that they own, and its calls with Rust's types.

use crate::sys;
use std::ffi::CStr;
use std::fmt;
use std::io::{self, SeekFrom};
use std::mem::ManuallyDrop;
use std::os::raw::{c_int, c_void};
use std::os::unix::io::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::path::Path;
use std::ptr::NonNull;

/// An open stream, closed when it is dropped, unless it is lent by `asf_each_part`, which closes it.
pub struct Stream {
    stream: NonNull<sys::Cios>,
    lent: bool,
}

// SAFETY: every call of <asf/asf.h> may be made from any thread and takes the stream's lock,
// but for asf_module_name, which takes an exclusive reference here.
unsafe impl Send for Stream {}
unsafe impl Sync for Stream {}

/// Bytes of a stream: where they are, and how many.
pub type Bytes = (NonNull<u8>, usize);

impl Stream {
    pub fn open(fd: OwnedFd, flags: c_int) -> io::Result<Stream> {
        let mut error = 0;
        // SAFETY: the descriptor is open, and from now on the stream's own.
        let stream = unsafe { sys::asf_sopen_fd(fd.as_raw_fd(), flags, &mut error) };
        let stream = NonNull::new(stream).ok_or_else(|| sys::error(error))?;
        let _ = fd.into_raw_fd();
        Ok(Stream { stream, lent: false })
    }

    pub fn open_part(path: &Path, part: &sys::Part) -> io::Result<Stream> {
        let (path, mut error) = (sys::path(path)?, 0);
        // SAFETY: a path and a part, which the library checks.
        let stream = unsafe { sys::asf_sopen_part(path.as_ptr(), part, &mut error) };
        let stream = NonNull::new(stream).ok_or_else(|| sys::error(error))?;
        Ok(Stream { stream, lent: false })
    }

    /// # Safety
    /// The stream is open for longer than what this returns is used.
    pub unsafe fn lend(stream: NonNull<sys::Cios>) -> Stream {
        Stream { stream, lent: true }
    }

    pub fn close(self) -> io::Result<()> {
        let stream = ManuallyDrop::new(self);
        if stream.lent {
            return Ok(());
        }
        // SAFETY: nobody else has it.  While a region has leaked it is not closed but leaks, too.
        sys::check(unsafe { sys::asf_sclose(stream.as_ptr()) })
    }

    #[inline]
    pub fn as_ptr(&self) -> *mut sys::Cios {
        self.stream.as_ptr()
    }

    /// One of the calls that allocate: with the length that is wanted.
    /// `None`: the end of the file.
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

    /// Gives the region of `have` bytes back, which is the latest unless all of it is `used`: what is
    /// not used is read again, or not written.
    pub fn free(&self, region: NonNull<u8>, used: usize, have: usize) -> io::Result<()> {
        let mut kept = used as isize;
        let mut region: *mut c_void = region.as_ptr().cast();
        // SAFETY: the caller owns the region, which srealloc may move.
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

    /// Moves on from another place: a byte there is allocated, and is as if it had not been.
    pub fn seek(&self, to: SeekFrom, writes: bool) -> io::Result<u64> {
        let (offset, whence) = match to {
            SeekFrom::Start(offset) => (i64::try_from(offset).unwrap_or(-1), sys::SEEK_SET),
            SeekFrom::Current(offset) => (offset, sys::SEEK_CUR),
            SeekFrom::End(offset) => (offset, sys::SEEK_END),
        };
        // SAFETY: a call on an open stream.
        let byte = self.allocate(1, |stream, n| unsafe { sys::asf_sallocAt(stream, n, offset, whence) })?;
        match byte {
            // SAFETY: the region is this function's.
            Some((region, _)) if writes => {
                sys::check(unsafe { sys::asf_sabandon(self.as_ptr(), region.as_ptr().cast()) })?
            }
            Some((region, n)) => self.free(region, 0, n)?,
            None => (),
        }
        self.position()
    }

    /// Where the stream stands, after output is written.
    pub fn position(&self) -> io::Result<u64> {
        // SAFETY: calls on an open stream and its descriptor.
        sys::check(unsafe { sys::asf_sflush(self.as_ptr()) })?;
        let place = unsafe { sys::lseek(self.fd(), 0, sys::SEEK_CUR) };
        u64::try_from(place).map_err(|_| io::Error::last_os_error())
    }

    pub fn module(&mut self) -> &str {
        // SAFETY: a string of the library's, which lives as long as the stream.
        let name = unsafe { CStr::from_ptr(sys::asf_module_name(self.as_ptr())) };
        name.to_str().unwrap_or("")
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as the stream is.
        unsafe { BorrowedFd::borrow_raw(self.fd()) }
    }

    pub fn fd(&self) -> c_int {
        // SAFETY: a call on an open stream.
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
