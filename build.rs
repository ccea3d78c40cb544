//! The shipped models are built into the binary. The compiler follows the files that it embeds, but not the folders:
//! without this, a model that is added would not appear until something else changes.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=models");
}
