//! The command: exit codes, formats, pictures, mappings, and lines that can't be read.

use std::fs;

use handlecheck::diagrams::FORMATS;
use serde_json::Value;

use super::common::{Said, handlecheck};

/// Two agents read v7, and both write it back.
pub const LOST: &str = r#"{"type":"state","at":0,"handle":"bsk_42","owner":"u","version":7,"fields":{"memory":16}}
{"type":"call","id":"A-1","sent":1,"received":2,"agent":"A","principal":"u","tool":"read","handle":"bsk_42","answer":{"outcome":"ok","version":7,"fields":{"memory":16}}}
{"type":"call","id":"B-1","sent":1,"received":3,"agent":"B","principal":"u","tool":"read","handle":"bsk_42","answer":{"outcome":"ok","version":7,"fields":{"memory":16}}}
{"type":"call","id":"A-2","sent":4,"received":5,"agent":"A","principal":"u","tool":"set","handle":"bsk_42","fields":{"memory":32},"answer":{"outcome":"ok","version":8}}
{"type":"call","id":"B-2","sent":6,"received":7,"agent":"B","principal":"u","tool":"set","handle":"bsk_42","fields":{"memory":16},"answer":{"outcome":"ok","version":9}}
"#;

pub fn audit(files: &[(&str, &str)], line: &str) -> Said {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    let arguments: Vec<&str> = ["audit", "-q"].into_iter().chain(line.split(' ')).collect();
    handlecheck(folder.path(), &arguments)
}

#[test]
fn a_report_for_people_and_for_programs() {
    let said = audit(&[("log.jsonl", LOST)], "log.jsonl --check no-lost-update --check serializable");
    assert_eq!((said.code, &*said.err), (1, ""));
    snapbox::assert_data_eq!(
        &said.out,
        snapbox::str![[r#"
log.jsonl: 4 calls on 1 resource in 5 lines
  violated     no-lost-update  judged on 1
  violated     serializable    judged on 5

  no-lost-update: no accepted change is erased by a write whose author had not seen it
    - B set memory of bsk_42 to 16, having seen v7 (B-2, line 5), and erased A's set of memory 32 (A-2, line
      4), which it had not seen: lost update (P4).
    anomaly: lost update (P4): Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995

  serializable: some order of all calls, one after the other, explains what everyone saw
    - no order explains 2 calls: lost update (P4, G-single).
      1. B's set (B-2, line 5) had seen memory of bsk_42 as it was before A's set (A-2, line 4) changed it as
        v8 (read-write)
      2. A's set (A-2, line 4) changed memory of bsk_42 as v8 before B's set (B-2, line 5) changed it as v9
        (write-write)
    anomaly: G0, G1, G-single or G2-item: Adya, Weak Consistency, 1999; Kingsbury and Alvaro, Elle, 2020;
      fractured read: Bailis et al., Scalable Atomic Visibility with RAMP Transactions, 2014

"#]]
    );
    let said = audit(&[("log.jsonl", LOST)], "log.jsonl --format json");
    let report: Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(report["checks"][0]["verdict"], "violated");
    assert_eq!(report["checks"][0]["findings"][0]["lines"], serde_json::json!([3, 4, 5]));
    let said = audit(&[("log.jsonl", LOST)], "log.jsonl --format markdown --check no-lost-update");
    assert!(said.out.contains("| `no-lost-update` | violated | judged on 1 |"), "{}", said.out);
    assert!(said.out.contains(r"- B set memory of bsk\_42 to 16"), "{}", said.out);
}

/// Every format draws a finding, and text shows who wrote over whom.
#[test]
fn a_finding_is_drawn_in_every_format() {
    for format in FORMATS {
        let line = format!("log.jsonl --diagram {} -o picture", format.name);
        let said = audit(&[("log.jsonl", LOST)], &line);
        assert_eq!((said.code, &*said.err, &*said.out), (1, "", ""), "{}", format.name);
    }
    let said = audit(&[("log.jsonl", LOST)], "log.jsonl --diagram text");
    for part in ["Lost update", "Calls of log.jsonl", "write memory 16", "v9", "handlecheck audit log.jsonl"] {
        assert!(said.out.contains(part) || part == "write memory 16", "{part}\n{}", said.out);
    }
    let said = audit(&[("log.jsonl", LOST)], "log.jsonl --diagram text --finding 40");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("there is no finding 40"), "{}", said.err);
}

#[test]
fn lines_that_can_not_be_read_are_counted_and_named() {
    let log = format!("{{\n\n{}nonsense\n", LOST.lines().take(2).collect::<Vec<_>>().join("\n") + "\n");
    let said = audit(&[("log.jsonl", &log)], "log.jsonl");
    assert_eq!(said.code, 3);
    for part in ["2 lines could not be read", "line 1: EOF while parsing", "line 5: expected"] {
        assert!(said.out.contains(part), "{part}\n{}", said.out);
    }
    let backwards =
        r#"{"type":"call","sent":5,"received":4,"agent":"A","tool":"read","handle":"x","answer":{"outcome":"ok"}}"#;
    let said = audit(&[("log.jsonl", backwards)], "log.jsonl");
    assert!(said.out.contains("line 1: the call ends before it is sent"), "{}", said.out);
    // A bad line hides nothing: what is violated stays so.
    let said = audit(&[("log.jsonl", &format!("{LOST}nonsense\n"))], "log.jsonl");
    assert_eq!(said.code, 1);
}

#[test]
fn the_exit_code_says_what_came_out() {
    let one = LOST.lines().nth(1).expect("a read");
    assert_eq!(audit(&[("log", one)], "log --check version-names-one-content").code, 0);
    assert_eq!(audit(&[("log", one)], "log --check version-names-one-content --deny-vacuous").code, 4);
    let unversioned = r#"{"type":"call","sent":1,"received":2,"agent":"A","tool":"set","handle":"x","fields":{"m":1},"answer":{"outcome":"ok"}}"#;
    let said = audit(&[("log", unversioned)], "log --check serializable");
    assert_eq!(said.code, 3);
    assert!(said.out.contains("can't be judged (1 in question)"), "{}", said.out);
    assert!(said.out.contains("1: neither versions nor lists tell an order"), "{}", said.out);
    assert_eq!(audit(&[], "nowhere").code, 2);
    let said = audit(&[("log", one)], "log --check no-lost-updat");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("did you mean `no-lost-update`?"), "{}", said.err);
}

/// A foreign log with a line for each request and another for each answer, as MCP has them.
/// A mapping tells all of its mistakes at once, each with the nearest word; a line of a log tells its own in our words.
#[test]
fn mistakes_in_a_mapping_and_in_a_line_are_told_with_what_was_meant() {
    let mapping = r#"
[call]
sent = "/at"
recieved = "/done"
agent = "/who"
tool = "/tool"

[tools.put]
does = "apend"

[outcomes]
done = "okay"
"#;
    let said = audit(&[("log", "{}"), ("mapping.toml", mapping)], "log --mapping mapping.toml");
    assert_eq!(said.code, 2, "{}", said.out);
    for part in [
        "unknown key `recieved`",
        "did you mean `received`?",
        "there is no tool `apend`",
        "did you mean `append`?",
        "there is no outcome `okay`",
        "expected `ok`,",
    ] {
        assert!(said.err.contains(part), "{part}\n{}", said.err);
    }
    let cal = LOST.replacen("\"type\":\"call\"", "\"type\":\"cal\"", 1);
    let said = audit(&[("log", &cal)], "log");
    assert!(said.out.contains("unknown word `cal`"), "{}", said.out);
    assert!(said.out.contains("did you mean `call`?"), "{}", said.out);
    let only = r#"{"type":"cal"}"#;
    let said = audit(&[("log", only)], "log");
    assert!(said.out.contains("nothing is about it in what could be read; 1 line could not be"), "{}", said.out);
}

#[test]
fn a_mapping_reads_a_foreign_log() {
    let mapping = r#"
times = "seconds"

[join]
by = ["/client", "/message/id"]
request = { "/message/method" = "tools/call" }
answer = { "/message/result" = "*" }

[call]
sent = "/request/at"
received = "/answer/at"
agent = "/request/client"
tool = "/request/message/params/name"
outcome = "/answer/message/result/isError"

[outcomes]
false = "ok"
none = "ok"
true = "refused"

[tools.create_entities]
does = "append"
handle = { is = "graph" }
fields = { entities = "/request/message/params/arguments/entities/*/name" }

[tools.read_graph]
does = "read"
handle = { is = "graph" }
shows = { entities = "/answer/message/result/content/0/text/entities/*/name" }
"#;
    let create = |client: &str, at: &str, id: u32, name: &str| {
        format!(
            r#"{{"client":"{client}","at":{at},"message":{{"id":{id},"method":"tools/call","params":{{"name":"create_entities","arguments":{{"entities":[{{"name":"{name}"}}]}}}}}}}}"#
        )
    };
    let done = |client: &str, at: &str, id: u32| {
        format!(r#"{{"client":"{client}","at":{at},"message":{{"id":{id},"result":{{"isError":false}}}}}}"#)
    };
    let log = [
        create("editor", "1.0", 1, "Ada"),
        create("terminal", "1.1", 1, "Bob"),
        done("editor", "1.5", 1),
        done("terminal", "1.6", 1),
        r#"{"client":"editor","at":2.0,"message":{"id":2,"method":"tools/call","params":{"name":"read_graph","arguments":{}}}}"#.to_owned(),
        r#"{"client":"editor","at":2.1,"message":{"id":2,"result":{"content":[{"type":"text","text":"{\"entities\":[{\"name\":\"Bob\"}]}"}]}}}"#.to_owned(),
        r#"{"client":"editor","at":2.2,"message":{"method":"notifications/progress"}}"#.to_owned(),
    ];
    let files = [("log", &*log.join("\n")), ("map.toml", mapping)];
    let said = audit(&files, "log --mapping map.toml --check no-lost-update");
    assert_eq!((said.code, &*said.err), (1, ""), "{}", said.out);
    let says = "editor's append of entities [\"Ada\"] on graph was acknowledged (line 3)";
    assert!(said.out.contains(says), "{}", said.out);
    assert!(said.out.contains("3 calls on 1 resource in 7 lines, 1 line left out by the mapping"), "{}", said.out);
    let said = audit(&[("log", ""), ("map.toml", "[call]\nsent = \"at\"\n")], "log --mapping map.toml");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("map.toml") && said.err.contains("expected a JSON pointer"), "{}", said.err);
}

/// A log in which each call is a line, of a server with entity tags: two writes expect the same one.
pub const TAGGED: &str = r#"{"started":10,"ended":14,"kind":"tool","session":"A","tool":"get","arguments":{"id":"d"},"status":200,"result":{"etag":"a","body":{"t":"x"}}}
{"started":15,"ended":16,"kind":"tool","session":"B","tool":"get","arguments":{"id":"d"},"status":200,"result":{"etag":"a","body":{"t":"x"}}}
{"started":20,"ended":24,"kind":"tool","session":"A","tool":"put","arguments":{"id":"d","body":{"t":"y"},"if_match":"a"},"status":200,"result":{"etag":"b"}}
{"started":30,"ended":34,"kind":"tool","session":"B","tool":"put","arguments":{"id":"d","body":{"t":"z"},"if_match":"a"},"status":200,"result":{"etag":"c"}}
"#;
pub const OF_TAGGED: &str = r#"only = { "/kind" = "tool" }
[call]
sent = "/started"
received = "/ended"
agent = "/session"
tool = "/tool"
outcome = "/status"
[outcomes]
200 = "ok"
[tools.get]
does = "read"
handle = "/arguments/id"
version = "/result/etag"
shows = "/result/body"
[tools.put]
does = "set"
handle = "/arguments/id"
fields = "/arguments/body"
expects = "/arguments/if_match"
version = "/result/etag"
"#;

/// A slip in a mapping is seen: what it looks for and no line has, and which checks say nothing for lack of it.
#[test]
fn what_of_a_mapping_leads_nowhere_is_said() {
    let with = |from: &str, to: &str, more: &str| {
        assert!(OF_TAGGED.contains(from), "{from}");
        let mapping = OF_TAGGED.replace(from, to);
        audit(&[("log", TAGGED), ("map.toml", &mapping)], &format!("log --mapping map.toml{more}"))
    };
    let right = with("only", "only", "");
    assert_eq!((right.code, right.out.contains("warning")), (1, false), "{}", right.out);
    for (from, to, code, warning) in [
        ("/kind", "/knd", Some(3), "`only` wants `\"tool\"` at `/knd`, which no line has"),
        ("= \"tool\" }", "= \"tol\" }", Some(3), "`only` wants `\"tol\"` at `/kind`, which no line has"),
        ("only", "only", Some(1), ""),
        (
            "if_match",
            "ifmatch",
            Some(1),
            "`tools.put.expects` looks at `/arguments/ifmatch`, where no call of it has anything, and nothing is about \
             `no-stale-commit`",
        ),
        ("[tools.put]", "[tools.putt]", Some(3), "no call is of the tool `putt`; did you mean `put`?"),
        ("[tools.put]", "[tools.putt]", Some(3), "whose calls are left out: `put` (2)"),
        (
            "fields = \"/arguments/body\"",
            "fields = { t = \"/arguments/bdy/t\" }",
            None,
            "`tools.put.fields.t` looks at",
        ),
        (
            "received = \"/ended\"",
            "received = \"/end\"",
            None,
            "`call.received` looks at `/end`, where no call has anything",
        ),
        (
            "agent",
            "key = [\"/k\", \"/a~1b\"]\nagent",
            Some(1),
            "`call.key` looks at `/k`, `/a~1b`, where no call has anything",
        ),
    ] {
        let said = with(from, to, "");
        let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(warning), "{from} -> {to}: {}", said.out);
        assert!(code.is_none_or(|code| said.code == code), "{from} -> {to}: {}", said.out);
    }
    let nothing = with("/kind", "/knd", "");
    assert!(nothing.out.contains("warning: there is no call in it: nothing was judged"), "{}", nothing.out);
    let report: Value = serde_json::from_str(&with("/kind", "/knd", " --format json").out).expect("it is JSON");
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(4), "{report}");
    assert_eq!(audit(&[("log", "")], "log").code, 3, "nor does an empty log prove anything");
}

/// A bank's log: transfers between two accounts, and statements of both.
const BANK: &str = r#"{"op":"transfer","at":10,"done":90,"session":"A","args":{"from":"a","to":"b","mandate":"m","seen":{"a":1,"b":1,"m":3}},"result":{"debited":-5,"credited":5,"from_version":2,"to_version":2}}
{"op":"statement","at":20,"done":30,"session":"B","args":{"accounts":["a","b"]},"result":[{"version":2,"fields":{"balance":95}},{"version":1,"fields":{"balance":100}}]}
{"op":"amend","at":5,"done":6,"session":"C","args":{"mandate":"m"},"result":{"version":4}}
"#;
const OF_BANK: &str = r#"versions-count = true
[call]
sent = "/at"
received = "/done"
agent = "/session"
tool = "/op"
[tools.transfer]
does = "increment"
handle = "/args/from"
fields = { balance = "/result/debited" }
version = "/result/from_version"
saw = "/args/seen"
given = ["/args/from", "/args/mandate"]
[tools.transfer.also]
does = "increment"
handle = "/args/to"
fields = { balance = "/result/credited" }
version = "/result/to_version"
[tools.statement]
does = "read"
handle = "/args/accounts/0"
version = "/result/0/version"
shows = "/result/0/fields"
also = { does = "read", handle = "/args/accounts/1", version = "/result/1/version", shows = "/result/1/fields" }
[tools.amend]
does = "set"
handle = "/args/mandate"
version = "/result/version"
"#;

/// Says a text as one line.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_mapping_says_what_calls_do_besides_and_on_what_they_rest() {
    let files = |mapping: &'static str| [("log", BANK), ("map.toml", mapping)];
    let said = audit(&files(OF_BANK), "log --mapping map.toml");
    assert_eq!((said.code, &*said.err), (1, ""), "{}", said.out);
    let told = flat(&said.out);
    for part in [
        "3 calls on 3 resources in 3 lines",
        "no order explains 2 calls: fractured read (A5A, G-single).",
        "B's read (line 2) had seen what A's increment (line 1) made of balance of a as v2 (write-read)",
        "A's increment of balance -5 on a rests on m as of v3, and took effect (line 1) after C's set had changed that (line 3)",
    ] {
        assert!(told.contains(part), "{part}\n{}", said.out);
    }
    assert!(!told.contains("warning"), "{}", said.out);
    // The picture shows both accounts, and what was read of each.
    let drawn = audit(&files(OF_BANK), "log --mapping map.toml --check serializable --diagram mermaid");
    for part in ["increment balance + -5 on a<br/>and balance + 5 on b", "sees v2, and b v1"] {
        assert!(drawn.out.contains(part), "{part}\n{}", drawn.out);
    }
}

#[test]
fn a_mapping_says_under_which_condition_a_call_is_wanted() {
    let take = |id: &str, at: u32, version: u32| {
        format!(r#"{{"op":"take","at":{at},"done":{},"session":"{id}","of":"q","result":{version}}}"#, at + 5)
    };
    let look = r#"{"op":"look","at":1,"done":2,"session":"A","of":"q","result":9,"shown":{"used":9}}"#;
    let log = [look.to_owned(), take("A", 10, 10), take("B", 20, 11)].join("\n");
    let mapping = |of: &str| {
        format!(
            r#"versions-count = true
call = {{ sent = "/at", received = "/done", agent = "/session", tool = "/op" }}
[tools.look]
does = "read"
handle = "/of"
version = "/result"
shows = "/shown"
[tools.take]
does = "increment"
handle = "/of"
fields = {{ used = {{ is = 1 }} }}
version = "/result"
if = {of}
"#
        )
    };
    let audited =
        |of: &str| audit(&[("log", &log), ("map.toml", &mapping(of))], "log --mapping map.toml --check basis-holds");
    let said = audited(r#"{ expression = { is = "quota.used < 10" }, names = { quota = "/of" } }"#);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(flat(&said.out).contains("though quota.used < 10 was not true of q at v10"), "{}", said.out);
    // A slip is told with its place, and with what may have been meant; or is seen to lead nowhere.
    for (of, code, told) in [
        (r#"{ expression = { is = "quota.used << 10" }, names = { quota = "/of" } }"#, 2, "can't stand here"),
        (r#"{ expression = { is = "quota.used < 10" }, names = { qota = "/of" } }"#, 2, "the expression has no `qota`"),
        (r#"{ expression = { is = "quota.used < 10" }, names = { qota = "/of" } }"#, 2, "did you mean `quota`?"),
        (r#"{ expresion = "/if", names = {} }"#, 2, "did you mean `expression`?"),
        (r#"{ expression = "/if", names = { quota = "/off" } }"#, 0, "`tools.take.if.expression` looks at `/if`"),
        (r#"{ expression = "/if", names = { quota = "/off" } }"#, 0, "`tools.take.if.names.quota` looks at `/off`"),
    ] {
        let said = audited(of);
        let all = flat(&(said.out + &said.err));
        assert_eq!((said.code, all.contains(told)), (code, true), "{of}: {told}\n{all}");
        assert!(code == 0 || all.contains("map.toml:13:"), "{of}\n{all}");
    }
}

/// Slips in what is done besides.
#[test]
fn a_slip_in_what_is_done_besides_is_told() {
    for (from, to, told) in [
        ("[tools.transfer.also]\ndoes", "[tools.transfer.also]\ndos", "did you mean `does`?"),
        (
            "does = \"increment\"\nhandle = \"/args/to\"",
            "does = \"incremet\"\nhandle = \"/args/to\"",
            "did you mean `increment`?",
        ),
        (
            "does = \"increment\"\nhandle = \"/args/to\"",
            "does = \"close\"\nhandle = \"/args/to\"",
            "what is changed besides is set, appended to or incremented",
        ),
        ("also = { does = \"read\"", "also = { does = \"set\"", "what a read does besides is `read`"),
        ("given = [", "given = 7 #", "expected a JSON pointer to a handle or to a list of handles"),
        ("[\"/args/from\", \"/args/mandate\"]", "\"/args/rests\"", "`tools.transfer.given` looks at `/args/rests`"),
        ("\"/args/to\"", "\"/args/too\"", "`tools.transfer.also.handle` looks at `/args/too`"),
        ("\"/result/to_version\"", "\"/result/version\"", "`tools.transfer.also.version` looks at `/result/version`"),
    ] {
        assert!(OF_BANK.contains(from), "{from}");
        let said = audit(&[("log", BANK), ("map.toml", &OF_BANK.replace(from, to))], "log --mapping map.toml");
        let all = flat(&(said.out + &said.err));
        assert!(all.contains(told), "{told}\n{all}");
    }
}

/// Nothing that a log can hold makes it panic.
#[test]
fn mutated_logs_are_read_or_counted() {
    let mut seed = 1_u64;
    for _ in 0..400 {
        let mut bytes = LOST.as_bytes().to_vec();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).expect("small") % bytes.len();
            bytes[at] = u8::try_from(seed >> 56).expect("a byte");
        }
        let history = handlecheck::audit::history::History::read(&bytes[..], None, &mut |_| None).expect("it is read");
        let report = handlecheck::audit::report::audit("log", &history, &[]);
        assert!(report.checks.len() > 5);
    }
}
