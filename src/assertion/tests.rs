use super::*;

fn names() -> Names {
    let basket = [
        ("memory".to_owned(), Value::Number(16)),
        ("unit-price".to_owned(), Value::Number(3)),
        ("title".to_owned(), Value::Text("laptop".to_owned())),
        ("rows".to_owned(), Value::List(Vec::new())),
    ];
    Names::new(
        [("basket", basket.as_slice()), ("price-list", &[]), ("draft", &basket[2..])],
        [("A", 2), ("sub-agent", 0)],
    )
}

/// The parts that are pointed at, each with what is said of it and what is advised.
fn problems(expression: &str) -> Vec<String> {
    let problems = compile(expression, &names()).err().unwrap_or_default();
    let written = problems.into_iter().map(|Problem { range, message, help }| {
        let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}: {message}{help}", &expression[range])
    });
    written.collect()
}

fn evaluate(expression: &str) -> Result<bool, String> {
    let fields = [
        ("memory".to_owned(), Value::Number(32)),
        ("unit-price".to_owned(), Value::Number(5)),
        ("title".to_owned(), Value::Text("laptop".to_owned())),
        ("rows".to_owned(), Value::List(vec![Value::Text("a".to_owned()), Value::Number(2)])),
    ];
    let resources = [
        ResourceFacts { name: "basket", fields: &fields, version: Some(8) },
        ResourceFacts { name: "price-list", fields: &[], version: Some(1) },
        ResourceFacts { name: "draft", fields: &[], version: None },
    ];
    let told = [("A", [Told::Ok, Told::Unknown].as_slice()), ("sub-agent", &[])];
    let compiled = compile(expression, &names()).map_err(|problems| format!("{problems:?}"))?;
    compiled.evaluate(&Facts { resources: &resources, told: &told })
}

/// Whatever is said of it, neither that nor its opposite is true, unless it is not needed.
#[test]
fn nothing_is_true_of_what_does_not_exist_yet() {
    let missing = Err("`draft` does not exist".to_owned());
    for expression in [
        "draft.title == 'laptop'",
        "draft.title != 'laptop'",
        "!(draft.title == 'laptop')",
        "draft['title'] == 'laptop'",
        "draft.version == 1",
        "draft.rows.all(row, row == 'a')",
        "basket.memory == 32 && draft.title == 'laptop'",
        "basket.memory == 16 || draft.title == 'laptop'",
    ] {
        assert_eq!(evaluate(expression), missing, "{expression}");
    }
    for (expression, truth) in [
        ("has(draft.version)", false),
        ("!has(draft.title) && has(basket.version)", true),
        ("!has(draft.version) || draft.title == 'laptop'", true),
        ("basket.memory == 32 || draft.title == 'laptop'", true),
        ("basket.memory == 16 && draft.title == 'laptop'", false),
    ] {
        assert_eq!(evaluate(expression), Ok(truth), "{expression}");
    }
}

#[test]
fn fields_versions_and_what_was_told_can_be_named() {
    for (expression, truth) in [
        ("basket.memory == 32 && basket.title == 'laptop'", true),
        ("basket.unit_price * 2 > basket.memory", false),
        ("basket.rows == ['a', 2]", true),
        ("'a' in basket.rows && size(basket.rows) == 2", true),
        ("basket.rows.filter(row, row == 'b').size() == 0", true),
        ("basket.version == 8 && price_list.version == 1", true),
        ("basket['version'] == 8", true),
        ("told.A == ['ok', 'unknown']", true),
        ("told.A.all(word, word == 'ok')", false),
        ("told.A.exists_one(word, word == \"ok\") && told.sub_agent == []", true),
        ("has(basket.memory) ? basket.title.startsWith('lap') : false", true),
        ("basket.rows.map(row, row)[0] == 'a'", true),
        ("false", false),
    ] {
        assert_eq!(evaluate(expression), Ok(truth), "{expression}");
    }
}

#[test]
fn wrong_names_are_found_in_every_branch() {
    for (expression, expected) in [
        ("true || baskt.memory == 1", "baskt: unknown name `baskt` (did you mean `basket`?)"),
        ("false && basket.memry == 1", "memry: unknown field of `basket` `memry` (did you mean `memory`?)"),
        (
            "basket.unit-price == 1",
            "unit: unknown field of `basket` `unit` (in assertions a `-` is written `_`: `unit_price`)",
        ),
        ("told.B == []", "B: unknown agent `B` (expected `A` or `sub_agent`)"),
        (
            "told.A.all(t, x == 'ok')",
            "x: unknown name `x` (an assertion can name `basket`, `price_list`, `draft` or `told`)",
        ),
        (
            "told.A.all(t, t == 'okay')",
            "'okay': no agent is ever told `okay` (expected `ok`, `failure`, `conflict` or `unknown`)",
        ),
        ("'Ok' in told.A", "'Ok': no agent is ever told `Ok` (did you mean `ok`?)"),
        ("siz(basket.rows) == 1", "siz: unknown function `siz` (did you mean `size`?)"),
        ("told.A.all(t)", "all: `all` is not used like this"),
        ("basket == 1", "basket: `basket` is a whole resource: name one of its fields (for example `basket.memory`)"),
    ] {
        assert!(problems(expression).contains(&expected.to_owned()), "{expression}: {:?}", problems(expression));
    }
}

#[test]
fn wrong_types_are_found_in_every_branch() {
    for (expression, expected) in [
        ("basket.memory", "basket.memory: an assertion is true or false, and this is a number"),
        ("basket.memory == '32'", "==: a number never equals a string"),
        ("true || told.A == 'ok'", "==: a list never equals a string"),
        ("basket.title < 3", "<: this needs a number, and has a string"),
        ("basket.memory && true", "&&: this needs true or false, and has a number"),
        ("1 in told.A", "in: a number is never in this list"),
        ("'x' in basket.title", "in: `in` looks into lists, and this is a string"),
        ("basket.title[0] == 'l'", "[: only a list has an index, and this is a string"),
        ("basket.memory.all(x, true)", "(: only a list can be gone through, and this is a number"),
        ("basket.memory.size() == 1", "size: `size` is not used like this"),
        ("basket.rows.first == 1", "first: only resources and `told` are followed by a name"),
        ("{'a': 1} == {}", "{: an assertion has numbers, strings and lists, and nothing made of fields"),
    ] {
        assert!(problems(expression).contains(&expected.to_owned()), "{expression}: {:?}", problems(expression));
    }
    // Of the elements of a list that is empty at the start nothing can be said.
    assert_eq!(problems("basket.rows[0]"), Vec::<String>::new());
}

#[test]
fn syntax_errors_have_a_place() {
    assert_eq!(problems("basket.memory = 3"), ["=: `=` can't stand here (`==` compares)"]);
    assert_eq!(problems("((")[0], ": the expression ends too early");
    assert_eq!(problems("'é' ==\n'é' = 1")[0], "=: `=` can't stand here (`==` compares)");
}

#[test]
fn what_hangs_on_values_is_said_when_it_happens() {
    assert_eq!(evaluate("basket.rows[7] == 'a'"), Err("Index out of bounds: Int(7)".to_owned()));
    assert_eq!(evaluate("basket.memory / (basket.version - 8) == 1"), Err("Division by zero of Int(32)".to_owned()));
    assert_eq!(evaluate("basket.rows[0]"), Err("the result is neither true nor false".to_owned()));
}

#[test]
fn expressions_are_bounded_and_those_in_bounds_need_little_stack() {
    let too_long = format!("true{}", " ".repeat(LENGTH));
    assert!(problems(&too_long)[0].contains("longer than"));
    let nested = |levels: usize| format!("{}true{}", "[1].all(t, ".repeat(levels), ")".repeat(levels));
    assert!(
        problems(&nested(check::NESTING + 1)).iter().any(|problem| problem.contains("gone through inside each other"))
    );
    let sum = |terms: usize| format!("{} > 0", vec!["1"; terms].join(" + "));
    assert!(problems(&sum(200))[0].contains("levels"));
    assert!(problems(&format!("{}true{}", "(".repeat(90), ")".repeat(90))).is_empty());
    assert!(!problems(&"(".repeat(LENGTH)).is_empty());

    // The depth of each is as near to the limit as the form allows.
    for expression in [
        sum(DEPTH - 1),
        nested(check::NESTING),
        format!("{}true", "!".repeat(2)),
        format!("{}1{} == []", "[".repeat(DEPTH - 3), "]".repeat(DEPTH - 3)),
        format!("{}true", "true ? true : ".repeat(DEPTH - 2)),
        format!("basket.rows{}.size() == 1", "[0]".repeat(DEPTH - 4)),
    ] {
        let compiled = compile(&expression, &names()).map_err(|problems| format!("{expression}: {problems:?}"));
        let compiled = compiled.expect("it is within the bounds");
        let small = std::thread::Builder::new().stack_size(2 << 20);
        let thread = small.spawn(move || compiled.evaluate(&Facts { resources: &[], told: &[] }));
        let _ = thread.expect("a thread can be started").join().expect("its stack is large enough");
    }
}

#[test]
fn a_compiled_expression_can_be_shared() {
    fn shared<T: Clone + Send + Sync + fmt::Debug>(_: &T) {}
    let compiled = compile("basket.memory == 1", &names()).expect("it is right");
    shared(&compiled);
    assert_eq!(format!("{compiled:?}"), "Compiled(\"basket.memory == 1\")");
}
