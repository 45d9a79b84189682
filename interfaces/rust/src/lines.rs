// SPDX-License-Identifier: MIT
//
//! Lines, fields and records in place: the functions that are called for each are as inline as in
//! `<asf/lines.h>`.

use crate::stream::Stream;
use crate::sys;
use std::io;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::slice;

/// The lines of a [`Reader`](crate::Reader), one after the other and in place, or whatever is between
/// other delimiters: see [`lines_in_place`](crate::Reader::lines_in_place).
///
/// This is no [`Iterator`], since a line is borrowed until the next one is asked for:
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
/// Nor may the reader be used before the lines are dropped, when the stream stands after the last
/// line that was returned:
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

// SAFETY: the iterator of <asf/lines.h> is not bound to a thread, and a shared reference changes
// nothing.
unsafe impl Send for Lines<'_> {}
unsafe impl Sync for Lines<'_> {}

impl<'a> Lines<'a> {
    pub(crate) fn begin(stream: &'a Stream, delimiter: u8, failed: Option<io::Error>) -> Lines<'a> {
        // On the heap, as a raw pointer: it points into itself.
        let state = Box::into_raw(Box::new(MaybeUninit::<sys::Lines>::uninit())).cast::<sys::Lines>();
        // SAFETY: the iterator is made by this; all members that are read are set, `places` aside.
        let state = unsafe {
            sys::asf_lines_begin(state, stream.as_ptr(), delimiter.into(), 0);
            NonNull::new_unchecked(state)
        };
        Lines { state, failed, reader: PhantomData }
    }

    /// Sets how long a line may be, with its delimiter: it bounds the memory that a file without
    /// delimiters takes.  It is 1 MB without this.
    ///
    /// # Panics
    /// Unless it is from 1 to `isize::MAX`.
    pub fn longest(self, bytes: usize) -> Self {
        assert!((1..=isize::MAX as usize).contains(&bytes), "a longest line of {bytes} bytes");
        // SAFETY: the iterator's own, which nobody else uses.
        unsafe { (*self.state.as_ptr()).longest = bytes };
        self
    }

    /// The next line, without its delimiter; `None` at the end of the stream, after which this may be
    /// called again: a file may have grown.
    ///
    /// # Errors
    /// `EMSGSIZE` when the line is longer than it may be: the stream stands before it, for
    /// [`Reader`](crate::Reader)'s other calls.  `EINTR` when a signal has cut a line in two, which is
    /// [told](Lines::delimited).  `EIO` when a [mapped](crate::Reader::mapped) file was truncated under
    /// lines before.  `EBUSY` when earlier lines or records of the reader were leaked (`mem::forget`)
    /// and not dropped.  Else those of `read(2)`, and `ENOMEM`.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Option<io::Result<&[u8]>> {
        // SAFETY: this is asf_lines_next.  From `line` to the delimiter at `base + *place` lies a line, which
        // is there until the next call, for which `self` is borrowed.
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
            // As std does; but after half a line it has to be told.
            if line.is_null() && length == -(sys::EINTR as isize) && whole {
                continue;
            }
            return found(line, length);
        }
    }

    /// Whether the line that was returned last has its delimiter: all have but bytes at the end of the
    /// stream after the last delimiter, or before an error.
    pub fn delimited(&self) -> bool {
        // SAFETY: asf_lines_delimited.
        unsafe { (*self.state.as_ptr()).bare == 0 }
    }

    /// Whether [`Lines::next`] would return without looking at the stream: where it would not it may
    /// wait, and a filter writes what it has before.
    pub fn at_hand(&self) -> bool {
        // SAFETY: asf_lines_at_hand.
        unsafe { (*self.state.as_ptr()).place != (*self.state.as_ptr()).last }
    }

    /// Calls `f` with each line that is left.
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
    /// The first of [`Lines::next`] or [`Lines::end`].
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(&[u8])) -> io::Result<()> {
        self.try_for_each(|line| {
            f(line);
            Ok(())
        })
    }

    /// The same for an `f` that may fail, after which the stream stands behind the line in question.
    ///
    /// # Errors
    /// The first of [`Lines::next`], `f` or [`Lines::end`].
    #[inline]
    pub fn try_for_each(mut self, mut f: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        while let Some(line) = self.next() {
            f(line?)?;
        }
        self.end()
    }

    /// Ends the iteration, and tells what dropping it would not.
    ///
    /// # Errors
    /// `EIO` as [`Lines::next`].
    pub fn end(self) -> io::Result<()> {
        ManuallyDrop::new(self).finish()
    }

    fn finish(&mut self) -> io::Result<()> {
        // SAFETY: called once, by end or drop; begin has made the box.
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

/// What a call of `<asf/lines.h>` has returned; the caller chooses for how long.
fn found<'a>(data: *const u8, length: isize) -> Option<io::Result<&'a [u8]>> {
    if data.is_null() {
        return if length == 0 { None } else { Some(Err(sys::error(length as i64))) };
    }
    // SAFETY: so many bytes are there until the next call.
    Some(Ok(unsafe { slice::from_raw_parts(data, length as usize) }))
}

/// The records of one size of a [`Reader`](crate::Reader), in place: see
/// [`records`](crate::Reader::records).  What is said of [`Lines`] holds here.
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

// SAFETY: as Lines.
unsafe impl Send for Records<'_> {}
unsafe impl Sync for Records<'_> {}

impl<'a> Records<'a> {
    pub(crate) fn begin(stream: &'a Stream, size: usize, failed: Option<io::Error>) -> Records<'a> {
        let mut state = MaybeUninit::uninit();
        // SAFETY: the iterator is made by this, all of it; it may be moved.
        let state = unsafe {
            sys::asf_fixed_records_begin(state.as_mut_ptr(), stream.as_ptr(), size);
            state.assume_init()
        };
        Records { state, failed, reader: PhantomData }
    }

    /// The next record; the last is shorter when the stream ends within it, or an error comes, which
    /// the next call tells.  `None` at the end of the stream.
    ///
    /// # Errors
    /// `EINVAL` for a size of 0; else those of [`Lines::next`].
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Option<io::Result<&[u8]>> {
        let records = &mut self.state;
        let (record, size) = (records.record, records.size);
        if (records.end as usize - record as usize) < size {
            return self.more();
        }
        // SAFETY: this is asf_fixed_records_next: a whole record is there until the next call.
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

    /// Calls `f` with each record that is left.
    ///
    /// # Errors
    /// The first of [`Records::next`] or [`Records::end`].
    #[inline]
    pub fn for_each(mut self, mut f: impl FnMut(&[u8])) -> io::Result<()> {
        while let Some(record) = self.next() {
            f(record?);
        }
        self.end()
    }

    /// Ends the iteration, and tells what dropping it would not.
    ///
    /// # Errors
    /// As [`Lines::end`].
    pub fn end(self) -> io::Result<()> {
        ManuallyDrop::new(self).finish()
    }

    fn finish(&mut self) -> io::Result<()> {
        // SAFETY: called once, by end or drop.
        sys::check(unsafe { sys::asf_fixed_records_end(&mut self.state) })
    }
}

impl Drop for Records<'_> {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// The fields of a line, or of any bytes: n separators part n + 1 fields, so that an empty line is one
/// empty field.
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
    /// Where the 64 bytes begin of which `ends` has a bit for each.
    block: usize,
    ends: u64,
    separator: u8,
}

impl Fields<'_> {
    #[inline]
    fn find_ends(&self) -> u64 {
        let rest = &self.text[self.block..];
        // SAFETY: it looks at these bytes.
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
        // SAFETY: fields end in ascending order, the last one where the text does.
        Some(unsafe { self.text.get_unchecked(begin..end) })
    }
}

impl FusedIterator for Fields<'_> {}
