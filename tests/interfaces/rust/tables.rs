// SPDX-License-Identifier: MIT
//
// tables.rs - compares the numbers that asf::Writer writes and asf::Reader reads with std's format! and
// parse.

#[allow(dead_code)] // this test makes no random texts
mod common;

use asf::Column;
use common::{seeds, Random, Scratch};
use std::fs;
use std::io::{BufRead, Write};

fn bits(random: &mut Random) -> u64 {
    (random.below(1 << 31) as u64) << 33 ^ (random.below(1 << 31) as u64) << 11 ^ random.below(1 << 12) as u64
}

/// Returns a random integer; all numbers of digits are about equally frequent.
fn integer(random: &mut Random) -> i64 {
    let shift = random.below(64);
    bits(random) as i64 >> shift
}

/// Returns a double of random bits, or one with few digits, as people write them.
fn float(random: &mut Random) -> f64 {
    const EDGES: [f64; 8] = [0.0, -0.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, 1e22, f64::INFINITY, f64::NAN];
    match random.below(4) {
        0 => EDGES[random.below(EDGES.len())],
        1 => integer(random) as f64 / 1000.0,
        _ => f64::from_bits(bits(random)),
    }
}

fn same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
}

/// Writes rows of an integer, an unsigned integer and a float; std must write the same integers.
#[test]
fn digits_as_std() {
    for seed in seeds(50) {
        println!("seed {seed}");
        let (mut random, file) = (Random::new(seed), Scratch::new("digits"));
        let mut output = asf::Writer::create(&file.0).unwrap();
        let (mut expected, mut floats) = (String::new(), Vec::new());
        for _ in 0..random.size() / 16 {
            let (int, uint) = (integer(&mut random), bits(&mut random) >> random.below(64));
            floats.push(float(&mut random));
            expected += &format!("{int} {uint}\n");
            output.write_int(int).unwrap();
            output.write_all(b" ").unwrap();
            output.write_uint(uint).unwrap();
            output.write_all(b" ").unwrap();
            output.write_float(*floats.last().unwrap()).unwrap();
            output.write_all(b"\n").unwrap();
            if random.below(1000) == 0 {
                output.flush().unwrap();
            }
        }
        output.close().unwrap();
        let text = fs::read_to_string(&file.0).unwrap();
        assert_eq!(text.lines().count(), floats.len());
        for ((line, expected), value) in text.lines().zip(expected.lines()).zip(floats) {
            let (integers, float) = line.rsplit_once(' ').unwrap();
            assert_eq!(integers, expected);
            assert!(same(float.parse().unwrap(), value), "{float} {value}");
            let digits = |text: &str| text.split('e').next().unwrap().replace(['.', '-'], "");
            let short = |text: &str| digits(text).trim_matches('0').len();
            if value.is_finite() && value.abs() < 1e15 {
                assert_eq!(short(float), short(&format!("{value:e}")), "{float}");
            }
        }
    }
}

/// Reads columns in any order, in several calls, with other calls between these.
#[test]
fn columns_as_parsed() {
    for seed in seeds(50) {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let rows = random.size() / 8;
        let (mut small, mut large, mut real, mut text) = (vec![7], vec![8], vec![], String::new());
        for _ in 0..rows {
            small.push(integer(&mut random) as i32);
            large.push(integer(&mut random));
            real.push(float(&mut random));
            text += &format!(
                "{}\t{:e}\t\t{}\tx\n",
                large.last().unwrap(),
                real.last().unwrap(),
                small.last().unwrap()
            );
        }
        let file = Scratch::with("columns", (String::from("titles\n") + &text).as_bytes());
        let mut input = asf::Reader::open(&file.0).unwrap();
        let (mut got_small, mut got_large, mut got_real, mut got) = (vec![7], vec![8], vec![], 0);
        input.read_line(&mut String::new()).unwrap();
        loop {
            let most = if random.below(2) == 0 { 1 + random.size() } else { usize::MAX };
            let mut columns = [
                Column::Int32(3, &mut got_small),
                Column::Int(0, &mut got_large),
                Column::Float(1, &mut got_real),
            ];
            let more = input.read_columns(b'\t', &mut columns, most).unwrap();
            assert_eq!(more, most.min(rows - got));
            got += more;
            if more < most {
                break;
            }
        }
        assert_eq!((got_small, got_large), (small, large));
        assert_eq!(got_real.len(), real.len());
        assert!(got_real.iter().zip(&real).all(|(&one, &other)| same(one, other)));
    }
}

#[test]
fn errors_stand_before_their_line() {
    let file = Scratch::with("wrong", b"1\t2\n3\tx\n5\t99999999999\n6\n");
    let mut input = asf::Reader::open(&file.0).unwrap();
    let mut values = Vec::new();
    let mut line = String::new();
    for (code, wrong) in [(74, "3\tx\n"), (34, "5\t99999999999\n"), (74, "6\n")] {
        let error = input.read_columns(b'\t', &mut [Column::Int32(1, &mut values)], 9).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(code)); // EBADMSG, ERANGE
        line.clear();
        input.read_line(&mut line).unwrap();
        assert_eq!(line, wrong);
    }
    assert_eq!(values, [2]);
    assert_eq!(input.read_columns(b'\t', &mut [Column::Int32(1, &mut values)], 9).unwrap(), 0);
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let mut twice = [Column::Int(1, &mut one), Column::Float(1, &mut other)];
    assert_eq!(input.read_columns(b'\t', &mut twice, 1).unwrap_err().raw_os_error(), Some(22)); // EINVAL
    assert_eq!(input.read_columns(b'\t', &mut [], 1).unwrap_err().raw_os_error(), Some(22));
    assert_eq!(input.read_columns(b'\t', &mut twice, 0).unwrap(), 0);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut output = asf::Writer::new(full).unwrap();
    let failed = (0..1 << 20).find_map(|_| output.write_float(0.1).err()).unwrap();
    assert_eq!(failed.raw_os_error(), Some(28)); // ENOSPC
}
