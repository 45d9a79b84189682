// SPDX-License-Identifier: MIT
//
// The declarations of `<asf/asf.h>`, `<asf/lines.h>`, `<asf/numbers.h>` and `<asf/parts.h>` that the crate
// uses.

use std::ffi::CString;
use std::io;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A stream: `struct asf_cios`.
#[repr(C)]
#[derive(Debug)]
pub struct Cios {
    _private: [u8; 0],
}

/// `struct asf_lines`.  It must not be moved: `place` and `last` point into `places`.
#[repr(C)]
#[derive(Debug)]
pub struct Lines {
    pub line: *const u8,
    pub base: *const u8,
    pub place: *const u16,
    pub last: *const u16,
    pub stream: *mut Cios,
    pub region: *mut u8,
    pub scanned: *const u8,
    pub end: *const u8,
    pub longest: usize,
    pub delimiter: u8,
    pub bare: u8,
    pub places: [u16; 512],
}

/// `struct asf_fixed_records`.
#[repr(C)]
#[derive(Debug)]
pub struct Records {
    pub record: *const u8,
    pub end: *const u8,
    pub size: usize,
    pub stream: *mut Cios,
    pub region: *mut u8,
}

/// `struct asf_column`.
#[repr(C)]
#[derive(Debug)]
pub struct Column {
    pub field: usize,
    pub kind: c_uint,
    pub values: *mut c_void,
}

/// A part of a file, from [`parts`](crate::parts): the bytes from `begin` to before `end`.
///
/// It is a plain value.  Another process, or a machine that mounts the same file system, can use a copy.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The offset of the part's first byte in the file.
    pub begin: i64,
    /// The offset where the part ends; -1 if it ends where the input ends.
    pub end: i64,
    /// This part's number, from 0.
    pub index: i64,
    /// The number of parts.
    pub count: i64,
    /// The size of the file.
    pub size: i64,
    /// The time when the file was modified, in nanoseconds.
    pub modified: i64,
    /// The inode of the file.
    pub inode: u64,
    /// The byte that ends every part, except perhaps the last; -1: none.
    pub delimiter: i32,
    /// 0: plain.  Other values: a reader on the part returns decoded bytes.
    pub form: i32,
    /// Decoded bytes at the beginning that belong to the part before.
    pub before: i64,
    /// Decoded bytes after the end that belong to this part.
    pub after: i64,
}

/// `struct asf_cut`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    pub delimiter: c_int,
    pub record: i64,
    pub size: i64,
    pub decode: bool,
}

/// `asf_part_work` and `asf_part_done`.
pub type PartWork = extern "C" fn(*mut Cios, *const Part, *mut c_void) -> c_int;
pub type PartDone = extern "C" fn(*const Part, *mut c_void) -> c_int;

/// `enum asf_column_type`.
pub const INT32: c_uint = 0;
pub const INT64: c_uint = 1;
pub const DOUBLE: c_uint = 2;
/// The most bytes that `asf_digits_int` and `asf_digits_uint`, and `asf_digits_double`, store.
pub const INTEGER_ROOM: usize = 24;
pub const DOUBLE_ROOM: usize = 40;
/// `ASF_COPIED` of `enum asf_advice`.
pub const COPIED: c_uint = 6;
pub const F_GETFL: c_int = 3;
pub const O_RDONLY: c_int = 0;
pub const O_WRONLY: c_int = 1;
pub const O_APPEND: c_int = 0o2000;
pub const SEEK_SET: c_int = 0;
pub const SEEK_CUR: c_int = 1;
pub const SEEK_END: c_int = 2;
pub const EINTR: c_int = 4;
pub const EINVAL: c_int = 22;

extern "C" {
    pub fn asf_advise(stream: *mut Cios, advice: c_uint) -> c_int;
    pub fn asf_copy(from: *mut Cios, to: *mut Cios, n: i64) -> i64;
    pub fn asf_digits_double(to: *mut u8, value: f64) -> *mut u8;
    pub fn asf_digits_int(to: *mut u8, value: i64) -> *mut u8;
    pub fn asf_digits_uint(to: *mut u8, value: u64) -> *mut u8;
    pub fn asf_each_part(
        path: *const c_char,
        how: *const Cut,
        threads: c_uint,
        work: PartWork,
        done: Option<PartDone>,
        argument: *mut c_void,
    ) -> c_int;
    pub fn asf_fields_ends(text: *const u8, n: usize, separator: c_int) -> u64;
    pub fn asf_fileno(stream: *mut Cios) -> c_int;
    pub fn asf_lines_begin(lines: *mut Lines, stream: *mut Cios, delimiter: c_int, longest: isize);
    pub fn asf_lines_end(lines: *mut Lines) -> c_int;
    pub fn asf_lines_more(lines: *mut Lines, length: *mut isize) -> *const u8;
    pub fn asf_fixed_records_begin(records: *mut Records, stream: *mut Cios, size: usize);
    pub fn asf_fixed_records_end(records: *mut Records) -> c_int;
    pub fn asf_fixed_records_more(records: *mut Records, length: *mut isize) -> *const u8;
    pub fn asf_module_name(stream: *mut Cios) -> *const c_char;
    pub fn asf_parts(path: *const c_char, how: *const Cut, parts: *mut *mut Part) -> isize;
    pub fn asf_read_columns(
        path: *const c_char,
        separator: c_int,
        skip: i64,
        columns: *mut Column,
        count: usize,
        threads: c_uint,
    ) -> i64;
    pub fn asf_sabandon(stream: *mut Cios, region: *mut c_void) -> c_int;
    pub fn asf_salloc(stream: *mut Cios, length: *mut isize) -> *mut c_void;
    pub fn asf_sallocAt(stream: *mut Cios, length: *mut isize, offset: i64, whence: c_int) -> *mut c_void;
    pub fn asf_salloc_some(stream: *mut Cios, length: *mut isize) -> *mut c_void;
    pub fn asf_salloc_until(stream: *mut Cios, delimiter: c_int, length: *mut isize) -> *mut c_void;
    pub fn asf_get_columns(
        stream: *mut Cios,
        separator: c_int,
        columns: *const Column,
        count: usize,
        rows: i64,
    ) -> i64;
    pub fn asf_sclose(stream: *mut Cios) -> c_int;
    pub fn asf_sflush(stream: *mut Cios) -> c_int;
    pub fn asf_sfree(stream: *mut Cios, region: *mut c_void) -> c_int;
    pub fn asf_sopen_fd(fd: c_int, flags: c_int, error: *mut c_int) -> *mut Cios;
    pub fn asf_sopen_part(path: *const c_char, part: *const Part, error: *mut c_int) -> *mut Cios;
    pub fn asf_srealloc(stream: *mut Cios, region: *mut c_void, length: *mut isize) -> *mut c_void;
    pub fn asf_version() -> *const c_char;
    pub fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    pub fn free(memory: *mut c_void);
    pub fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
}

/// Converts a negated `errno` value to an error.
#[cold]
pub fn error(code: impl Into<i64>) -> io::Error {
    io::Error::from_raw_os_error(-code.into() as i32)
}

/// Converts the result of a call that returns 0 or a negated `errno` value.
#[inline]
pub fn check(code: c_int) -> io::Result<()> {
    if code < 0 {
        Err(error(code))
    } else {
        Ok(())
    }
}

/// Converts a path for C; a null byte in it is `EINVAL`.
pub fn path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| error(-EINVAL))
}
