//! `schema`: the JSON Schema of a kind of file, for editors.

use super::{Failure, Terminal, exit};
use crate::schema;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Of what: `scenario`, `design`, `protocol`, `trace`, `report`, `lock`, `difference`, `log` (of one line), `mapping`
    /// (of a log), `audit` (its report), `ablation` or `repairs`
    #[arg(value_name = "KIND", value_parser = clap::builder::PossibleValuesParser::new(schema::KINDS))]
    kind: String,
}

pub(super) fn run(arguments: &Arguments, _: Terminal, out: &mut String) -> Result<u8, Failure> {
    let schema = schema::of(&arguments.kind).expect("no other kind is taken");
    *out = serde_json::to_string_pretty(&schema).expect("a schema has string keys only") + "\n";
    Ok(exit::HOLDS)
}
