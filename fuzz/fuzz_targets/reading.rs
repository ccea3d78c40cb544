#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| handlecheck_fuzz::entries::reading(bytes));
