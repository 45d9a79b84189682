// SPDX-License-Identifier: MIT
//
// count_keys FILE: for each key, the first column of a TSV, how many lines have it and the sum of
// their second column, by asf: lines and fields are looked at where they lie.

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::io::AsFd;

fn number(field: Option<&[u8]>) -> i64 {
    field.and_then(|bytes| std::str::from_utf8(bytes).ok()?.parse().ok()).unwrap_or(0)
}

fn count_keys(path: &str) -> io::Result<()> {
    let mut input = asf::Reader::open(path)?;
    let mut keys: HashMap<Vec<u8>, (u64, i64)> = HashMap::new();
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
    })?;

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
    let path = std::env::args().nth(1).unwrap_or_else(|| {
        eprintln!("usage: count_keys FILE");
        std::process::exit(2)
    });
    if let Err(error) = count_keys(&path) {
        eprintln!("{path}: {error}");
        std::process::exit(1);
    }
}
