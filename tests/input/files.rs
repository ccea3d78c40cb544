//! From a name or a path to a text.

use std::fs;
use std::path::Path;

use handlecheck::input::{Input, Kind, library, protocol_of, read_design, read_scenario, resolve};
use handlecheck::model::limits;
use handlecheck::run::invariant_names;

use handlecheck::model::design::State;

use crate::{INVARIANTS, PROTOCOL, SCENARIO};

/// The error of resolving this, without the changing name of the folder.
fn refused(kind: Kind, spec: &str, folder: &Path) -> String {
    let error = resolve(kind, spec, None).expect_err("there is no such thing");
    error.to_string().replace(&folder.display().to_string(), "FOLDER")
}

#[test]
fn every_shipped_model_is_readable_and_those_fit_that_expect_something_of_each_other() {
    let mut fitting = 0;
    for scenario in library::names(Kind::Scenario) {
        let source = resolve(Kind::Scenario, scenario, None).expect("it is shipped");
        let scenario = read_scenario(&source, &invariant_names()).expect("it is readable");
        assert!(!scenario.value.about.is_empty());
        for design in library::names(Kind::Design) {
            let source = resolve(Kind::Design, design, None).expect("it is shipped");
            let design = read_design(&source).expect("it is readable");
            assert!(!design.value.about.is_empty());
            let expects = scenario.value.expect.contains_key(&design.value.name)
                || design.value.expect.contains_key(&scenario.value.name);
            for protocol in library::names(Kind::Protocol).into_iter().filter(|_| expects) {
                let protocol = protocol_of(&scenario, Some(protocol)).expect("it is readable");
                assert!(!protocol.value.about.is_empty());
                if design.value.server.state == State::Session && !protocol.value.sessions {
                    continue;
                }
                let composed = handlecheck::input::compose(&scenario, &design, &protocol, &invariant_names());
                let (_, mut warnings) = composed.expect("they fit");
                // What a repair rules out can't happen any more: reads from the store never lag, handles are not guessed, a
                // claim that is kept does not expire.
                let ruled_out = match (&*scenario.value.name, &*design.value.name) {
                    (_, "reads-from-store" | "created-behind-a-replica-repaired") => "`stale-read` never strikes",
                    ("foreign-agent-guess", "not-found") => "never gets the handle",
                    (_, "whatever-clients-do") => "`resolves` is not judged",
                    ("two-agents-expire-claim", "claim-three-attempts") => "`expire-claim` never strikes",
                    ("two-agents-expire-lease-drop" | "two-agents-expire-lease-faults", "versioned") => {
                        "`expire-lease` never strikes"
                    }
                    _ => "nothing",
                };
                warnings.retain(|warning| !warning.message.contains(ruled_out));
                assert_eq!(warnings, []);
                fitting += 1;
            }
        }
    }
    assert!(fitting > 100);
}

#[test]
fn an_unknown_name_gets_the_nearest_shipped_one() {
    let error = |spec| refused(Kind::Design, spec, Path::new("/nowhere"));
    assert_eq!(error("niave"), "  error: there is no design `niave`\n  help: did you mean `naive`?");
    let unknown = error("elaborate");
    let count = library::names(Kind::Design).len();
    let shipped =
        format!("  help: `handlecheck list designs` shows the {count} that are shipped; or give a path to a file");
    assert_eq!(unknown, format!("  error: there is no design `elaborate`\n{shipped}"));
}

#[test]
fn a_file_that_can_not_be_used_says_why() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let write = |name: &str, bytes: &[u8]| fs::write(path(name), bytes).expect("a file can be written");
    let refused = |name: &str| refused(Kind::Scenario, &path(name), folder.path());

    assert_eq!(refused("none.toml"), "  error: `FOLDER/none.toml` is not there");
    assert_eq!(
        refused("import-rows.scenario.toml"),
        "  error: `FOLDER/import-rows.scenario.toml` is not there\n  help: the shipped scenario is called `import-rows`"
    );
    fs::create_dir(path("folder.toml")).expect("a folder can be made");
    assert_eq!(refused("folder.toml"), "  error: `FOLDER/folder.toml` is a folder\n  help: expected a scenario file");
    write("latin.toml", b"title = 'x'\nabout = '\xe9'\n");
    assert_eq!(refused("latin.toml"), "  error: `FOLDER/latin.toml` is not UTF-8 in line 2");
    let size = usize::try_from(limits::FILE_BYTES).expect("the limit is small");
    write("large.toml", &vec![b'#'; size + 1]);
    assert_eq!(
        refused("large.toml"),
        "  error: `FOLDER/large.toml` is too large\n  help: a scenario has at most 1 MiB"
    );
    write("full.toml", &vec![b'#'; size]);
    assert!(resolve(Kind::Scenario, &path("full.toml"), None).is_ok());
}

#[test]
fn the_folder_beside_comes_before_the_library() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let scenarios = folder.path().join("scenarios");
    for name in ["scenarios", "protocols"] {
        fs::create_dir(folder.path().join(name)).expect("a folder can be made");
    }
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).expect("a file can be written");
    let named = |protocol: &str| SCENARIO.replace("nodes = 2", &format!("nodes = 2\nprotocol = \"{protocol}\""));
    write("scenarios/mine.toml", &named("house-rules"));
    let read = |file: &str| -> Input<_> {
        let path = scenarios.join(file).display().to_string();
        let source = resolve(Kind::Scenario, &path, None).expect("it is there");
        read_scenario(&source, INVARIANTS).expect("it is readable")
    };
    let mine = read("mine.toml");
    assert_eq!((mine.value.name.as_str(), mine.source.folder.as_deref()), ("mine", Some(scenarios.as_path())));

    let error = protocol_of(&mine, None).expect_err("it is not there yet").to_string();
    let error = error.replace(&folder.path().display().to_string(), "FOLDER");
    assert!(error.contains("there is no protocol `house-rules`"), "{error}");
    assert!(error.contains("[FOLDER/scenarios/mine.toml:3:1]"), "{error}");

    write("protocols/house-rules.toml", &PROTOCOL.replace("\"Rules\"", "\"Neighbour\""));
    assert_eq!(protocol_of(&mine, None).expect("it is there").value.title, "Neighbour");
    write("scenarios/house-rules.protocol.toml", &PROTOCOL.replace("\"Rules\"", "\"Beside\""));
    assert_eq!(protocol_of(&mine, None).expect("it is there").value.title, "Beside");
    write("scenarios/other.toml", &named("house-rules.protocol.toml"));
    assert_eq!(protocol_of(&read("other.toml"), None).expect("it is there").value.title, "Beside");

    write("scenarios/mcp-2026-07-28.protocol.toml", PROTOCOL);
    write("scenarios/third.toml", &named("mcp-2026-07-28"));
    assert_eq!(protocol_of(&read("third.toml"), None).expect("it is there").value.title, "Rules");
    let asked = protocol_of(&mine, Some("mcp-2026-07-28")).expect("it is shipped");
    assert_eq!(asked.source.origin, "built-in/protocols/mcp-2026-07-28.toml");
    write("scenarios/silent.toml", SCENARIO);
    assert_eq!(protocol_of(&read("silent.toml"), None).expect("it is shipped").value.name, "mcp-2026-07-28");
}
