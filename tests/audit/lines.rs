//! Lines that are wrong, and lines of others: what of them is read, what is told, and what is left out.

use serde_json::Value;

use super::commands::{LOST, OF_TAGGED, TAGGED, audit, flat};

/// What is wrong with a line is told in the words of its reader, not of the program's.
#[test]
fn lines_that_are_wrong_say_so_in_our_words() {
    let call =
        |more: &str| format!(r#"{{"type":"call","sent":1,"received":2,"agent":"A","tool":"set","handle":"x",{more}}}"#);
    for (line, what) in [
        (r#"{"type":3}"#.to_owned(), "integer `3`, expected a word"),
        (r#"{"type":"end","at":-1}"#.to_owned(), "integer `-1`, expected a whole number that is at least 0"),
        (r#"{"type":"end","at":1e30}"#.to_owned(), "expected a whole number that is at least 0"),
        (r#"{"type":"end","at":1,"at":2}"#.to_owned(), "the key `at` is there twice"),
        (call(r#""fields":[1],"answer":{"outcome":"ok"}"#), "sequence, expected an object"),
        (
            call(r#""answer":{"outcome":"ok","version":-3}"#),
            "expected a version: a whole number that is at least 0, or a string",
        ),
        (
            call(r#""if":{"expression":"q.n <<< 1","names":{"q":"x"}},"answer":{"outcome":"ok"}"#),
            "`if`: `<` can't stand here",
        ),
    ] {
        let said = audit(&[("log", &line)], "log");
        let told = flat(&said.out);
        assert_eq!((said.code, told.contains("line 1: "), told.contains(what)), (3, true, true), "{line}\n{told}");
        for theirs in ["u64", "untagged", "variant", "struct "] {
            assert!(!told.contains(theirs), "{theirs}: {told}");
        }
    }
    // A mark that says that a text is UTF-8 is none of its first line.
    let marked = audit(&[("log", &format!("\u{feff}{LOST}"))], "log --check no-lost-update");
    assert_eq!((marked.code, marked.out.contains("could not be read")), (1, false), "{}", marked.out);
}

/// A request whose id is used again was given up: it may have been carried out.
#[test]
fn a_request_whose_id_is_used_again_is_a_call_without_an_answer() {
    let mapping = r#"
[join]
by = ["/client", "/id"]
request = { "/is" = "request" }
answer = { "/is" = "answer" }
[call]
sent = "/request/at"
received = "/answer/at"
agent = "/request/client"
tool = { is = "set" }
[tools.set]
does = "set"
handle = { is = "x" }
"#;
    let line = |is: &str, at: u32, id: &str| format!(r#"{{"is":"{is}","at":{at},"client":"A"{id}}}"#);
    let one = r#","id":1"#;
    let log = [line("request", 1, one), line("request", 5, one), line("answer", 6, one)].join("\n");
    let said = audit(&[("log", &log), ("map.toml", mapping)], "log --mapping map.toml --format json");
    let report: Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!((&report["calls"], &report["malformed"]), (&2.into(), &0.into()), "{report}");
    // What says of a call that it was answered and cut was answered.
    let cut = OF_TAGGED.replace("agent =", "cut = \"/ended\"\nagent =");
    let said = audit(&[("log", TAGGED), ("map.toml", &cut)], "log --mapping map.toml --format json");
    let report: Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(report["malformed"], 0, "{report}");
    // Where nothing of that stands, no answer can be found.
    let bare = r#"{"is":"request","at":1}"#;
    let said = audit(&[("log", bare), ("map.toml", mapping)], "log --mapping map.toml");
    assert!(said.out.contains("line 1: it has nothing by which its answer would be found"), "{}", said.out);
}

/// A log of many other tools does not fill the report with their names.
#[test]
fn of_many_other_tools_the_first_are_named() {
    let line = |tool: u32| format!(r#"{{"kind":"tool","started":1,"ended":2,"session":"A","tool":"t{tool:04}"}}"#);
    let log: Vec<String> = (0..1000).map(line).collect();
    let said = audit(&[("log", &log.join("\n")), ("map.toml", OF_TAGGED)], "log --mapping map.toml");
    let told = flat(&said.out);
    assert!(told.contains("`t0019` (1), and 980 more") && !told.contains("t0020"), "{told}");
}
