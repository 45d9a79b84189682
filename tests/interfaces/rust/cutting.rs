// SPDX-License-Identifier: MIT
//
// cutting.rs - tests parts of files, read by the program's and by the library's threads: all parts together
// are the file; the caller gets errors and panics; columns are the same as those of one reader.

mod common;

use asf::{Column, Cut, Part, PartReader};
use common::{seeds, Random, Scratch};
use std::fs;
use std::io::{self, Read};
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

fn code<T>(result: io::Result<T>) -> Option<i32> {
    result.err().unwrap().raw_os_error()
}

fn lines_of(rows: usize) -> String {
    (0..rows).map(|row| format!("{row}\t{}\n", row as f64 / 8.0)).collect()
}

/// Returns the bytes of each part, in the file's order.  `work` must be called once for each part.
fn joined(path: &Path, cut: &Cut, threads: usize) -> Vec<Vec<u8>> {
    let found = Mutex::new(Vec::new());
    asf::each_part(path, cut, threads, |input, part| {
        let mut text = Vec::new();
        input.read_to_end(&mut text)?;
        found.lock().unwrap().push((part.index, text));
        Ok(())
    })
    .unwrap();
    let mut found = found.into_inner().unwrap();
    found.sort();
    assert!(found.iter().enumerate().all(|(i, (index, _))| i as i64 == *index));
    found.into_iter().map(|(_, text)| text).collect()
}

fn random_cut(random: &mut Random) -> (Cut, Option<u8>, usize) {
    let size = random.size() as u64 + 1;
    match random.below(3) {
        0 => (Cut::default().size(size), Some(b'\n'), 1),
        1 => (Cut::at(b'x').size(size), Some(b'x'), 1),
        _ => {
            let record = random.size() % 5000 + 1;
            (Cut::records(record as u64).size(size), None, record)
        }
    }
}

#[test]
fn of_a_compressed_file() {
    let text = lines_of(20000);
    let mut packed = Vec::new();
    for piece in text.as_bytes().chunks(30000) {
        let plain = Scratch::with("piece", piece);
        match Command::new("zstd").arg("-qc").arg(&plain.0).output() {
            Ok(output) => packed.extend(output.stdout),
            Err(_) => return println!("skipped: zstd is not installed"),
        }
    }
    let scratch = Scratch::with("log.zst", &packed);
    let parts = joined(&scratch.0, &Cut::default().size(5000).decode(), 2);
    assert!(parts.len() > 3);
    assert!(parts.concat() == text.as_bytes());
}

#[test]
fn together_they_are_the_file() {
    for seed in seeds(60) {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let size = random.size();
        let text = random.text(size);
        let file = Scratch::with("cut", &text);
        let (cut, delimiter, record) = random_cut(&mut random);
        let texts = joined(&file.0, &cut, 1 + random.below(4));
        assert!(texts.concat() == text);
        let (_, but_last) = texts.split_last().map_or((&[][..], &[][..]), |(last, rest)| (last, rest));
        for part in but_last {
            assert!(delimiter.map_or(part.len() % record == 0, |end| part.last() == Some(&end)));
        }
        let parts = asf::parts(&file.0, &cut).unwrap();
        assert_eq!(parts.len(), texts.len());
        for (part, expected) in parts.iter().zip(&texts) {
            let mut got = Vec::new();
            asf::Reader::open_part(&file.0, part).unwrap().read_to_end(&mut got).unwrap();
            assert!(got == *expected);
        }
    }
}

#[test]
fn by_threads_of_the_program() {
    let text = lines_of(20_000);
    let file = Scratch::with("spawned", text.as_bytes());
    let parts = asf::parts(&file.0, &Cut::default().size(10_000)).unwrap();
    let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut input = asf::Reader::open_part(&file.0, part).unwrap();
            let mut lines = 0;
            input.lines_in_place().for_each(|_| lines += 1).unwrap();
            input.close().unwrap();
            sum.fetch_add(lines, Ordering::Relaxed);
        }
    };
    thread::scope(|threads| {
        threads.spawn(work);
        work();
    });
    assert_eq!(sum.into_inner(), 20_000);
    fn plain<T: Send + Sync + Clone + 'static>() {}
    plain::<Part>();
    plain::<Cut>();
}

#[test]
fn a_part_reads_as_a_reader() {
    let file = Scratch::with("reads", b"one\ntwo\nthree\n");
    let parts = asf::parts(&file.0, &Cut::default().size(4)).unwrap();
    let mut input = asf::Reader::open_part(&file.0, &parts[2]).unwrap();
    assert_eq!(input.module(), "part");
    assert!(format!("{input:?}").contains("fd: None"), "{input:?}");
    let shared = input.share().unwrap();
    assert_eq!(shared.region_at(2, 3).unwrap().as_deref(), Some(&b"ree"[..]));
    assert_eq!(shared.region_at(0, 2).unwrap().as_deref(), Some(&b"th"[..]));
    let copied = Scratch::new("copied-part");
    let mut output = asf::Writer::create(&copied.0).unwrap();
    assert_eq!(asf::copy(&mut input, &mut output, u64::MAX).unwrap(), 4);
    output.close().unwrap();
    assert_eq!(fs::read(&copied.0).unwrap(), b"ree\n");
}

#[test]
fn what_cannot_be_cut_is_one_part() {
    let fifo = Scratch::new("fifo");
    assert!(Command::new("mkfifo").arg(&fifo.0).status().unwrap().success());
    let text = lines_of(10_000);
    thread::scope(|threads| {
        threads.spawn(|| fs::write(&fifo.0, &text).unwrap());
        assert!(joined(&fifo.0, &Cut::default().size(1), 3) == [text.as_bytes()]);
    });
    let none: [&[u8]; 0] = [];
    assert_eq!(joined(Path::new("/dev/null"), &Cut::default(), 2).concat(), none.concat());
    let empty = Scratch::with("empty", b"");
    assert_eq!(asf::parts(&empty.0, &Cut::default()).unwrap(), []);
    assert_eq!(joined(&empty.0, &Cut::default(), 0), none);
}

#[test]
fn wrong_calls_are_told() {
    let file = Scratch::with("told", b"one\ntwo\n");
    let work = |_: &mut PartReader<'_>, _: &Part| Ok(());
    for (path, cut, expected) in [
        (file.0.as_path(), Cut::records(0), 22), // EINVAL
        (file.0.as_path(), Cut::default().size(u64::MAX), 22),
        (Path::new("a\0b"), Cut::default(), 22),
        (Path::new("/nowhere"), Cut::default(), 2), // ENOENT
    ] {
        assert_eq!(code(asf::parts(path, &cut)), Some(expected));
        assert_eq!(code(asf::each_part(path, &cut, 2, work)), Some(expected));
    }
    let part = asf::parts(&file.0, &Cut::default()).unwrap()[0];
    let wrong = Part { begin: 5, end: 2, ..part };
    assert_eq!(code(asf::Reader::open_part(&file.0, &wrong)), Some(22));
    fs::write(&file.0, b"other").unwrap();
    assert_eq!(code(asf::Reader::open_part(&file.0, &part)), Some(116)); // ESTALE
}

#[test]
fn the_first_error_wins() {
    let file = Scratch::with("fails", lines_of(50_000).as_bytes());
    let cut = Cut::default().size(1000);
    let parts = asf::parts(&file.0, &cut).unwrap().len();
    for threads in [1, 2, 4] {
        let begun = AtomicUsize::new(0);
        let error = asf::each_part(&file.0, &cut, threads, |input, part| {
            begun.fetch_add(1, Ordering::Relaxed);
            if part.index == 3 {
                return Err(io::Error::new(io::ErrorKind::Other, "the third"));
            }
            while input.region(10)?.is_some() {} // fails after another part has failed
            Ok(())
        })
        .unwrap_err();
        assert_eq!(error.to_string(), "the third");
        assert!(begun.into_inner() < parts);
    }
    let leak = |input: &mut PartReader<'_>, _: &Part| {
        mem::forget(input.region(1)?);
        Ok(())
    };
    assert_eq!(code(asf::each_part(&file.0, &cut, 1, leak)), Some(16)); // EBUSY
}

#[test]
fn a_panic_arrives_in_the_caller() {
    let file = Scratch::with("panics", lines_of(50_000).as_bytes());
    let cut = Cut::default().size(1000);
    for threads in [1, 2, 4] {
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            asf::each_part(&file.0, &cut, threads, |input, part| {
                let _region = input.region(10)?;
                if part.index >= 5 {
                    panic::resume_unwind(Box::new("of a part")); // panics without printing a message
                }
                Ok(())
            })
        }));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"of a part"));
    }
}

/// Two threads are in `work`, and the one that is not the caller fails: the caller gets the error.
#[test]
fn another_thread_fails() {
    let file = Scratch::with("another", lines_of(1000).as_bytes());
    let (caller, both) = (thread::current().id(), Barrier::new(2));
    let error = asf::each_part(&file.0, &Cut::default().size(7000), 2, |_, _| {
        both.wait();
        match thread::current().id() == caller {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(28)),
        }
    });
    assert_eq!(code(error), Some(28));
}

/// A lent reader is closed once, even if `work` has swapped it for another reader.
#[test]
fn a_lent_reader_may_be_swapped() {
    let file = Scratch::with("swapped", lines_of(1000).as_bytes());
    let cut = Cut::default().size(1000);
    let parts = asf::parts(&file.0, &cut).unwrap();
    asf::each_part(&file.0, &cut, 2, |input, part| {
        let mut own: PartReader<'_> = asf::Reader::open_part(&file.0, &parts[0])?;
        mem::swap(input, &mut own);
        let mut text = Vec::new();
        own.read_to_end(&mut text)?;
        assert_eq!(text.len() as i64, part.end - part.begin);
        input.lines_in_place().for_each(|_| ())?;
        own.close()
    })
    .unwrap();
}

#[test]
fn columns_as_by_one_reader() {
    let text = String::from("row\teighth\n") + &lines_of(300_000);
    let file = Scratch::with("table", text.as_bytes());
    for threads in [0, 1, 3] {
        let (mut rows, mut eighths) = (vec![7], vec![]);
        let mut columns = [Column::Float(1, &mut eighths), Column::Int32(0, &mut rows)];
        assert_eq!(asf::read_columns(&file.0, b'\t', 1, &mut columns, threads).unwrap(), 300_000);
        assert!(rows[0] == 7 && rows[1..].iter().copied().eq(0..300_000));
        assert!(eighths.iter().copied().eq((0..300_000).map(|row| f64::from(row) / 8.0)));
    }
    let mut rows = vec![7];
    let mut read =
        |path: &Path, skip| asf::read_columns(path, b'\t', skip, &mut [Column::Int(0, &mut rows)], 2);
    assert_eq!(code(read(&file.0, 0)), Some(74)); // EBADMSG
    assert_eq!(code(read(Path::new("/nowhere"), 0)), Some(2));
    assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), 0);
    assert_eq!(code(asf::read_columns(&file.0, b'\t', 0, &mut [], 2)), Some(22));
    assert_eq!(rows, [7]);
}
