// SPDX-License-Identifier: MIT
//
// rust_bench [--dir DIR] [--pairs N] [--once TASK SIDE FILE]: runs each task by the standard library and by
// asf, in pairs whose order alternates.  Prints tables in Markdown: the median nanoseconds of user and system
// time and of elapsed time, and the median of the pairs' ratios.  Fails if the two sides find different data.
// --once runs one task once, so that its instructions can be counted.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::time::Instant;

/// A task's result: the number of lines, fields or records, and a sum of their contents.
type Tally = (u64, u64);
type Side = fn(&str) -> io::Result<Tally>;

#[inline]
fn add(tally: &mut Tally, bytes: &[u8]) {
    tally.0 += 1;
    tally.1 += bytes.len() as u64 + u64::from(*bytes.first().unwrap_or(&0));
}

fn std_lines(path: &str) -> io::Result<Tally> {
    let mut tally = (0, 0);
    let mut input = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        add(&mut tally, line.strip_suffix(b"\n").unwrap_or(&line));
        line.clear();
    }
    Ok(tally)
}

fn asf_lines_of(mut input: asf::Reader) -> io::Result<Tally> {
    let mut tally = (0, 0);
    input.lines_in_place().for_each(|line| add(&mut tally, line))?;
    Ok(tally)
}

fn asf_lines(path: &str) -> io::Result<Tally> {
    asf_lines_of(asf::Reader::open(path)?)
}

fn asf_lines_mapped(path: &str) -> io::Result<Tally> {
    // SAFETY: the file is this program's own, and is not written any more.
    asf_lines_of(unsafe { asf::Reader::mapped(File::open(path)?)? })
}

fn asf_read_until(path: &str) -> io::Result<Tally> {
    let mut tally = (0, 0);
    let mut input = asf::Reader::open(path)?;
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        add(&mut tally, line.strip_suffix(b"\n").unwrap_or(&line));
        line.clear();
    }
    Ok(tally)
}

fn std_fields(path: &str) -> io::Result<Tally> {
    let mut tally = (0, 0);
    let mut input = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        line.strip_suffix(b"\n")
            .unwrap_or(&line)
            .split(|&byte| byte == b' ')
            .for_each(|f| add(&mut tally, f));
        line.clear();
    }
    Ok(tally)
}

fn asf_fields(path: &str) -> io::Result<Tally> {
    let mut tally = (0, 0);
    asf::Reader::open(path)?
        .lines_in_place()
        .for_each(|line| asf::fields(line, b' ').for_each(|field| add(&mut tally, field)))?;
    Ok(tally)
}

/// Writes 16 MB of lines, whose length is the number at the end of the file's name.
fn write_to(path: &str, output: &mut impl Write) -> io::Result<()> {
    let length: usize = path.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(10);
    let line = vec![b'x'; length];
    for _ in 0..(16 << 20) / (length + 1) {
        output.write_all(&line)?;
        output.write_all(b"\n")?;
    }
    output.flush()
}

fn written(path: &str) -> io::Result<Tally> {
    let length = fs::metadata(path)?.len();
    fs::remove_file(path)?;
    Ok((length, length))
}

fn std_write(path: &str) -> io::Result<Tally> {
    write_to(path, &mut BufWriter::new(File::create(path)?))?;
    written(path)
}

fn asf_write(path: &str) -> io::Result<Tally> {
    write_to(path, &mut asf::Writer::create(path)?)?;
    written(path)
}

const TASKS: [(&str, Side, Side); 5] = [
    ("lines: BufReader::read_until, lines_in_place", std_lines, asf_lines),
    ("lines: BufReader::read_until, lines_in_place of a mapped file", std_lines, asf_lines_mapped),
    ("lines: read_until of BufReader and of asf::Reader", std_lines, asf_read_until),
    ("fields: split of a line of read_until, asf::fields of lines_in_place", std_fields, asf_fields),
    ("writing lines: BufWriter, asf::Writer", std_write, asf_write),
];
const WRITING: usize = 4;

/// Makes lines of random lengths: words separated by blanks.
fn make_text(path: &str, size: usize, shortest: u64, longest: u64) -> io::Result<()> {
    let mut text = Vec::with_capacity(size);
    let mut state = 20240301;
    let mut random = |n: u64| {
        state = state * 16807 % 2147483647;
        state % n
    };
    let mut left = size;
    while left > 0 {
        let length = left.min((shortest + random(longest - shortest + 1) + 1) as usize);
        text.extend((1..length).map(|_| if random(7) == 0 { b' ' } else { b'a' + random(26) as u8 }));
        text.push(b'\n');
        left -= length;
    }
    fs::write(path, text)
}

#[repr(C)]
struct Timespec(i64, i64);

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

/// User and system time of this process, ns.
fn cpu() -> f64 {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    let mut time = Timespec(0, 0);
    // SAFETY: the struct has the layout of libc's struct timespec on 64-bit Linux.
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.0 as f64 * 1e9 + time.1 as f64
}

/// Returns ns of CPU and elapsed time a run, over enough runs to be measurable.
fn timed(side: Side, path: &str, runs: u32, tally: &mut Tally) -> io::Result<[f64; 2]> {
    let (start, start_cpu) = (Instant::now(), cpu());
    for _ in 0..runs {
        *tally = side(path)?;
    }
    let each = f64::from(runs) * tally.0 as f64;
    Ok([(cpu() - start_cpu) / each, start.elapsed().as_nanos() as f64 / each])
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn compare(sides: [Side; 2], path: &str, runs: u32, pairs: usize) -> io::Result<String> {
    let mut times: [[Vec<f64>; 2]; 2] = Default::default();
    let mut tallies = [(0, 0); 2];
    for pair in 0..=pairs {
        for which in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
            let [cpu, elapsed] = timed(sides[which], path, runs, &mut tallies[which])?;
            if pair > 0 {
                times[which][0].push(cpu);
                times[which][1].push(elapsed);
            }
        }
        assert_eq!(tallies[0], tallies[1], "{path}: the two sides differ");
    }
    let mut cells = String::new();
    for (before, ours) in times[0].iter().zip(&times[1]) {
        let ratios = before.iter().zip(ours).map(|(a, b)| a / b).collect();
        cells += &format!(
            " {:.2} | {:.2} | {:.2} |",
            median(before.clone()),
            median(ours.clone()),
            median(ratios)
        );
    }
    Ok(cells)
}

/// Name, size in bytes, and the shortest and longest lines.
const INPUTS: [(&str, usize, u64, u64); 8] = [
    ("1 MB, lines of 4 to 14 B", 1 << 20, 4, 14),
    ("1 MB, 20 to 200 B", 1 << 20, 20, 200),
    ("1 MB, 100 B", 1 << 20, 100, 100),
    ("1 MB, 1 to 3 KB", 1 << 20, 1000, 3000),
    ("100 MB, 4 to 14 B", 100 << 20, 4, 14),
    ("100 MB, 20 to 200 B", 100 << 20, 20, 200),
    ("100 MB, 100 B", 100 << 20, 100, 100),
    ("100 MB, 1 to 3 KB", 100 << 20, 1000, 3000),
];

fn table(task: usize, directory: &str, pairs: usize) -> io::Result<()> {
    let (title, before, ours) = TASKS[task];
    println!("\n{title}\n\n| ns each | CPU, std | asf | ratio | elapsed, std | asf | ratio |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    if task == WRITING {
        for length in [10, 100, 2000] {
            let path = format!("{directory}/rust_bench-out-{length}");
            println!("| a byte, lines of {length} B |{}", compare([before, ours], &path, 1, pairs)?);
        }
        return Ok(());
    }
    for (i, (name, size, ..)) in INPUTS.iter().enumerate() {
        let runs = if *size > 1 << 20 { 1 } else { 30 };
        let path = format!("{directory}/rust_bench-{i}");
        println!("| {name} |{}", compare([before, ours], &path, runs, pairs)?);
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let (mut directory, mut pairs) = (String::from("/tmp"), 15);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
        match name.as_str() {
            "--dir" => directory = value(),
            "--pairs" => pairs = value().parse().expect("--pairs N"),
            "--once" => {
                let (task, side) = (value().parse::<usize>().expect("a task"), value());
                let (_, before, ours) = TASKS[task];
                println!("{:?}", if side == "std" { before(&value())? } else { ours(&value())? });
                return Ok(());
            }
            _ => panic!("{name}: no such option"),
        }
    }
    for (i, (_, size, shortest, longest)) in INPUTS.into_iter().enumerate() {
        make_text(&format!("{directory}/rust_bench-{i}"), size, shortest, longest)?;
    }
    println!("asf {}, {pairs} pairs", asf::version());
    (0..TASKS.len()).try_for_each(|task| table(task, &directory, pairs))?;
    (0..INPUTS.len()).try_for_each(|i| fs::remove_file(format!("{directory}/rust_bench-{i}")))
}
