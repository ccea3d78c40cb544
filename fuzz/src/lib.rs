//! What the fuzz targets do with bytes. `tests/fuzzed.rs` does the same with texts made from shipped files, so that it is
//! done in every run of the tests.

pub mod entries;
#[path = "../../tests/random/mod.rs"]
pub mod random;
