// SPDX-License-Identifier: MIT
//
// layout.rs - tests that the structs and constants of src/sys.rs are those of <asf/lines.h>, <asf/numbers.h>
// and <asf/parts.h>.  The C compiler checks assertions with Rust's values.  The headers are in
// ASF_INCLUDE_DIR; if that is not set, they are the system's.

#[allow(dead_code)]
mod sys {
    include!("../src/sys.rs"); // relative to this file's link in the crate
}

use std::fmt::Write as _;
use std::io::Write as _;
use std::mem::{size_of, MaybeUninit};
use std::process::{Command, Stdio};

/// Makes assertions in C: one of the struct's size, and one of each member's offset and size.
macro_rules! asserted {
    ($rust:ty, $c:literal, $($member:ident)*) => {{
        let size = size_of::<$rust>();
        let mut text = format!("_Static_assert(sizeof(struct {}) == {size}, \"\");\n", $c);
        let place = MaybeUninit::<$rust>::uninit();
        let base = place.as_ptr();
        $(
            // SAFETY: no member is read.
            let member = unsafe { std::ptr::addr_of!((*base).$member) };
            let (name, offset) = (stringify!($member), member as usize - base as usize);
            writeln!(text, "_Static_assert(offsetof(struct {}, {name}) == {offset}, \"\");", $c).unwrap();
            let size = size_of_pointee(member);
            writeln!(text, "_Static_assert(sizeof ((struct {} *)0)->{name} == {size}, \"\");", $c).unwrap();
        )*
        text
    }};
}

fn size_of_pointee<T>(_: *const T) -> usize {
    size_of::<T>()
}

#[test]
fn structs_are_those_of_c() {
    let mut text = String::new();
    for header in ["asf/lines.h", "asf/numbers.h", "asf/parts.h", "fcntl.h", "stddef.h", "errno.h"] {
        writeln!(text, "#include <{header}>").unwrap();
    }
    text += &asserted!(sys::Lines, "asf_lines",
        line base place last stream region scanned end longest delimiter bare places);
    text += &asserted!(sys::Records, "asf_fixed_records", record end size stream region);
    text += &asserted!(sys::Column, "asf_column", field values);
    text += &asserted!(sys::Part, "asf_part",
        begin end index count size modified inode delimiter form before after);
    text += &asserted!(sys::Cut, "asf_cut", delimiter record size decode);
    for (name, value) in [
        ("offsetof(struct asf_column, type)", size_of::<usize>() as i32),
        ("(int)sizeof(enum asf_column_type)", size_of::<std::os::raw::c_uint>() as i32),
        ("ASF_INT32", sys::INT32 as i32),
        ("ASF_INT64", sys::INT64 as i32),
        ("ASF_DOUBLE", sys::DOUBLE as i32),
        ("ASF_INTEGER_ROOM", sys::INTEGER_ROOM as i32),
        ("ASF_DOUBLE_ROOM", sys::DOUBLE_ROOM as i32),
        ("ASF_COPIED", sys::COPIED as i32),
        ("F_GETFL", sys::F_GETFL),
        ("O_RDONLY", sys::O_RDONLY),
        ("O_WRONLY", sys::O_WRONLY),
        ("O_APPEND", sys::O_APPEND),
        ("SEEK_SET", sys::SEEK_SET),
        ("SEEK_CUR", sys::SEEK_CUR),
        ("SEEK_END", sys::SEEK_END),
        ("EINTR", sys::EINTR),
        ("EINVAL", sys::EINVAL),
        ("(int)sizeof(enum asf_advice)", 4),
        ("(int)sizeof(ssize_t)", size_of::<isize>() as i32),
    ] {
        writeln!(text, "_Static_assert({name} == {value}, \"\");").unwrap();
    }
    let include =
        std::env::var("ASF_INCLUDE_DIR").map_or(String::from("-I."), |directory| format!("-I{directory}"));
    let mut cc = Command::new("cc")
        .args(["-fsyntax-only", "-x", "c", &include, "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("cc, which links Rust's programs, too");
    cc.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(cc.wait().unwrap().success(), "{text}");
}
