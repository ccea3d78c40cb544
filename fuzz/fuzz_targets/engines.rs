#![no_main]

use handlecheck_fuzz::{entries, random};

libfuzzer_sys::fuzz_target!(|seed: u64| entries::engines(&random::texts(seed)));
