// SPDX-License-Identifier: MIT
//
// reading.rs - compares asf::Reader with std's BufReader on the same data, by random sequences of calls.
// These are methods of Read and BufRead, and lines, records and regions, which are compared with copies that
// BufReader makes.  The data come from files, mapped or not, and from pipes that are written in pieces.

mod common;

use common::{seeds, Random, Scratch};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::mem;
use std::os::unix::io::OwnedFd;
use std::process::{Command, Stdio};
use std::thread;

#[derive(Clone, Copy, Debug)]
enum Source {
    File,
    Mapped,
    Pipe,
}

/// Returns a pipe; std of Rust 1.63 cannot make one.
fn pipe() -> (impl Write + Send, OwnedFd) {
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let ends = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap().into());
    thread::spawn(move || cat.wait());
    ends
}

fn open(source: Source, file: &Scratch, text: &[u8], random: &mut Random) -> asf::Reader {
    match source {
        Source::File => asf::Reader::open(&file.0).unwrap(),
        // SAFETY: no process writes to the file during the test.
        Source::Mapped => unsafe { asf::Reader::mapped(File::open(&file.0).unwrap()).unwrap() },
        Source::Pipe => {
            let (mut to, from) = pipe();
            let (text, mut random) = (text.to_vec(), Random::new(random.below(1 << 30) as u64));
            thread::spawn(move || {
                let mut rest = &text[..];
                while !rest.is_empty() {
                    let n = (random.size() + 1).min(rest.len());
                    if to.write_all(&rest[..n]).is_err() {
                        return; // the test has closed its end
                    }
                    rest = &rest[n..];
                }
            });
            asf::Reader::new(from).unwrap()
        }
    }
}

/// Returns the next n bytes of the expected data, fewer at its end.
fn take(expected: &mut impl Read, n: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    expected.take(n as u64).read_to_end(&mut bytes).unwrap();
    bytes
}

fn line(expected: &mut impl BufRead) -> Option<(Vec<u8>, bool)> {
    let mut line = Vec::new();
    expected.read_until(b'\n', &mut line).unwrap();
    let delimited = line.last() == Some(&b'\n');
    line.truncate(line.len() - usize::from(delimited));
    (delimited || !line.is_empty()).then_some((line, delimited))
}

fn read_lines(ours: &mut asf::Reader, expected: &mut impl BufRead, most: usize) {
    let mut lines = ours.lines_in_place();
    for _ in 0..most {
        let got = lines.next().map(|line| line.unwrap().to_vec());
        let got = got.map(|line| (line, lines.delimited()));
        assert_eq!(got, line(expected));
    }
    lines.end().unwrap();
}

fn read_records(ours: &mut asf::Reader, expected: &mut impl Read, size: usize, most: usize) {
    let mut records = ours.records(size);
    for _ in 0..most {
        let got = records.next().map_or(Vec::new(), |record| record.unwrap().to_vec());
        assert_eq!(got, take(expected, size));
    }
}

/// Reads several regions that exist at the same time, and drops them in another order.
fn read_regions(ours: &mut asf::Reader, expected: &mut impl BufRead, random: &mut Random) {
    let shared = ours.share().unwrap();
    let mut kept = Vec::new();
    for _ in 0..1 + random.below(5) {
        let (region, wanted) = if random.below(2) == 0 {
            let n = random.size() + 1;
            (shared.region(n).unwrap(), take(expected, n))
        } else {
            let mut wanted = Vec::new();
            expected.read_until(b'\n', &mut wanted).unwrap();
            (shared.until(b'\n', 0).unwrap(), wanted)
        };
        assert_eq!(region.is_none(), wanted.is_empty());
        kept.extend(region.map(|region| (region, wanted)));
    }
    while !kept.is_empty() {
        let (region, wanted) = kept.swap_remove(random.below(kept.len()));
        assert!(*region == *wanted);
        region.free().unwrap();
    }
}

fn read_some(ours: &mut asf::Reader, expected: &mut impl BufRead, random: &mut Random) {
    let n = random.size();
    match random.below(8) {
        0 => {
            let mut got = vec![0; n];
            let length = ours.read(&mut got).unwrap();
            got.truncate(length);
            assert_eq!(got, take(expected, length));
            assert!(length > 0 || n == 0 || expected.fill_buf().unwrap().is_empty());
        }
        1 => {
            let at_hand = ours.fill_buf().unwrap();
            let used = at_hand.len().min(n);
            assert_eq!(at_hand[..used], take(expected, used));
            ours.consume(used);
        }
        2 => assert_eq!(take(ours, n), take(expected, n)),
        3 => {
            let (mut got, mut wanted) = (Vec::new(), Vec::new());
            let delimiter = random.below(256) as u8;
            ours.read_until(delimiter, &mut got).unwrap();
            expected.read_until(delimiter, &mut wanted).unwrap();
            assert_eq!(got, wanted);
        }
        4 => read_lines(ours, expected, n % 50),
        5 => read_records(ours, expected, n % 300 + 1, random.below(50)),
        6 => {
            let got = ours.region(n + 1).unwrap().map_or(Vec::new(), |region| region.to_vec());
            assert_eq!(got, take(expected, n + 1));
        }
        _ => read_regions(ours, expected, random),
    }
}

fn compare(source: Source) {
    for seed in seeds(60) {
        println!("{source:?}, seed {seed}");
        let mut random = Random::new(seed);
        let size = random.size() * 4;
        let text = random.text(size);
        let file = Scratch::with(&format!("reading-{source:?}"), &text);
        let mut ours = open(source, &file, &text, &mut random);
        let mut expected = BufReader::new(File::open(&file.0).unwrap());
        for _ in 0..random.below(60) {
            read_some(&mut ours, &mut expected, &mut random);
        }
        let (mut got, mut wanted) = (Vec::new(), Vec::new());
        ours.read_to_end(&mut got).unwrap();
        expected.read_to_end(&mut wanted).unwrap();
        assert!(got == wanted, "{} bytes are left, not {}", got.len(), wanted.len());
        ours.close().unwrap();
    }
}

#[test]
fn files_as_std() {
    compare(Source::File);
}

#[test]
fn mapped_files_as_std() {
    compare(Source::Mapped);
}

#[test]
fn pipes_as_std() {
    compare(Source::Pipe);
}

#[test]
fn fields_as_std() {
    for seed in seeds(300) {
        let mut random = Random::new(seed);
        let separators = random.below(20) + 2;
        let size = random.below(400);
        let text: Vec<u8> = (0..size).map(|_| random.below(separators) as u8).collect();
        let got: Vec<_> = asf::fields(&text, 1).collect();
        assert_eq!(got, text.split(|&byte| byte == 1).collect::<Vec<_>>());
    }
}

/// Borrowed bytes do not change when the file does.
#[test]
fn changes_of_the_file_are_not_seen() {
    let text = b"a line that is here\n".repeat(200_000);
    let file = Scratch::with("changes", &text);
    let mut ours = asf::Reader::open(&file.0).unwrap();
    assert_ne!(ours.module(), "map");
    let shared = ours.share().unwrap();
    let regions: Vec<_> = (0..3).map(|_| shared.region(1 << 20).unwrap().unwrap()).collect();
    File::create(&file.0).unwrap();
    assert!(regions.iter().zip(text.chunks(1 << 20)).all(|(region, part)| **region == *part));
    regions.into_iter().for_each(|region| region.free().unwrap());
}

#[test]
fn threads_share_whole_lines() {
    let text: Vec<u8> = (0..100_000).flat_map(|i| format!("{i}\n").into_bytes()).collect();
    let file = Scratch::with("threads", &text);
    let mut ours = asf::Reader::open(&file.0).unwrap();
    let shared = ours.share().unwrap();
    let sum = || -> u64 {
        let lines = std::iter::from_fn(|| shared.until(b'\n', 0).unwrap());
        lines.map(|line| std::str::from_utf8(&line).unwrap().trim_end().parse::<u64>().unwrap()).sum()
    };
    let sums: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(sum)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(sums.iter().sum::<u64>(), 99_999 * 100_000 / 2);
}

#[test]
fn regions_anywhere() {
    let text = Random::new(7).text(300_000);
    let file = Scratch::with("anywhere", &text);
    let mut ours = asf::Reader::open(&file.0).unwrap();
    let shared = ours.share().unwrap();
    for offset in (0..text.len()).step_by(1777).rev() {
        let region = shared.region_at(offset as u64, 100).unwrap().unwrap();
        assert_eq!(region[..], text[offset..text.len().min(offset + 100)]);
    }
    assert_eq!(shared.region_at(u64::MAX, 1).err().unwrap().kind(), ErrorKind::InvalidInput);
    assert!(shared.region_at(1 << 40, 1).unwrap().is_none());
}

#[test]
fn errors_have_the_systems_codes() {
    let code = |error: std::io::Error| error.raw_os_error().unwrap();
    assert_eq!(asf::Reader::open("/no/such/file").err().unwrap().kind(), ErrorKind::NotFound);
    let directory = || asf::Reader::open("/tmp").unwrap();
    assert_eq!(code(directory().read(&mut [0]).unwrap_err()), 21); // EISDIR
    assert_eq!(code(directory().lines_in_place().next().unwrap().unwrap_err()), 21);
    assert_eq!(code(directory().records(4).next().unwrap().unwrap_err()), 21);
    assert_eq!(code(directory().region(1).err().unwrap()), 21);
    let file = Scratch::with("errors", b"a long line\nb\n");
    let mut ours = asf::Reader::open(&file.0).unwrap();
    assert_eq!(code(ours.region(0).err().unwrap()), 22); // EINVAL
    assert_eq!(code(ours.records(0).next().unwrap().unwrap_err()), 22);
    assert_eq!(code(ours.lines_in_place().longest(11).next().unwrap().unwrap_err()), 90); // EMSGSIZE
    assert_eq!(code(ours.share().unwrap().until(b'\n', 11).err().unwrap()), 90);
    assert_eq!(ours.lines_in_place().longest(12).next().unwrap().unwrap(), b"a long line");
    let closed = File::options().write(true).open("/dev/null").unwrap();
    assert_eq!(code(asf::Reader::new(closed).unwrap().read(&mut [0]).unwrap_err()), 9);
    // EBADF
}

/// Leaked lines and regions keep the stream open, and their bytes in memory.
#[test]
fn leaks_are_only_leaks() {
    let text = b"one\ntwo\nthree\n".repeat(100_000);
    let file = Scratch::with("leaks", &text);
    let mut ours = asf::Reader::open(&file.0).unwrap();
    mem::forget(ours.lines_in_place());
    let mut lines = ours.lines_in_place();
    assert_eq!(lines.next().unwrap().unwrap(), b"one");
    mem::forget(lines);
    assert_eq!(ours.lines_in_place().next().unwrap().unwrap_err().raw_os_error(), Some(16)); // EBUSY
    assert_eq!(ours.records(4).next().unwrap().unwrap_err().raw_os_error(), Some(16));
    mem::forget(ours.region(4).unwrap());
    let mut rest = Vec::new();
    ours.read_to_end(&mut rest).unwrap();
    assert!(text.ends_with(&rest));
    assert_eq!(ours.close().unwrap_err().raw_os_error(), Some(16)); // EBUSY
}

/// The lines may be moved between two calls, and to another thread.
#[test]
fn lines_may_be_moved() {
    let text = b"one\ntwo\nthree\n".repeat(10_000);
    let file = Scratch::with("moved", &text);
    let mut ours = Box::new(asf::Reader::open(&file.0).unwrap());
    let mut lines = ours.lines_in_place();
    assert_eq!(lines.next().unwrap().unwrap(), b"one");
    let mut elsewhere = Box::new(lines);
    assert_eq!(elsewhere.next().unwrap().unwrap(), b"two");
    let n = thread::scope(|scope| {
        let counted = scope.spawn(move || {
            let mut n = 0;
            elsewhere.for_each(|_| n += 1).unwrap();
            n
        });
        counted.join().unwrap()
    });
    assert_eq!(n, 30_000 - 2);
}

/// After a closure has failed or panicked, the stream is after the line of that call.
#[test]
fn closures_may_stop() {
    let file = Scratch::with("stop", b"one\ntwo\nthree\nfour\n");
    let mut ours = asf::Reader::open(&file.0).unwrap();
    let stop = |line: &[u8]| if line == b"two" { Err(ErrorKind::Other.into()) } else { Ok(()) };
    assert_eq!(ours.lines_in_place().try_for_each(stop).unwrap_err().kind(), ErrorKind::Other);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ours.lines_in_place().for_each(|_| panic!("as it should"))
    }));
    assert!(panicked.is_err());
    assert_eq!(ours.lines_in_place().next().unwrap().unwrap(), b"four");
}

/// Lines continue when the file has grown.
#[test]
fn lines_go_on_where_a_file_has_grown() {
    let file = Scratch::with("grown", b"one\n");
    let mut ours = asf::Reader::open(&file.0).unwrap();
    let mut lines = ours.lines_in_place();
    assert_eq!(lines.next().unwrap().unwrap(), b"one");
    assert!(lines.next().is_none());
    let mut to = File::options().write(true).open(&file.0).unwrap();
    to.seek(SeekFrom::End(0)).unwrap();
    to.write_all(b"two\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), b"two");
}

/// Compares seeks with BufReader's, with calls of every other kind between them.
#[test]
fn seeks_as_std() {
    for seed in seeds(100) {
        let mut random = Random::new(seed);
        let size = random.below(300_000);
        let text = random.text(size);
        let file = Scratch::with("seeking", &text);
        for source in [Source::File, Source::Mapped] {
            let mut ours = open(source, &file, &text, &mut random);
            let mut expected = BufReader::new(File::open(&file.0).unwrap());
            for step in 0..40 {
                let place = random.below(text.len() + 10) as i64;
                let to = match random.below(5) {
                    0 => SeekFrom::Start(place as u64),
                    1 => SeekFrom::End(-place),
                    2 => SeekFrom::Current(place - text.len() as i64 / 2),
                    3 => SeekFrom::Current(random.below(50) as i64),
                    _ => SeekFrom::End(random.below(3) as i64),
                };
                let said = ours.seek(to).map_err(|error| error.raw_os_error());
                let wanted = expected.seek(to).map_err(|error| error.raw_os_error());
                assert_eq!(said, wanted, "seed {seed}, step {step}, {source:?}, {to:?}");
                let n = random.size();
                let (mut some, mut same) = (vec![0; n], vec![0; n]);
                match random.below(3) {
                    0 => {
                        assert_eq!(ours.read_exact(&mut some).is_ok(), expected.read_exact(&mut same).is_ok())
                    }
                    1 => {
                        let read = ours.read_until(b'\n', &mut some).unwrap();
                        assert_eq!(read, expected.read_until(b'\n', &mut same).unwrap());
                    }
                    _ => {
                        some = ours.region(n + 1).unwrap().map_or(Vec::new(), |region| region.to_vec());
                        same = take(&mut expected, n + 1);
                    }
                }
                assert!(some == same, "seed {seed}, step {step}, {source:?}, after {to:?}");
                let place = ours.stream_position().unwrap();
                assert_eq!(
                    place,
                    expected.stream_position().unwrap(),
                    "seed {seed}, step {step}, {source:?}"
                );
            }
        }
    }
}

#[test]
fn a_pipe_cannot_seek() {
    let (to, from) = pipe();
    let mut ours = asf::Reader::new(from).unwrap();
    assert_eq!(ours.seek(SeekFrom::Start(0)).unwrap_err().raw_os_error(), Some(29));
    assert_eq!(ours.stream_position().unwrap_err().raw_os_error(), Some(29));
    drop(to);
    assert_eq!(ours.read(&mut [0; 9]).unwrap(), 0);
}

/// All public types implement Debug.
#[test]
fn all_types_can_be_shown() {
    let file = Scratch::with("shown", b"one two");
    let mut input = asf::Reader::open(&file.0).unwrap();
    assert!(format!("{input:?}").starts_with("Reader { stream: Stream { fd: "));
    assert!(format!("{:?}", input.lines_in_place()).starts_with("Lines"));
    assert!(format!("{:?}", input.records(2)).starts_with("Records"));
    assert!(format!("{:?}", input.share().unwrap()).starts_with("Shared"));
    assert_eq!(format!("{:?}", input.region(3).unwrap().unwrap()), "Region([111, 110, 101])");
    let mut output = asf::Writer::create(&file.0).unwrap();
    assert!(format!("{output:?}").starts_with("Writer"));
    let mut region = output.region(9).unwrap();
    region.write_all(b"ab").unwrap();
    assert_eq!(format!("{region:?}"), "RegionMut([97, 98])");
}
