//! What is found in documents, and where it is renewed.

use super::{Asked, Held, asked, renewed};

#[test]
fn what_is_ours_is_found_and_renewed_in_its_place() {
    let document = "# A\n\n```handlecheck verdicts a b\nold\n```\n\n- item\n\n  ~~~ mermaid handlecheck diagram a b c\n  old\n  \
                    more\n  ~~~\n\n> ```handlecheck explain a b c\n> ```\n\n```sh\nhandlecheck check a\n```\n\n\
                    ![x](a.svg \"handlecheck diagram a b c\") ![y](b.svg)\n";
    let found = asked(document);
    let questions: Vec<&str> = found.iter().map(|asked| &*asked.question).collect();
    assert_eq!(questions, ["verdicts a b", "diagram a b c", "explain a b c", "diagram a b c"]);
    for asked in &found {
        assert_eq!(&document[asked.place.clone()], asked.question);
    }
    assert_eq!(found[3].held, Held::Image { path: "a.svg".to_owned() });
    let texts: Vec<_> = found[..3].iter().map(|asked| (asked, "one\n\ntwo\n".to_owned())).collect();
    let after = renewed(document, &texts);
    let expected = "# A\n\n```handlecheck verdicts a b\none\n\ntwo\n```\n\n- item\n\n  ~~~ mermaid handlecheck diagram a b c\n  \
                    one\n\n  two\n  ~~~\n\n> ```handlecheck explain a b c\n> one\n>\n> two\n> ```\n\n```sh\nhandlecheck check \
                    a\n```\n\n![x](a.svg \"handlecheck diagram a b c\") ![y](b.svg)\n";
    assert_eq!(after, expected);
    let held = |asked: &Asked| match &asked.held {
        Held::Block { text, .. } => text.clone(),
        Held::Image { .. } => "one\n\ntwo\n".to_owned(),
    };
    let found = asked(&after);
    assert!(found.iter().all(|asked| held(asked) == "one\n\ntwo\n"));
}
