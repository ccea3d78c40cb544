//! The command `handlecheck`.

use std::process::ExitCode;

fn main() -> ExitCode {
    handlecheck::cli::main()
}
