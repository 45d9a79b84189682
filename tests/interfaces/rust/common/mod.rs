// SPDX-License-Identifier: MIT
//
// What the tests of the crate share: random numbers, texts, and files of a test's own.

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

    /// Of every size about as often.
    pub fn size(&mut self) -> usize {
        let most = 1 << self.below(18);
        self.below(most)
    }

    /// About `size` bytes of lines of one kind, or of all, with all bytes in them; the last one often
    /// without a newline.
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

/// How many rounds: ASF_RUST_ROUNDS, for a long run, or `usual`; with the first seed, ASF_RUST_SEED.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let number = |name, usual| env::var(name).map_or(usual, |text| text.parse().expect(name));
    let (first, rounds) = (number("ASF_RUST_SEED", 1), number("ASF_RUST_ROUNDS", usual));
    println!("{rounds} rounds from seed {first}");
    first..first + rounds
}

/// A path of a test's own, removed at its end.
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
