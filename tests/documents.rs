//! Documents that stay true, and state graphs, as their commands make them.

mod common;

use std::fs;

use common::{handlecheck, root};

const DOCUMENT: &str = "# Keys\n\n```handlecheck verdicts import-rows dedup-only\n```\n\n\
    ```mermaid handlecheck diagram import-rows naive no-double-write mermaid\n```\n\n\
    ![Twice](twice.svg \"handlecheck diagram import-rows naive no-double-write\")\n";

#[test]
fn documents_are_renewed_and_then_true_until_something_changes() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("keys.md");
    fs::write(&path, DOCUMENT).expect("it can be written");
    let said = handlecheck(folder.path(), &["docs", "check"]);
    assert_eq!((said.code, &*said.err), (1, ""));
    assert!(said.out.contains("./keys.md:3:16"), "{}", said.out);
    assert!(said.out.contains("twice.svg is not there"), "{}", said.out);
    assert_eq!(fs::read_to_string(&path).expect("it is there"), DOCUMENT, "checking changes nothing");
    let said = handlecheck(folder.path(), &["docs", "update"]);
    assert_eq!((said.code, &*said.out), (0, "3 blocks and pictures in 1 documents: 3 renewed\n"));
    let renewed = fs::read_to_string(&path).expect("it is there");
    assert!(renewed.contains("dedup-only\n") && renewed.contains("no-double-write: holds\n"), "{renewed}");
    assert!(renewed.contains("no-double-write mermaid\nsequenceDiagram\n"), "{renewed}");
    let said = handlecheck(folder.path(), &["docs", "check", "keys.md"]);
    assert_eq!((said.code, &*said.out), (0, "3 blocks and pictures in 1 documents: all true\n"));
    let wrong = renewed.replace("no-double-write: holds", "no-double-write: violated");
    fs::write(&path, wrong).expect("it can be written");
    let said = handlecheck(folder.path(), &["docs", "check", "keys.md"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("line 1 of the block is `no-double-write: violated`"), "{}", said.out);
    fs::write(folder.path().join("twice.svg"), "<svg/>").expect("it can be written");
    let said = handlecheck(folder.path(), &["docs", "check", "keys.md"]);
    assert!(said.out.contains("twice.svg is no longer what the model says"), "{}", said.out);
}

#[test]
fn mistakes_in_documents_are_shown_at_their_place() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let document = "```handlecheck verdicts import-rows dedup-onli\n```\n\n```handlecheck verdict a b\n```\n\n\
        ```handlecheck explain import-rows dedup-only no-double-write\n```\n";
    fs::write(folder.path().join("a.md"), document).expect("it can be written");
    let said = handlecheck(folder.path(), &["docs", "check", "a.md"]);
    assert_eq!((said.code, &*said.out), (2, ""));
    for words in [
        "a.md:1:16",
        "dedup-onli",
        "there is no question `verdict`",
        "did you mean `verdicts`",
        "no-double-write is not violated any more: it holds",
    ] {
        assert!(said.err.contains(words), "{words}\n{}", said.err);
    }
}

#[test]
fn graphs_are_drawn_of_small_models_and_around_traces() {
    let small = ["graph", "append-twice", "--design", "hash-of-arguments"];
    let said = handlecheck(&root(), &small);
    assert_eq!((said.code, &*said.err), (0, ""));
    // As many states and moves as a search finds; moves that read alike and lead to one state are one.
    assert_eq!(said.out.matches("shape=").count(), 13, "{}", said.out);
    assert_eq!(said.out.matches(" -> ").count(), 14, "{}", said.out);
    for graph in [
        &[&small[..], &["--format", "svg"]].concat()[..],
        &["graph", "--around", "traces/laptop-basket.naive.no-lost-update.json", "--format", "svg"],
    ] {
        let said = handlecheck(&root(), graph);
        assert_eq!((said.code, &*said.err), (0, ""));
        roxmltree::Document::parse(&said.out).unwrap_or_else(|error| panic!("{error}\n{}", said.out));
        assert!(said.out.contains("<desc>"), "{}", said.out);
    }
    let said = handlecheck(&root(), &["graph", "--around", "traces/import-rows.naive.no-double-write.json"]);
    assert_eq!(said.out.matches("penwidth=2").count(), 11, "every step is drawn: {}", said.out);
    assert!(said.out.contains("11. execute: importer's write at node-1\\nno-double-write"), "{}", said.out);
    let said = handlecheck(&root(), &["graph", "laptop-basket", "--design", "naive"]);
    assert_eq!((said.code, &*said.out), (2, ""));
    assert!(said.err.contains("more than 60 states") && said.err.contains("--around"), "{}", said.err);
}
