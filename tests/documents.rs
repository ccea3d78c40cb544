//! Documents that stay true, and state graphs, as their commands make them.

mod common;
mod gallery;

use std::collections::BTreeSet;
use std::fs;

use common::{difference, files, handlecheck, read, renewing, root};
use handlecheck::documents::{Asked, asked, renewed};

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
        "a.md:1:37",
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

/// A page without its answers.
fn emptied(page: &str) -> String {
    let asked = asked(page);
    let texts: Vec<(&Asked, String)> = asked.iter().map(|asked| (asked, String::new())).collect();
    renewed(page, &texts)
}

/// `docs/gallery/` has a page for each design and incident, and all that it says is true. With `SNAPSHOTS=overwrite` the pages
/// are written, and `docs update` fills them.
#[test]
fn the_gallery_is_whole_and_true() {
    let pages = gallery::pages();
    assert!(pages.len() > 100, "{} pages", pages.len());
    for (path, page) in &pages {
        let old = fs::read_to_string(root().join(path)).unwrap_or_default();
        if renewing() && emptied(&old) != *page {
            fs::create_dir_all(root().join("docs/gallery")).expect("a folder can be made");
            fs::write(root().join(path), page).expect("a file can be written");
        } else {
            assert_eq!(difference(page, &emptied(&old)), None, "{path}");
        }
    }
    if renewing() {
        let said = handlecheck(&root(), &["docs", "update", "docs/gallery"]);
        assert_eq!((said.code, &*said.err), (0, ""));
    }
    let said = handlecheck(&root(), &["docs", "check", "docs/gallery"]);
    assert_eq!((said.code, &*said.err), (0, ""), "{}", said.out);
    let there: BTreeSet<String> = files("docs/gallery", ".md").into_iter().collect();
    assert_eq!(there, pages.keys().cloned().collect(), "no page is left over");
    let pictured: BTreeSet<String> = there.iter().flat_map(|path| pictures(&read(path))).collect();
    assert_eq!(files("docs/gallery", ".svg").into_iter().collect::<BTreeSet<_>>(), pictured, "no picture is left over");
}

fn pictures(page: &str) -> Vec<String> {
    let held = asked(page).into_iter().filter_map(|asked| match asked.held {
        handlecheck::documents::Held::Image { path } => Some(format!("docs/gallery/{path}")),
        handlecheck::documents::Held::Block { .. } => None,
    });
    held.collect()
}
