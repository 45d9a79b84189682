// SPDX-License-Identifier: MIT
//
// build.rs - links libasf from ASF_LIB_DIR, or else the one that pkg-config finds.  If ASF_STATIC is set, it
// links the archive.  It refuses a libasf whose interface is not the crate's.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs pkg-config with an option, and returns its output.  Without pkg-config the linker may still find
/// libasf.
fn ask_pkg_config(option: &str) -> Option<String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let said = Command::new(program).args([option, "asf"]).output().ok()?;
    if !said.status.success() {
        panic!(
            "pkg-config does not know asf: install libasf, or set ASF_LIB_DIR to the directory that has it"
        );
    }
    Some(String::from_utf8_lossy(&said.stdout).trim().into())
}

/// Returns the version of the library in a directory: `libasf.so.0` is a link, and the file's name ends in
/// the version.
fn version_in(directory: &str) -> Option<String> {
    let file = fs::read_link(Path::new(directory).join("libasf.so.0")).ok()?;
    Some(file.to_str()?.strip_prefix("libasf.so.")?.into())
}

/// Refuses another minor number, which means another interface, and a version that is older than the crate's.
fn check_version(found: &str) {
    let wanted = env!("CARGO_PKG_VERSION");
    let numbers = |text: &str| -> Vec<u32> { text.split('.').filter_map(|part| part.parse().ok()).collect() };
    let (has, wants) = (numbers(found), numbers(wanted));
    if has.len() != 3 || has[..2] != wants[..2] || has[2] < wants[2] {
        panic!("libasf is of version {found}, and this crate is for {wanted}: install libasf {wanted}");
    }
}

fn main() {
    for name in ["ASF_LIB_DIR", "ASF_STATIC", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let directory = env::var("ASF_LIB_DIR").ok();
    let found = match &directory {
        Some(directory) => version_in(directory),
        None => ask_pkg_config("--modversion"),
    };
    if let Some(version) = found {
        check_version(&version);
    }
    match &directory {
        Some(directory) => println!("cargo:rustc-link-search=native={directory}"),
        None => ask_pkg_config("--libs-only-L")
            .iter()
            .flat_map(|said| said.split_whitespace())
            .for_each(|flag| println!("cargo:rustc-link-search=native={}", flag.trim_start_matches("-L"))),
    }
    let archive = env::var_os("ASF_STATIC").is_some();
    println!("cargo:rustc-link-lib={}=asf", if archive { "static" } else { "dylib" });
    if let (true, Some(directory)) = (archive, directory) {
        println!("cargo:rerun-if-changed={directory}/libasf.a");
    }
}
