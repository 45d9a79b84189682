// SPDX-License-Identifier: MIT
//
// build.rs - links libasf: that of ASF_LIB_DIR, or else the one that pkg-config knows; its
// archive when ASF_STATIC is set.

use std::env;
use std::process::Command;

fn find_by_pkg_config() {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let said = match Command::new(program).args(["--libs-only-L", "asf"]).output() {
        Ok(said) => said,
        Err(_) => return, // there is no pkg-config: libasf may be where the linker looks
    };
    if !said.status.success() {
        panic!(
            "pkg-config does not know asf: install libasf, or set ASF_LIB_DIR to the directory that has it"
        );
    }
    for flag in String::from_utf8_lossy(&said.stdout).split_whitespace() {
        println!("cargo:rustc-link-search=native={}", flag.trim_start_matches("-L"));
    }
}

fn main() {
    for name in ["ASF_LIB_DIR", "ASF_STATIC", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let directory = env::var("ASF_LIB_DIR");
    match &directory {
        Ok(directory) => println!("cargo:rustc-link-search=native={directory}"),
        Err(_) => find_by_pkg_config(),
    }
    let archive = env::var_os("ASF_STATIC").is_some();
    println!("cargo:rustc-link-lib={}=asf", if archive { "static" } else { "dylib" });
    if let (true, Ok(directory)) = (archive, directory) {
        println!("cargo:rerun-if-changed={directory}/libasf.a");
    }
}
