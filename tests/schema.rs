//! `schema`: every shipped file fits its schema, and what is misspelt does not.

mod common;

use std::path::Path;

use common::{files, handlecheck, read, root};
use serde_json::{Value, json};

/// As much of JSON Schema as our schemas use. A keyword that it does not know is a mistake of this test.
struct Schema(Value);

impl Schema {
    fn of(kind: &str) -> Self {
        let said = handlecheck(&root(), &["schema", kind]);
        assert_eq!((said.code, &*said.err), (0, ""));
        Self(serde_json::from_str(&said.out).expect("a schema is JSON"))
    }

    /// Why a value does not fit; `None`: it does.
    fn refuses(&self, value: &Value) -> Option<String> {
        self.check(&self.0, value, "").err()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let rules = schema.as_object().ok_or_else(|| format!("{at}: no schema"))?;
        for (keyword, rule) in rules {
            let holds = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" => true,
                "$ref" => {
                    let path = rule.as_str().and_then(|path| path.strip_prefix('#')).expect("references are local");
                    let target = self.0.pointer(path).unwrap_or_else(|| panic!("{path} is not there"));
                    self.check(target, value, at)?;
                    true
                }
                "type" => match rule {
                    Value::Array(types) => types.iter().any(|one| is(value, one)),
                    one => is(value, one),
                },
                "const" => value == rule,
                "enum" => list(rule).contains(value),
                "anyOf" => list(rule).iter().any(|one| self.check(one, value, at).is_ok()),
                "oneOf" => list(rule).iter().filter(|one| self.check(one, value, at).is_ok()).count() == 1,
                "not" => self.check(rule, value, at).is_err(),
                "pattern" => value.as_str().is_none_or(|text| match rule.as_str() {
                    Some(r"\S") => !text.trim().is_empty(),
                    Some("^(/|$)") => text.is_empty() || text.starts_with('/'),
                    Some(r"^[^\n]*\S[^\n]*\n?$") => !text.trim().is_empty() && !text.trim_end().contains('\n'),
                    other => panic!("this test does not know the pattern {other:?}"),
                }),
                "minimum" => value.as_i64().is_none_or(|number| number >= rule.as_i64().expect("a number")),
                "maximum" => value.as_i64().is_none_or(|number| number <= rule.as_i64().expect("a number")),
                "minItems" => value.as_array().is_none_or(|all| all.len() as u64 >= size(rule)),
                "minProperties" => value.as_object().is_none_or(|all| all.len() as u64 >= size(rule)),
                "maxProperties" => value.as_object().is_none_or(|all| all.len() as u64 <= size(rule)),
                "uniqueItems" => value
                    .as_array()
                    .is_none_or(|all| all.iter().enumerate().all(|(index, one)| !all[..index].contains(one))),
                "required" => value
                    .as_object()
                    .is_none_or(|all| list(rule).iter().all(|key| all.contains_key(key.as_str().expect("a key")))),
                "dependentRequired" => value.as_object().is_none_or(|all| {
                    let mut rules = rule.as_object().expect("an object").iter();
                    rules.all(|(key, others)| {
                        let others = list(others).iter().map(|key| key.as_str().expect("a key"));
                        !all.contains_key(key) || others.into_iter().all(|key| all.contains_key(key))
                    })
                }),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}/{index}"))?;
                    }
                    true
                }
                "properties" => {
                    for (key, one) in rule.as_object().expect("an object") {
                        if let Some(item) = value.get(key) {
                            self.check(one, item, &format!("{at}/{key}"))?;
                        }
                    }
                    true
                }
                "propertyNames" => {
                    for key in value.as_object().into_iter().flat_map(|all| all.keys()) {
                        self.check(rule, &json!(key), &format!("{at}/{key}"))?;
                    }
                    true
                }
                "additionalProperties" => {
                    let named = rules.get("properties").and_then(Value::as_object);
                    for (key, item) in value.as_object().into_iter().flatten() {
                        if named.is_some_and(|named| named.contains_key(key)) {
                            continue;
                        }
                        if rule == &json!(false) {
                            return Err(format!("{at}/{key}: no such key"));
                        }
                        self.check(rule, item, &format!("{at}/{key}"))?;
                    }
                    true
                }
                other => panic!("this test does not know the keyword {other}"),
            };
            if !holds {
                return Err(format!("{at}: {keyword} of {rule} refuses {value}"));
            }
        }
        Ok(())
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("this keyword takes a list")
}

fn size(value: &Value) -> u64 {
    value.as_u64().expect("this keyword takes a number")
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().expect("a type is a word") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("this test does not know the type {other}"),
    }
}

fn toml(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("it is TOML");
    serde_json::to_value(table).expect("every value is one of JSON")
}

fn kind_of(path: &str) -> &str {
    let folder = Path::new(path).parent().and_then(|folder| folder.file_name()).and_then(|name| name.to_str());
    match folder.expect("a model is in a folder") {
        "incidents" => path.trim_end_matches(".toml").rsplit('.').next().expect("there is a last part"),
        folder => folder.trim_end_matches('s'),
    }
}

#[test]
fn every_shipped_model_fits() {
    let mut seen = [0; 3];
    for (index, kind) in ["scenario", "design", "protocol"].into_iter().enumerate() {
        let schema = Schema::of(kind);
        for path in files("models", ".toml").iter().filter(|path| kind_of(path) == kind) {
            seen[index] += 1;
            assert_eq!(schema.refuses(&toml(&read(path))), None, "{path}");
        }
    }
    assert_eq!(seen.iter().sum::<usize>(), files("models", ".toml").len());
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn every_shipped_trace_fits() {
    let schema = Schema::of("trace");
    let traces = files("traces", ".json");
    assert!(!traces.is_empty());
    for path in traces {
        assert_eq!(schema.refuses(&serde_json::from_str(&read(&path)).expect("it is JSON")), None, "{path}");
    }
}

#[test]
fn a_report_fits() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let said = handlecheck(
        folder.path(),
        &["check", "-q", "two-agents-drop", "--design", "naive", "--design", "versioned", "--format", "json"],
    );
    let report: Value = serde_json::from_str(&said.out).expect("a report is JSON");
    let schema = Schema::of("report");
    assert_eq!(schema.refuses(&report), None);
    // What this command wrote: a trace of each break.
    let trace = Schema::of("trace");
    for entry in std::fs::read_dir(folder.path().join("traces")).expect("something is violated") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("it can be read");
        assert_eq!(trace.refuses(&serde_json::from_str(&text).expect("it is JSON")), None);
    }
}

#[test]
fn a_report_of_random_runs_fits() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let line = "simulate two-agents-drop -q --design naive --runs 50 --format json --rates drop-stream=0.2";
    let said = handlecheck(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
    let report: Value = serde_json::from_str(&said.out).expect("a report is JSON");
    assert_eq!(Schema::of("report").refuses(&report), None);
    assert_eq!(report["runs"][0]["seed"], 0);
}

#[test]
fn what_is_said_of_variants_and_costs_fits() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let lines = [
        ("ablation", "ablate two-agents-no-faults -q --design naive --format json"),
        ("repairs", "repair one-importer-2026 -q --design import-without-key --format json"),
        ("report", "compare two-agents-no-faults -q --design lease-around-write --runs 50 --format json"),
        ("report", "compare two-agents-no-faults -q --design naive --max-states 9 --runs 0 --format json"),
    ];
    for (kind, line) in lines {
        let said = handlecheck(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        let report: Value = serde_json::from_str(&said.out).expect("it is JSON");
        assert_eq!(Schema::of(kind).refuses(&report), None, "{line}");
        assert!(report["runs"][0]["design"].is_string(), "{line}");
    }
}

/// Whole, with findings, cycles, what could not be judged, and lines that could not be read.
#[test]
fn a_report_of_an_audit_fits() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let page = read("docs/audit.md");
    let shown = page.split("```jsonl calls.jsonl\n").nth(1).and_then(|rest| rest.split("```").next());
    let log = shown.expect("a log is shown").to_owned() + "{\n";
    std::fs::write(folder.path().join("log.jsonl"), &log).expect("it can be written");
    let said = handlecheck(folder.path(), &["audit", "-q", "log.jsonl", "--format", "json"]);
    let report: Value = serde_json::from_str(&said.out).expect("it is JSON");
    let schema = Schema::of("audit");
    assert_eq!(schema.refuses(&report), None);
    assert_eq!((said.code, &report["malformed"]), (1, &json!(1)));
    for (pointer, wrong) in
        [("/lines", json!(-1)), ("/checks/0/verdict", json!("fine")), ("/checks/0/name", json!("x"))]
    {
        let mut other = report.clone();
        *other.pointer_mut(pointer).expect("it is there") = wrong;
        assert!(schema.refuses(&other).is_some(), "{pointer}");
    }
}

#[test]
fn a_lock_fits() {
    assert_eq!(Schema::of("lock").refuses(&toml(&read("models/handlecheck.lock"))), None);
}

#[test]
fn what_changed_fits() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let schema = Schema::of("difference");
    for (old, new, code) in [("naive", "versioned", 0), ("versioned", "naive", 1)] {
        let said = handlecheck(folder.path(), &["diff", "-q", old, new, "--format", "json"]);
        assert_eq!(said.code, code, "{}", said.err);
        let changes: Value = serde_json::from_str(&said.out).expect("it is JSON");
        assert_eq!(schema.refuses(&changes), None);
        assert!(!changes["changes"].as_array().expect("a list").is_empty());
    }
}

/// The canary: what is wrong does not fit.
#[test]
fn what_is_misspelt_does_not_fit() {
    let design = Schema::of("design");
    let refused = |schema: &Schema, text: &str| assert!(schema.refuses(&toml(text)).is_some(), "{text}");
    let read = "[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n";
    assert_eq!(design.refuses(&toml(read)), None);
    for wrong in [
        "[server]\nstate = \"stroe\"",
        "[server.keys]\nscoop = []",
        "[client]\npayload = \"all\"",
        "[client]\nattempts = 0",
        "[client.on]\nstale-veiw = { tell = \"ok\" }",
        "[client.on]\nstale-view = { send = \"same\", tell = \"ok\" }",
        "[client.on]\nstale-view = { send = \"replan\", if = \"disjoint\" }",
        "[server.write]\ntransactions = [[\"aply\"]]",
    ] {
        let text = if wrong.starts_with("[server]") { format!("{wrong}\n{read}") } else { format!("{read}{wrong}") };
        refused(&design, &text);
    }
    refused(&design, "[server]\nstate = \"store\"");
    let scenario = Schema::of("scenario");
    let agent = "[agents.A]\nprincipal = \"u\"\n";
    assert_eq!(scenario.refuses(&toml(&format!("nodes = 1\n{agent}work = [{{ read = \"x\" }}]"))), None);
    for wrong in [
        format!("nodes = 9\n{agent}"),
        format!("nodes = 1\n{agent}work = [{{ raed = \"x\" }}]"),
        format!("nodes = 1\n{agent}work = [{{ set = \"x\", read = \"x\" }}]"),
        format!("nodes = 1\n{agent}parent = \"B\""),
        format!("nodes = 1\n{agent}[faults]\ndrop-steam = 1"),
    ] {
        refused(&scenario, &wrong);
    }
    refused(&Schema::of("protocol"), "resumable = \"never\"");
}

/// The mappings in `docs/audit.md` fit the schema and are read; what is misspelt does neither.
#[test]
fn every_mapping_that_is_shown_fits_and_is_read() {
    use handlecheck::audit::mapping::Mapping;
    let page = read("docs/audit.md");
    let schema = Schema::of("mapping");
    let shown: Vec<&str> = page.split("```toml ").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(shown.len(), 3);
    for block in shown {
        let (name, text) = block.split_once('\n').expect("it begins with a name");
        assert_eq!(schema.refuses(&toml(text)), None, "{name}");
        assert!(Mapping::read(name, text).is_ok(), "{name}");
    }
    let base = "[call]\nsent = \"/at\"\nagent = \"/who\"\ntool = \"/tool\"\n";
    for (right, wrong) in [
        ("does = \"set\"", "does = \"sett\""),
        ("handle = [\"/a\", \"/b\"]", "handle = \"a\""),
        ("fields = { m = { is = 1 } }", "fields = { m = { si = 1 } }"),
        ("given = [\"/a\", { is = \"b\" }]", "given = 7"),
        ("also = { does = \"append\", handle = \"/to\" }", "also = { does = \"delete\", handle = \"/to\" }"),
        ("also = { does = \"append\", handle = \"/to\" }", "also = { does = \"append\" }"),
        ("if = { expression = \"/if\", names = { q = \"/q\" } }", "if = { expression = \"/if\" }"),
    ] {
        for (key, fits) in [(right, true), (wrong, false)] {
            let does = if key.starts_with("does") { "" } else { "does = \"set\"\n" };
            let text = format!("{base}[tools.t]\n{does}{key}\n");
            assert_eq!(schema.refuses(&toml(&text)).is_none(), fits, "{text}");
            assert_eq!(Mapping::read("mapping", &text).is_ok(), fits, "{text}");
        }
    }
}

/// The example in `docs/log.md` fits the schema, is read, and is written as it was.
#[test]
fn every_line_of_the_log_that_is_shown_fits_and_is_read() {
    use handlecheck::log::Line;
    let page = read("docs/log.md");
    let shown = page.split("```jsonl log\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a log is shown");
    let schema = Schema::of("log");
    let mut kinds = std::collections::BTreeSet::new();
    for text in shown.lines() {
        let value: Value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(schema.refuses(&value), None, "{text}");
        let line = Line::from_json(text).expect("it is a line");
        assert_eq!(serde_json::from_str::<Value>(&line.to_json()).expect("it is JSON"), value);
        kinds.insert(value["type"].as_str().expect("a word").to_owned());
    }
    assert_eq!(kinds.len(), 6, "every kind of line is shown: {kinds:?}");
}

/// The canary for lines of a log, by the schema and by the reader.
#[test]
fn a_line_that_is_misspelt_is_no_line() {
    use handlecheck::log::Line;
    let schema = Schema::of("log");
    let call = json!({ "type": "call", "sent": 1, "agent": "A", "tool": "read" });
    assert_eq!(schema.refuses(&call), None);
    for (key, wrong) in [
        ("sent", json!(-1)),
        ("sent", json!("1")),
        ("agent", json!(null)),
        ("tool", json!("reed")),
        ("type", json!("cal")),
        ("recieved", json!(2)),
        ("answer", json!({ "outcome": "okay" })),
        ("answer", json!({})),
        ("expects", json!({ "x": -1 })),
    ] {
        let mut line = call.clone();
        line[key] = wrong;
        assert!(schema.refuses(&line).is_some(), "{line}");
        assert!(Line::from_json(&line.to_string()).is_err(), "{line}");
    }
    let error = Line::from_json(r#"{"type":"call","sent":1,"agent":"A","tool":"reed"}"#).expect_err("no such tool");
    assert!(error.to_string().contains("there is no tool `reed`; did you mean `read`?"), "{error}");
}
