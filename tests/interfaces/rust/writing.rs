// SPDX-License-Identifier: MIT
//
// writing.rs - compares asf::Writer with std's BufWriter, by random sequences of calls.  After each flush,
// and at the end, their files must be the same.  Where asf writes a region or copies a stream, std writes the
// bytes.

mod common;

use common::{seeds, Random, Scratch};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::mem::MaybeUninit;

/// Fills a part of a region in one of two ways, and then drops, abandons or commits the region.
fn write_region(ours: &mut asf::Writer, expected: &mut impl Write, text: &[u8], random: &mut Random) {
    let mut region = ours.region(text.len() + 1 + random.below(100)).unwrap();
    if random.below(2) == 0 {
        region.write_all(text).unwrap();
    } else {
        for (to, from) in region.spare_capacity_mut().iter_mut().zip(text) {
            *to = MaybeUninit::new(*from);
        }
        // SAFETY: the loop has set the first text.len() bytes.
        unsafe { region.set_len(text.len()) };
    }
    assert_eq!(*region, *text);
    match random.below(4) {
        0 => drop(region),
        1 => region.abandon().unwrap(),
        _ => {
            region.commit().unwrap();
            expected.write_all(text).unwrap();
        }
    }
}

/// Copies bytes from a stream of which a part has been read.
fn copy(ours: &mut asf::Writer, expected: &mut impl Write, text: &[u8], random: &mut Random) {
    let file = Scratch::with("copied", text);
    let mut from = asf::Reader::open(&file.0).unwrap();
    let before =
        from.by_ref().take(random.below(text.len() + 1) as u64).read_to_end(&mut Vec::new()).unwrap();
    let most = random.below(text.len() + 1);
    let copied = asf::copy(&mut from, ours, most as u64).unwrap() as usize;
    assert_eq!(copied, most.min(text.len() - before));
    expected.write_all(&text[before..before + copied]).unwrap();
}

fn write_some(ours: &mut asf::Writer, expected: &mut impl Write, text: &[u8], random: &mut Random) {
    match random.below(10) {
        0 => {
            let n = ours.write(text).unwrap();
            assert!(n > 0 || text.is_empty());
            expected.write_all(&text[..n]).unwrap();
        }
        1 => {
            writeln!(ours, "{} {:?}", text.len(), text.first()).unwrap();
            writeln!(expected, "{} {:?}", text.len(), text.first()).unwrap();
        }
        2 => write_region(ours, expected, text, random),
        3 => copy(ours, expected, text, random),
        _ => {
            ours.write_all(text).unwrap();
            expected.write_all(text).unwrap();
        }
    }
}

#[test]
fn files_as_std() {
    for seed in seeds(50) {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let (ours_at, expected_at) = (Scratch::new("ours"), Scratch::new("expected"));
        let append = random.below(2) == 0;
        fs::write(&ours_at.0, "before").unwrap();
        fs::write(&expected_at.0, "before").unwrap();
        let open =
            |at: &Scratch| File::options().append(append).write(true).truncate(!append).open(&at.0).unwrap();
        let mut ours = asf::Writer::new(open(&ours_at)).unwrap();
        let mut expected = BufWriter::new(open(&expected_at));
        for _ in 0..random.below(80) {
            let size = random.size() / 4;
            let text = random.text(size);
            write_some(&mut ours, &mut expected, &text, &mut random);
            if random.below(10) == 0 {
                ours.flush().unwrap();
                expected.flush().unwrap();
                assert!(fs::read(&ours_at.0).unwrap() == fs::read(&expected_at.0).unwrap());
            }
        }
        if random.below(2) == 0 {
            ours.close().unwrap();
        } else {
            drop(ours);
        }
        drop(expected);
        assert!(fs::read(&ours_at.0).unwrap() == fs::read(&expected_at.0).unwrap());
    }
}

#[test]
fn errors_are_told() {
    let code = |result: std::io::Result<()>| result.unwrap_err().raw_os_error();
    let full = || asf::Writer::new(File::options().write(true).open("/dev/full").unwrap()).unwrap();
    let mut output = full();
    output.write_all(b"some text").unwrap();
    assert_eq!(code(output.flush()), Some(28)); // ENOSPC
    output.write_all(b"some text").unwrap();
    assert_eq!(code(output.close()), Some(28));
    assert_eq!(code(full().write_all(&vec![0; 1 << 20])), Some(28));
    let mut output = full();
    assert_eq!(output.region(0).err().unwrap().raw_os_error(), Some(22)); // EINVAL
    let mut region = output.region(5).unwrap();
    assert_eq!(region.write(b"123456").unwrap(), 5);
    assert_eq!(region.write(b"6").unwrap(), 0);
    assert_eq!(region.capacity(), 5);
    region.commit().unwrap();
    let file = Scratch::with("read-only", b"");
    let mut output = asf::Writer::new(File::open(&file.0).unwrap()).unwrap();
    output.write_all(b"text").unwrap();
    assert_eq!(code(output.close()), Some(9)); // EBADF
}

#[test]
fn leaks_are_only_leaks() {
    let file = Scratch::new("leaked");
    let mut output = asf::Writer::create(&file.0).unwrap();
    output.write_all(b"before").unwrap();
    std::mem::forget(output.region(100).unwrap());
    output.write_all(b"after").unwrap();
    assert_eq!(output.close().unwrap_err().raw_os_error(), Some(16)); // EBUSY
    assert_eq!(fs::read(&file.0).unwrap(), b"before");
}

/// Compares seeks with File's: gaps are zero bytes, and later bytes replace earlier ones.
#[test]
fn seeks_as_std() {
    for seed in seeds(100) {
        let mut random = Random::new(seed);
        let (one, other) = (Scratch::new("seek-ours"), Scratch::new("seek-expected"));
        let mut ours = asf::Writer::create(&one.0).unwrap();
        let mut expected = File::create(&other.0).unwrap();
        for step in 0..30 {
            let size = random.size() % 20_000;
            let text = random.text(size);
            ours.write_all(&text).unwrap();
            expected.write_all(&text).unwrap();
            let place = random.below(200_000) as i64;
            let to = match random.below(4) {
                0 => SeekFrom::Start(place as u64),
                1 => SeekFrom::End(place % 5000 - 2500),
                2 => SeekFrom::Current(place % 5000 - 2500),
                _ => SeekFrom::Current(0),
            };
            let said = ours.seek(to).map_err(|error| error.raw_os_error());
            let wanted = expected.seek(to).map_err(|error| error.raw_os_error());
            assert_eq!(said, wanted, "seed {seed}, step {step}, {to:?}");
            assert_eq!(ours.stream_position().unwrap(), expected.stream_position().unwrap());
        }
        ours.close().unwrap();
        assert!(fs::read(&one.0).unwrap() == fs::read(&other.0).unwrap(), "seed {seed}");
    }
}
