// SPDX-License-Identifier: MIT
//
// count_keys [-j N] FILE: counts the lines of a TSV by the key in the first column, and sums up the second
// column.  asf shows lines and fields in place.  -j N: uses N threads; 0: one for each processor.

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::io::AsFd;
use std::sync::Mutex;

type Keys = HashMap<Vec<u8>, (u64, i64)>;

fn number(field: Option<&[u8]>) -> i64 {
    field.and_then(|bytes| std::str::from_utf8(bytes).ok()?.parse().ok()).unwrap_or(0)
}

fn count<On>(input: &mut asf::Reader<On>, keys: &mut Keys) -> io::Result<()> {
    input.lines_in_place().for_each(|line| {
        let mut fields = asf::fields(line, b'\t');
        let key = fields.next().unwrap_or(line);
        let value = number(fields.next());
        if let Some((lines, sum)) = keys.get_mut(key) {
            *lines += 1;
            *sum += value;
        } else {
            keys.insert(key.to_vec(), (1, value));
        }
    })
}

/// Counts each part in its own table, and adds that table to the totals.
fn count_by_threads(path: &str, threads: usize) -> io::Result<Keys> {
    let all = Mutex::new(Keys::new());
    asf::each_part(path, &asf::Cut::default(), threads, |input, _part| {
        let mut found = Keys::new();
        count(input, &mut found)?;
        let mut all = all.lock().unwrap();
        for (key, (lines, sum)) in found {
            let total = all.entry(key).or_default();
            total.0 += lines;
            total.1 += sum;
        }
        Ok(())
    })?;
    Ok(all.into_inner().unwrap())
}

fn count_keys(path: &str, threads: Option<usize>) -> io::Result<()> {
    let mut keys = Keys::new();
    match threads {
        Some(threads) => keys = count_by_threads(path, threads)?,
        None => count(&mut asf::Reader::open(path)?, &mut keys)?,
    }
    let mut sorted: Vec<_> = keys.iter().collect();
    sorted.sort();
    let mut output = asf::Writer::new(io::stdout().as_fd().try_clone_to_owned()?)?;
    for (key, (lines, sum)) in sorted {
        output.write_all(key)?;
        writeln!(output, "\t{lines}\t{sum}")?;
    }
    output.close()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, threads) = match &arguments[..] {
        [path] => (path, None),
        [option, threads, path] if option == "-j" => (path, threads.parse().ok()),
        _ => {
            eprintln!("usage: count_keys [-j N] FILE");
            std::process::exit(2)
        }
    };
    if let Err(error) = count_keys(path, threads) {
        eprintln!("{path}: {error}");
        std::process::exit(1);
    }
}
