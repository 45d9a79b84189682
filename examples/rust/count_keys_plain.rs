// SPDX-License-Identifier: MIT
//
// count_keys_plain FILE: does the same as count_keys, by the standard library.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

fn number(field: Option<&[u8]>) -> i64 {
    field.and_then(|bytes| std::str::from_utf8(bytes).ok()?.parse().ok()).unwrap_or(0)
}

fn count_keys(path: &str) -> io::Result<()> {
    let mut input = BufReader::new(File::open(path)?);
    let mut keys: HashMap<Vec<u8>, (u64, i64)> = HashMap::new();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let mut fields = text.split(|&byte| byte == b'\t');
        let key = fields.next().unwrap_or(text);
        let value = number(fields.next());
        if let Some((lines, sum)) = keys.get_mut(key) {
            *lines += 1;
            *sum += value;
        } else {
            keys.insert(key.to_vec(), (1, value));
        }
        line.clear();
    }

    let mut sorted: Vec<_> = keys.iter().collect();
    sorted.sort();
    let mut output = BufWriter::new(io::stdout().lock());
    for (key, (lines, sum)) in sorted {
        output.write_all(key)?;
        writeln!(output, "\t{lines}\t{sum}")?;
    }
    output.flush()
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
