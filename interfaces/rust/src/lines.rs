// SPDX-License-Identifier: MIT
//
//! Lines, fields and records in place.  The functions called for each of them are inline, as in
//! `<asf/lines.h>`.

use crate::stream::Stream;
use crate::sys;
use std::io;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::slice;

/// The lines of a [`Reader`](crate::Reader) in order and in place, ending at `\n` or another delimiter: see
/// [`lines_in_place`](crate::Reader::lines_in_place).
///
/// `Lines` is not an [`Iterator`], because a line is borrowed until the next call:
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// # std::fs::write(&path, "a line\nanother\n")?;
/// let mut input = asf::Reader::open(&path)?;
/// let mut lines = input.lines_in_place();
/// while let Some(line) = lines.next() {
///     println!("{} bytes", line?.len());
/// }
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
///
/// ```compile_fail,E0499
/// let mut input = asf::Reader::open("/dev/null").unwrap();
/// let mut lines = input.lines_in_place();
/// let first = lines.next();
/// let second = lines.next();
/// println!("{:?}", first);
/// ```
///
/// The reader cannot be used before the lines are dropped.  Then the stream is after the last line that was
/// returned:
///
/// ```compile_fail,E0499
/// let mut input = asf::Reader::open("/dev/null").unwrap();
/// let mut lines = input.lines_in_place();
/// input.region(1).unwrap();
/// lines.next();
/// ```
///
/// ```compile_fail,E0505
/// let mut input = asf::Reader::open("/dev/null").unwrap();
/// let mut lines = input.lines_in_place();
/// drop(input);
/// lines.next();
/// ```
#[derive(Debug)]
pub struct Lines<'a> {
    state: NonNull<sys::Lines>,
    failed: Option<io::Error>,
    reader: PhantomData<&'a Stream>,
}

// SAFETY: the iterator of <asf/lines.h> may move between threads, and a shared reference changes nothing.
unsafe impl Send for Lines<'_> {}
unsafe impl Sync for Lines<'_> {}

impl<'a> Lines<'a> {
    pub(crate) fn begin(stream: &'a Stream, delimiter: u8, failed: Option<io::Error>) -> Lines<'a> {
        // On the heap, as a raw pointer: the struct points into itself.
        let state = Box::into_raw(Box::new(MaybeUninit::<sys::Lines>::uninit())).cast::<sys::Lines>();
        // SAFETY: asf_lines_begin sets all members that are read, except `places`.
        let state = unsafe {
            sys::asf_lines_begin(state, stream.as_ptr(), delimiter.into(), 0);
            NonNull::new_unchecked(state)
        };
        Lines { state, failed, reader: PhantomData }
    }

    /// Sets the most bytes a line may have, with its delimiter.  The limit bounds the memory that a file
    /// without delimiters takes.  The default is 1 MB.
    ///
    /// # Panics
    /// Panics unless `bytes` is from 1 to `isize::MAX`.
    pub fn longest(self, bytes: usize) -> Self {
        assert!((1..=isize::MAX as usize).contains(&bytes), "a longest line of {bytes} bytes");
        // SAFETY: the state belongs to this iterator alone.
        unsafe { (*self.state.as_ptr()).longest = bytes };
        self
    }

    /// Returns the next line, without its delimiter; `None` at the end of the stream.  After `None` it may be
    /// called again, because the file may have grown.
    ///
    /// # Errors
    /// `EMSGSIZE` if the line is longer than the limit: the stream is before the line, for
    /// [`Reader`](crate::Reader)'s other calls.  `EINTR` after a signal has cut a line: the call before
    /// returned a part of the line, which is not [delimited](Lines::delimited).  `EIO` if a
    /// [mapped](crate::Reader::mapped) file was truncated under earlier lines.  `EBUSY` if earlier lines or
    /// records of the reader were leaked (`mem::forget`) and not dropped.  Otherwise the errors of `read(2)`,
    /// and `ENOMEM`.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Option<io::Result<&[u8]>> {
        // SAFETY: the code is that of asf_lines_next.  The line extends from `line` to the delimiter at `base
        // + *place`, and is valid until the next call, because `self` is borrowed until then.
        unsafe {
            let lines = self.state.as_ptr();
            let (line, place) = ((*lines).line, (*lines).place);
            if place == (*lines).last {
                return self.more();
            }
            let end = (*lines).base.add(*place as usize);
            (*lines).place = place.add(1);
            (*lines).line = end.add(1);
            Some(Ok(slice::from_raw_parts(line, end as usize - line as usize)))
        }
    }

    #[cold]
    fn more(&mut self) -> Option<io::Result<&[u8]>> {
        if let Some(failed) = self.failed.take() {
            return Some(Err(failed));
        }
        let whole = self.delimited();
        let mut length = 0;
        loop {
            // SAFETY: the iterator has begun.
            let line = unsafe { sys::asf_lines_more(self.state.as_ptr(), &mut length) };
            // Repeat an interrupted call, as std does.  After a part of a line return EINTR, so that the
            // caller knows that the line was cut.
            if line.is_null() && length == -(sys::EINTR as isize) && whole {
                continue;
            }
            return found(line, length);
        }
    }

    /// Whether the last line returned has its delimiter.  Only bytes after the last delimiter of the stream,
    /// or before an error, have none.
    pub fn delimited(&self) -> bool {
        // SAFETY: the code is that of asf_lines_delimited.
        unsafe { (*self.state.as_ptr()).bare == 0 }
    }

    /// Whether [`Lines::next`] would return without using the stream.  If not, it may wait: a filter writes
    /// its output before.
    pub fn at_hand(&self) -> bool {
        // SAFETY: the code is that of asf_lines_at_hand.
        unsafe { (*self.state.as_ptr()).place != (*self.state.as_ptr()).last }
    }

    /// Calls `f` with each remaining line.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
    /// # std::fs::write(&path, "a line\nanother\n")?;
    /// let mut longest = 0;
    /// let mut input = asf::Reader::open(&path)?;
    /// input.lines_in_place().for_each(|line| longest = longest.max(line.len()))?;
    /// assert_eq!(longest, 7);
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The first error of [`Lines::next`] or [`Lines::end`].
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(&[u8])) -> io::Result<()> {
        self.try_for_each(|line| {
            f(line);
            Ok(())
        })
    }

    /// Like [`Lines::for_each`], for an `f` that may fail.  After a failure the stream is after the line that
    /// `f` was called with.
    ///
    /// # Errors
    /// The first error of [`Lines::next`], `f` or [`Lines::end`].
    #[inline]
    pub fn try_for_each(mut self, mut f: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        while let Some(line) = self.next() {
            f(line?)?;
        }
        self.end()
    }

    /// Ends the iteration, and returns the error that a drop ignores.
    ///
    /// # Errors
    /// `EIO` as for [`Lines::next`].
    pub fn end(self) -> io::Result<()> {
        ManuallyDrop::new(self).finish()
    }

    fn finish(&mut self) -> io::Result<()> {
        // SAFETY: end or drop calls this once; begin made the box.
        unsafe {
            let rc = sys::asf_lines_end(self.state.as_ptr());
            drop(Box::from_raw(self.state.as_ptr().cast::<MaybeUninit<sys::Lines>>()));
            sys::check(rc)
        }
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Converts the result of a call of `<asf/lines.h>`; the caller chooses the lifetime.
fn found<'a>(data: *const u8, length: isize) -> Option<io::Result<&'a [u8]>> {
    if data.is_null() {
        return if length == 0 { None } else { Some(Err(sys::error(length as i64))) };
    }
    // SAFETY: `length` bytes are valid until the next call.
    Some(Ok(unsafe { slice::from_raw_parts(data, length as usize) }))
}

/// The records of a [`Reader`](crate::Reader), all of one size, in place: see
/// [`records`](crate::Reader::records).  The borrowing rules of [`Lines`] apply.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// # std::fs::write(&path, [1, 0, 0, 0, 2, 0, 0, 0, 9])?;
/// let mut input = asf::Reader::open(&path)?;
/// let mut records = input.records(4);
/// let mut sum = 0;
/// while let Some(record) = records.next() {
///     match <[u8; 4]>::try_from(record?) {
///         Ok(bytes) => sum += u32::from_le_bytes(bytes),
///         Err(_) => println!("the last one is incomplete"),
///     }
/// }
/// assert_eq!(sum, 3);
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Records<'a> {
    state: sys::Records,
    failed: Option<io::Error>,
    reader: PhantomData<&'a Stream>,
}

// SAFETY: as for Lines.
unsafe impl Send for Records<'_> {}
unsafe impl Sync for Records<'_> {}

impl<'a> Records<'a> {
    pub(crate) fn begin(stream: &'a Stream, size: usize, failed: Option<io::Error>) -> Records<'a> {
        let mut state = MaybeUninit::uninit();
        // SAFETY: asf_fixed_records_begin sets all members, and the struct may be moved.
        let state = unsafe {
            sys::asf_fixed_records_begin(state.as_mut_ptr(), stream.as_ptr(), size);
            state.assume_init()
        };
        Records { state, failed, reader: PhantomData }
    }

    /// Returns the next record; `None` at the end of the stream.  The last record is shorter if the stream
    /// ends within it, or if an error follows, which the next call returns.
    ///
    /// # Errors
    /// `EINVAL` for a size of 0; otherwise the errors of [`Lines::next`].
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Option<io::Result<&[u8]>> {
        let records = &mut self.state;
        let (record, size) = (records.record, records.size);
        if (records.end as usize - record as usize) < size {
            return self.more();
        }
        // SAFETY: the code is that of asf_fixed_records_next: a whole record is valid until the next call.
        unsafe {
            records.record = record.add(size);
            Some(Ok(slice::from_raw_parts(record, size)))
        }
    }

    #[cold]
    fn more(&mut self) -> Option<io::Result<&[u8]>> {
        if let Some(failed) = self.failed.take() {
            return Some(Err(failed));
        }
        let mut length = 0;
        // SAFETY: the iterator has begun.
        let record = unsafe { sys::asf_fixed_records_more(&mut self.state, &mut length) };
        found(record, length)
    }

    /// Calls `f` with each remaining record.
    ///
    /// # Errors
    /// The first error of [`Records::next`] or [`Records::end`].
    #[inline]
    pub fn for_each(mut self, mut f: impl FnMut(&[u8])) -> io::Result<()> {
        while let Some(record) = self.next() {
            f(record?);
        }
        self.end()
    }

    /// Ends the iteration, and returns the error that a drop ignores.
    ///
    /// # Errors
    /// The errors of [`Lines::end`].
    pub fn end(self) -> io::Result<()> {
        ManuallyDrop::new(self).finish()
    }

    fn finish(&mut self) -> io::Result<()> {
        // SAFETY: end or drop calls this once.
        sys::check(unsafe { sys::asf_fixed_records_end(&mut self.state) })
    }
}

impl Drop for Records<'_> {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Returns the fields of a line, or of any bytes.  `n` separators make `n` + 1 fields, so an empty line has
/// one empty field.
///
/// ```
/// let fields: Vec<&[u8]> = asf::fields(b"key\t17\t", b'\t').collect();
/// assert_eq!(fields, [&b"key"[..], b"17", b""]);
/// ```
///
/// ```compile_fail,E0499
/// let mut input = asf::Reader::open("/dev/null").unwrap();
/// let mut lines = input.lines_in_place();
/// let mut fields = asf::fields(lines.next().unwrap().unwrap(), b'\t');
/// lines.next();
/// fields.next();
/// ```
#[inline]
pub fn fields(line: &[u8], separator: u8) -> Fields<'_> {
    let mut fields = Fields { text: line, next: 0, block: 0, ends: 0, separator };
    fields.ends = fields.find_ends();
    fields
}

/// The iterator of [`fields`].
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    text: &'a [u8],
    next: usize,
    /// The offset of the 64 bytes that the bits of `ends` describe.
    block: usize,
    ends: u64,
    separator: u8,
}

impl Fields<'_> {
    #[inline]
    fn find_ends(&self) -> u64 {
        let rest = &self.text[self.block..];
        // SAFETY: the call reads only the bytes of `rest`.
        unsafe { sys::asf_fields_ends(rest.as_ptr(), rest.len(), self.separator.into()) }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        while self.ends == 0 {
            if self.next > self.text.len() {
                return None;
            }
            self.block += 64;
            self.ends = self.find_ends();
        }
        let begin = self.next;
        let end = self.block + self.ends.trailing_zeros() as usize;
        self.ends &= self.ends - 1;
        self.next = end + 1;
        debug_assert!(begin <= end && end <= self.text.len());
        // SAFETY: field ends are in ascending order, and the last is the end of the text.
        Some(unsafe { self.text.get_unchecked(begin..end) })
    }
}

impl FusedIterator for Fields<'_> {}
