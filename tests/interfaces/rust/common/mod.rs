// SPDX-License-Identifier: MIT
//
// Shared by the crate's tests: random numbers, random texts, and temporary files.

use std::env;
use std::path::PathBuf;

/// xorshift64*: the same numbers for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    /// Returns a random size below 128 KB; all numbers of bits are about equally frequent.
    pub fn size(&mut self) -> usize {
        let most = 1 << self.below(18);
        self.below(most)
    }

    /// Returns at least `size` - 1 bytes of lines, which have any byte values.  The lines' lengths are of one
    /// kind or of all kinds.  In half of the texts the last line has no newline.
    pub fn text(&mut self, size: usize) -> Vec<u8> {
        const LONGEST: [usize; 6] = [2, 17, 60, 130, 5000, 200_000];
        let kind = self.below(LONGEST.len() + 1);
        let mut text = Vec::new();
        while text.len() < size {
            let most = LONGEST[if kind < LONGEST.len() { kind } else { self.below(LONGEST.len()) }];
            let length = self.below(most);
            text.extend(
                (0..length).map(|_| self.below(256) as u8).map(|byte| if byte == b'\n' { 0 } else { byte }),
            );
            text.push(b'\n');
        }
        if self.below(2) == 0 {
            text.pop();
        }
        text
    }
}

/// Returns the seeds of the rounds.  The first is ASF_RUST_SEED, by default 1.  Their number is
/// ASF_RUST_ROUNDS, by default `usual`.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let number = |name, usual| env::var(name).map_or(usual, |text| text.parse().expect(name));
    let (first, rounds) = (number("ASF_RUST_SEED", 1), number("ASF_RUST_ROUNDS", usual));
    println!("{rounds} rounds from seed {first}");
    first..first + rounds
}

/// The path of a temporary file, which is removed when this is dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        Scratch(env::temp_dir().join(format!("asf-rust-{}-{name}", std::process::id())))
    }

    pub fn with(name: &str, contents: &[u8]) -> Scratch {
        let scratch = Scratch::new(name);
        std::fs::write(&scratch.0, contents).unwrap();
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
