// SPDX-License-Identifier: MIT
//
//! Numbers as text: digits written into a writer's region, and columns of numbers from a reader.

use crate::parts::threads_for_c;
use crate::reader::Reader;
use crate::sys;
use crate::writer::Writer;
use std::io;
use std::os::raw::c_void;
use std::path::Path;
use std::slice;

/// A column for [`read_columns`] and [`Reader::read_columns`]: the number of a field, from 0, and the vector
/// that receives its values.
#[derive(Debug)]
pub enum Column<'a> {
    /// Integers of 32 bits.
    Int32(usize, &'a mut Vec<i32>),
    /// Integers of 64 bits.
    Int(usize, &'a mut Vec<i64>),
    /// Floats, as `strtod` reads them; an empty field is a NaN.
    Float(usize, &'a mut Vec<f64>),
}

impl Column<'_> {
    fn field(&self) -> usize {
        match self {
            Column::Int32(field, _) | Column::Int(field, _) | Column::Float(field, _) => *field,
        }
    }

    /// Returns the C struct for this column, with room for `rows` more values.
    fn reserve(&mut self, rows: usize) -> sys::Column {
        fn room<T>(values: &mut Vec<T>, rows: usize) -> *mut c_void {
            values.reserve(rows);
            values.spare_capacity_mut().as_mut_ptr().cast()
        }
        let field = self.field();
        let (kind, values) = match self {
            Column::Int32(_, values) => (sys::INT32, room(values, rows)),
            Column::Int(_, values) => (sys::INT64, room(values, rows)),
            Column::Float(_, values) => (sys::DOUBLE, room(values, rows)),
        };
        sys::Column { field, kind, values }
    }

    /// # Safety
    /// `from` holds `rows` values of the column's type.
    unsafe fn append(&mut self, from: *const c_void, rows: usize) {
        // SAFETY: the caller guarantees the values.
        unsafe {
            match self {
                Column::Int32(_, values) => values.extend(slice::from_raw_parts(from.cast::<i32>(), rows)),
                Column::Int(_, values) => values.extend(slice::from_raw_parts(from.cast::<i64>(), rows)),
                Column::Float(_, values) => values.extend(slice::from_raw_parts(from.cast::<f64>(), rows)),
            }
        }
    }

    /// # Safety
    /// `rows` values were stored in the reserved room.
    unsafe fn extend(&mut self, rows: usize) {
        // SAFETY: the caller guarantees the values.
        unsafe {
            match self {
                Column::Int32(_, values) => values.set_len(values.len() + rows),
                Column::Int(_, values) => values.set_len(values.len() + rows),
                Column::Float(_, values) => values.set_len(values.len() + rows),
            }
        }
    }
}

/// Reads numbers from all lines of a file, as [`Reader::read_columns`] does, with up to `threads` threads.  0
/// means one for each processor that the process may use.  The first `skip` lines, such as a heading, are
/// skipped.  Returns the number of rows.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
/// # std::fs::write(&path, "id,price\n1,0.5\n2,1e3\n")?;
/// use asf::Column;
/// let (mut ids, mut prices) = (Vec::new(), Vec::new());
/// let mut columns = [Column::Int(0, &mut ids), Column::Float(1, &mut prices)];
/// asf::read_columns(&path, b',', 1, &mut columns, 0)?;
/// assert_eq!(ids, [1, 2]);
/// assert_eq!(prices, [0.5, 1000.0]);
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The errors of [`each_part`](crate::each_part), and those of [`Reader::read_columns`] for a line that is not a
/// row.  If several lines are not rows, the error is that of any one.  `EMSGSIZE` if the skipped lines together
/// are longer than 1 MB.  After an error the vectors are unchanged.
pub fn read_columns(
    path: impl AsRef<Path>,
    separator: u8,
    skip: usize,
    columns: &mut [Column<'_>],
    threads: usize,
) -> io::Result<usize> {
    let path = sys::path(path.as_ref())?;
    columns.sort_by_key(|column| column.field());
    let mut found: Vec<_> = columns.iter_mut().map(|column| column.reserve(0)).collect();
    let (first, count, threads) = (found.as_mut_ptr(), found.len(), threads_for_c(threads));
    let skip = i64::try_from(skip).unwrap_or(-1);
    // SAFETY: the path and the columns are valid; the call allocates the arrays.
    let rows = unsafe { sys::asf_read_columns(path.as_ptr(), separator.into(), skip, first, count, threads) };
    let rows = usize::try_from(rows).map_err(|_| sys::error(rows))?;
    for (column, found) in columns.iter_mut().zip(found).filter(|_| rows > 0) {
        // SAFETY: malloc allocated an array of `rows` values, which is freed once here.
        unsafe {
            column.append(found.values, rows);
            sys::free(found.values);
        }
    }
    Ok(rows)
}

impl<On> Reader<On> {
    /// Reads numbers from the next lines and appends them to the columns' vectors.  Each line is a row of
    /// fields with a separator between them.  The columns may be in any order; other fields are skipped.
    ///
    /// Returns the number of rows: `most`, or fewer at the end of the stream.  A field is a number as C's
    /// `strtod`, or `strtoll` in base ten, reads it.  Blanks around a field, and a carriage return, are
    /// allowed.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
    /// # std::fs::write(&path, "1\ttext\t0.5\n2\tmore\t1e3\n")?;
    /// use asf::Column;
    /// let (mut ids, mut prices) = (Vec::new(), Vec::new());
    /// let mut columns = [Column::Int(0, &mut ids), Column::Float(2, &mut prices)];
    /// asf::Reader::open(&path)?.read_columns(b'\t', &mut columns, usize::MAX)?;
    /// assert_eq!(ids, [1, 2]);
    /// assert_eq!(prices, [0.5, 1000.0]);
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// `EBADMSG`: a line lacks a field, or the field is not such a number.  `ERANGE`: an integer is too large
    /// for its type.  In both cases the reader is before that line, and the vectors have the rows before it.
    /// `EINVAL`: there is no column, or two columns have the same field.  Otherwise the errors of
    /// [`Lines::next`](crate::Lines::next).
    pub fn read_columns(
        &mut self,
        separator: u8,
        columns: &mut [Column<'_>],
        most: usize,
    ) -> io::Result<usize> {
        /// The rows read in the first piece, and in the largest.
        const PIECE: (usize, usize) = (1 << 10, 1 << 20);
        let stream = self.settled()?.as_ptr();
        let mut got = 0;
        columns.sort_by_key(|column| column.field());
        while got < most {
            let piece = got.clamp(PIECE.0, PIECE.1).min(most - got);
            let room: Vec<_> = columns.iter_mut().map(|column| column.reserve(piece)).collect();
            let (first, count) = (room.as_ptr(), room.len());
            // SAFETY: each column has room for `piece` values of its type.
            let rows = unsafe { sys::asf_get_columns(stream, separator.into(), first, count, piece as i64) };
            match usize::try_from(rows) {
                Ok(0) => break,
                Ok(rows) => {
                    // SAFETY: each column received `rows` values.
                    columns.iter_mut().for_each(|column| unsafe { column.extend(rows) });
                    got += rows;
                }
                Err(_) if rows == -i64::from(sys::EINTR) => continue, // as std does
                Err(_) => return Err(sys::error(rows)),
            }
        }
        Ok(got)
    }
}

impl Writer {
    /// Writes an integer in decimal, as `{}` of [`format!`] does, directly into the writer's buffer.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("asf-doc-{}", std::process::id()));
    /// use std::io::Write;
    /// let mut output = asf::Writer::create(&path)?;
    /// output.write_int(-7)?;
    /// output.write_all(b"\t")?;
    /// output.write_float(0.1)?;
    /// output.write_all(b"\n")?;
    /// output.close()?;
    /// assert_eq!(std::fs::read(&path)?, b"-7\t0.1\n");
    /// # std::fs::remove_file(&path)?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`write_all`](std::io::Write::write_all).
    #[inline]
    pub fn write_int(&mut self, value: i64) -> io::Result<()> {
        // SAFETY: the region has room for the digits.
        unsafe { self.write_digits::<{ sys::INTEGER_ROOM }>(|to| sys::asf_digits_int(to, value)) }
    }

    /// Writes an unsigned integer, as [`Writer::write_int`] does.
    ///
    /// # Errors
    /// The errors of [`Writer::write_int`].
    #[inline]
    pub fn write_uint(&mut self, value: u64) -> io::Result<()> {
        // SAFETY: the region has room for the digits.
        unsafe { self.write_digits::<{ sys::INTEGER_ROOM }>(|to| sys::asf_digits_uint(to, value)) }
    }

    /// Writes the shortest text that reads back as exactly this value, like C++'s `std::to_chars`: `0.1`,
    /// `1e+22`, `inf`.
    ///
    /// # Errors
    /// The errors of [`Writer::write_int`].
    #[inline]
    pub fn write_float(&mut self, value: f64) -> io::Result<()> {
        // SAFETY: the region has room for the digits.
        unsafe { self.write_digits::<{ sys::DOUBLE_ROOM }>(|to| sys::asf_digits_double(to, value)) }
    }
}
