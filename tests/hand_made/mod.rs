//! Traces made by hand: the two of the reference pictures, and the pieces to make others.

pub mod random;

use std::collections::BTreeMap;

use handlecheck::trace::{
    AgentLane, AnswerNote, Belief, CallNote, Change, Commit, Content, Does, Erased, Input, Reaches, ResourceLane,
    SCHEMA, Step, Trace, TransactionNote,
};

pub fn input(name: &str, title: &str) -> Input {
    Input { name: name.to_owned(), title: title.to_owned(), text: String::new(), file: None, deployed: None }
}

pub fn agent(name: &str, parent: Option<&str>) -> AgentLane {
    AgentLane { name: name.to_owned(), principal: "user-42".to_owned(), parent: parent.map(str::to_owned) }
}

pub fn content(handle: &str, version: u16, values: &[&str]) -> Content {
    Content {
        handle: handle.to_owned(),
        version: Some(version),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    }
}

pub fn belief(agent: &str, believes: &Content, truth: &Content) -> Belief {
    Belief { agent: agent.to_owned(), believes: believes.clone(), truth: Some(truth.clone()) }
}

pub fn step(action: &str, agent: &str, request: Option<&str>, sentence: &str) -> Step {
    Step {
        does: Does {
            action: action.to_owned(),
            agent: Some(agent.to_owned()),
            request: request.map(str::to_owned),
            ..Does::default()
        },
        call: None,
        transaction: None,
        answer: None,
        told: Vec::new(),
        changes: Vec::new(),
        commits: Vec::new(),
        beliefs: Vec::new(),
        notes: Vec::new(),
        sentence: sentence.to_owned(),
    }
}

pub fn call(resource: &str, handle: &str, payload: &str, change: &str, entry: usize) -> CallNote {
    CallNote {
        also: None,
        tool: if payload.is_empty() { "read" } else { "write" }.to_owned(),
        resource: resource.to_owned(),
        handle: Some(handle.to_owned()),
        payload: payload.to_owned(),
        change: change.to_owned(),
        expects: Vec::new(),
        key: None,
        attempt: None,
        entry,
    }
}

pub fn transaction(steps: &[&str]) -> TransactionNote {
    let steps = steps.iter().map(|step| (*step).to_owned()).collect();
    TransactionNote { steps, ended_by: None, number: 1, at_end: false, writes: false }
}

pub fn ok(version: u16, view: Option<&Content>) -> AnswerNote {
    AnswerNote {
        outcome: "ok".to_owned(),
        replayed: false,
        handle: None,
        version: Some(version),
        view: view.cloned(),
        other_view: None,
        reaches: Reaches::Caller,
    }
}

pub fn change(fact: &str, before: &str, after: &str) -> Change {
    Change { fact: fact.to_owned(), before: before.to_owned(), after: after.to_owned() }
}

/// The first three steps of a call: sent, delivered, executed.
pub fn three(
    agent: &str,
    request: &str,
    node: &str,
    note: &CallNote,
    steps: &[&str],
    answer: &AnswerNote,
) -> Vec<Step> {
    let handle = note.handle.clone().unwrap_or_default();
    let mut send =
        step("send", agent, Some(request), &format!("{agent} sends {} of {handle} (request {request}).", note.tool));
    let first = if note.tool == "read" { None } else { Some("first".to_owned()) };
    send.call = Some(CallNote { attempt: note.attempt.clone().or(first), ..note.clone() });
    let mut deliver = step("deliver", agent, Some(request), &format!("Request {request} reaches {node}."));
    deliver.does.node = Some(node.to_owned());
    deliver.call = Some(note.clone());
    let what = steps.join(", ");
    let mut execute = step("execute", agent, Some(request), &format!("{node} runs {what} for {request}: ok."));
    execute.call = Some(note.clone());
    execute.transaction = Some(transaction(steps));
    execute.answer = Some(answer.clone());
    vec![send, deliver, execute]
}

pub fn receive(agent: &str, request: &str, note: &CallNote, answer: &AnswerNote) -> Step {
    let seen = answer
        .view
        .as_ref()
        .and_then(|view| view.version)
        .map_or(String::new(), |version| format!(", and sees v{version}"));
    let mut receive = step("receive", agent, Some(request), &format!("{agent} receives {}{seen}.", answer.outcome));
    receive.call = Some(note.clone());
    receive.answer = Some(answer.clone());
    receive
}

pub fn read(agent: &str, request: &str, node: &str, note: &CallNote, view: &Content) -> Vec<Step> {
    let answer = ok(view.version.unwrap_or(0), Some(view));
    let mut steps = three(agent, request, node, note, &["resolve", "read"], &answer);
    steps.push(receive(agent, request, note, &answer));
    steps
}

pub fn trace(
    scenario: Input,
    invariant: &str,
    sentence: &str,
    agents: Vec<AgentLane>,
    resource: ResourceLane,
    steps: Vec<Step>,
) -> Trace {
    Trace {
        handlecheck: "0.1.0".to_owned(),
        schema: SCHEMA,
        scenario,
        design: input("naive", "No checks at all"),
        protocol: input("mcp-2026-07-28", "MCP without sessions"),
        bounds: BTreeMap::from([("drop-stream".to_owned(), 1), ("restart-node".to_owned(), 1)]),
        invariant: invariant.to_owned(),
        shows: None,
        kind: None,
        sentence: sentence.to_owned(),
        faults: u32::try_from(steps.iter().filter(|step| step.does.fault).count()).expect("there are few steps"),
        agents,
        nodes: vec!["node-1".to_owned(), "node-2".to_owned()],
        resources: vec![resource],
        steps,
        loops_from: None,
    }
}

/// Two subagents configure one laptop: 15 steps, no fault.
pub fn lost_update() -> Trace {
    let handle = "bsk_42";
    let (v7, v8, v9) =
        (content(handle, 7, &["16", "512"]), content(handle, 8, &["32", "512"]), content(handle, 9, &["16", "1024"]));
    let mut hand_off = step("hand-off", "planner", None, "planner hands bsk_42 to A and B.");
    hand_off.does.to = vec!["A".to_owned(), "B".to_owned()];
    hand_off.does.handle = Some(handle.to_owned());
    let look = call("basket", handle, "", "", 1);
    let mut steps = vec![hand_off];
    steps.extend(read("A", "A-1", "node-1", &look, &v7));
    steps.extend(read("B", "B-1", "node-2", &look, &v7));
    let upgrade = call("basket", handle, "memory 32, storage 512", "memory 32", 2);
    let mut first = three("A", "A-2", "node-1", &upgrade, &["resolve", "apply"], &ok(8, None));
    first[2].commits = vec![Commit {
        agent: "A".to_owned(),
        intent: "memory 32 on basket".to_owned(),
        content: v8.clone(),
        shows: vec![vec!["A".to_owned()], vec![]],
        changed: vec!["memory".to_owned()],
        erased: Vec::new(),
        effects: 1,
        taken_back: false,
    }];
    first[2].changes = vec![change("bsk_42 version", "7", "8"), change("bsk_42 memory", "16", "32")];
    first[2].beliefs = vec![belief("A", &v7, &v8), belief("B", &v7, &v8)];
    first[2].sentence = "node-1 runs resolve, apply for A-2: bsk_42 is now v8, memory 32, storage 512.".to_owned();
    steps.extend(first);
    let upgrade = call("basket", handle, "memory 16, storage 1024", "storage 1024", 2);
    let mut second = three("B", "B-2", "node-2", &upgrade, &["resolve", "apply"], &ok(9, None));
    for step in &mut second[..2] {
        step.beliefs = vec![belief("A", &v7, &v8), belief("B", &v7, &v8)];
    }
    second[2].commits = vec![Commit {
        agent: "B".to_owned(),
        intent: "storage 1024 on basket".to_owned(),
        content: v9.clone(),
        shows: vec![vec![], vec!["B".to_owned()]],
        changed: vec!["memory".to_owned(), "storage".to_owned()],
        erased: vec![Erased { field: "memory".to_owned(), of: vec!["A".to_owned()] }],
        effects: 1,
        taken_back: false,
    }];
    second[2].beliefs = vec![belief("A", &v7, &v9), belief("B", &v7, &v9)];
    second[2].sentence = "node-2 runs resolve, apply for B-2: bsk_42 is now v9, memory 16, storage 1024.".to_owned();
    steps.extend(second);
    trace(
        input("laptop-basket", "Two subagents configure one laptop"),
        "no-lost-update",
        "B wrote back memory 16 and erased A's change to 32, which B had not seen",
        vec![agent("planner", None), agent("A", Some("planner")), agent("B", Some("planner"))],
        ResourceLane {
            name: "basket".to_owned(),
            owner: "user-42".to_owned(),
            shared_with: Vec::new(),
            initial: Some(v7),
            fields: vec!["memory".to_owned(), "storage".to_owned()],
        },
        steps,
    )
}

/// One client imports rows: 11 steps, one broken stream.
pub fn double_write() -> Trace {
    let handle = "tbl_9";
    let (v1, v2, v3) = (content(handle, 1, &["[]"]), content(handle, 2, &["[r1]"]), content(handle, 3, &["[r1, r1]"]));
    let mut steps = read("importer", "importer-1", "node-1", &call("table", handle, "", "", 1), &v1);
    let row = call("table", handle, "rows + r1", "rows + r1", 2);
    let commit = |content: &Content, effects: u8| Commit {
        agent: "importer".to_owned(),
        intent: "rows + r1 on table".to_owned(),
        content: content.clone(),
        shows: vec![vec!["importer".to_owned()]],
        changed: vec!["rows".to_owned()],
        erased: Vec::new(),
        effects,
        taken_back: false,
    };
    let mut first = three("importer", "importer-2", "node-1", &row, &["resolve", "apply"], &ok(2, None));
    first[2].commits = vec![commit(&v2, 1)];
    first[2].beliefs = vec![belief("importer", &v1, &v2)];
    first[2].sentence = "node-1 runs resolve, apply for importer-2: tbl_9 is now v2, rows [r1].".to_owned();
    steps.extend(first);
    let mut drop = step(
        "drop-stream",
        "importer",
        Some("importer-2"),
        "The stream of importer-2 breaks; importer is told no more.",
    );
    drop.does.fault = true;
    drop.beliefs = vec![belief("importer", &v1, &v2)];
    steps.push(drop);
    let again = CallNote { attempt: Some("repeat".to_owned()), ..row };
    let mut second = three("importer", "importer-3", "node-2", &again, &["resolve", "apply"], &ok(3, None));
    for step in &mut second[..2] {
        step.beliefs = vec![belief("importer", &v1, &v2)];
    }
    second[2].commits = vec![commit(&v3, 2)];
    second[2].beliefs = vec![belief("importer", &v1, &v3)];
    second[2].sentence = "node-2 runs resolve, apply for importer-3: tbl_9 is now v3, rows [r1, r1].".to_owned();
    steps.extend(second);
    trace(
        input("import-rows", "One client imports rows"),
        "no-double-write",
        "importer wanted rows + r1 on table once, and it took effect twice",
        vec![agent("importer", None)],
        ResourceLane {
            name: "table".to_owned(),
            owner: "user-42".to_owned(),
            shared_with: Vec::new(),
            initial: Some(v1),
            fields: vec!["rows".to_owned()],
        },
        steps,
    )
}

/// Everything that the other two lack: two principals, a leak, keys, an expected version, a refusal, a new plan, a restart,
/// an orphan that runs late, a call whose transactions are apart, four folded reads, and two resources.
pub fn everything() -> Trace {
    let (cart, desk) = ("crt_1", "dsk_2");
    let (v1, v2, v3) = (
        content(cart, 1, &["red", "1", "new", "x"]),
        content(cart, 2, &["blue", "1", "new", "x"]),
        content(cart, 3, &["blue", "2", "new", "x"]),
    );
    let d1 = content(desk, 1, &["oak"]);
    let look = call("cart", cart, "", "", 1);
    let mut steps = Vec::new();
    for number in 1..=2 {
        steps.extend(read("ann", &format!("ann-{number}"), "node-1", &look, &v1));
        steps.extend(read("bob", &format!("bob-{number}"), "node-2", &look, &v1));
    }
    let mut leak = step("leak-handle", "eve", None, "The handle crt_1 leaks to eve.");
    (leak.does.fault, leak.does.handle) = (true, Some(cart.to_owned()));
    steps.push(leak);
    // ann writes; her request is on its way while bob's is refused.
    let mut set = call("cart", cart, "colour blue", "colour blue", 2);
    set.key = Some("ann/2/1".to_owned());
    set.expects = vec![handlecheck::trace::Expected { handle: cart.to_owned(), version: 1 }];
    let mut write = three(
        "ann",
        "ann-3",
        "node-1",
        &set,
        &["resolve", "authorize", "find-key", "check-version", "apply", "record-key"],
        &ok(2, None),
    );
    let mut count = call("cart", cart, "count 2", "count 2", 2);
    count.expects.clone_from(&set.expects);
    let mut refused =
        three("bob", "bob-3", "node-2", &count, &["resolve", "authorize", "check-version", "apply"], &ok(0, None));
    write[2].commits = vec![Commit {
        agent: "ann".to_owned(),
        intent: "colour blue on cart".to_owned(),
        content: v2.clone(),
        shows: vec![vec!["ann".to_owned()]],
        changed: vec!["colour".to_owned()],
        erased: Vec::new(),
        effects: 1,
        taken_back: false,
    }];
    let stale = AnswerNote {
        outcome: "stale-view".to_owned(),
        replayed: false,
        handle: None,
        version: Some(2),
        view: None,
        other_view: None,
        reaches: Reaches::Caller,
    };
    refused[2].answer = Some(stale.clone());
    refused[2].transaction = Some(TransactionNote {
        ended_by: Some("check-version".to_owned()),
        ..transaction(&["resolve", "authorize", "check-version", "apply"])
    });
    let mut steps_of_write = write.into_iter();
    let mut steps_of_refused = refused.into_iter();
    steps.extend(steps_of_write.next());
    steps.extend(steps_of_refused.next());
    steps.extend(steps_of_write);
    let outdated = [belief("ann", &v1, &v2), belief("bob", &v1, &v2)];
    let at = steps.len();
    steps[at - 1].beliefs = outdated.to_vec();
    steps.extend(steps_of_refused.map(|step| Step { beliefs: outdated.to_vec(), ..step }));
    let mut restart = step("restart-node", "", None, "node-1 restarts and loses ann-3, whose stream breaks.");
    restart.does =
        Does { action: "restart-node".to_owned(), node: Some("node-1".to_owned()), fault: true, ..Does::default() };
    restart.beliefs = outdated.to_vec();
    steps.push(restart);
    steps.push(Step { beliefs: outdated.to_vec(), ..receive("bob", "bob-3", &count, &stale) });
    // bob plans anew, in two transactions; his stream breaks before it arrives.
    let replan = CallNote { attempt: Some("replan".to_owned()), payload: "count 2".to_owned(), ..count };
    let again = three("bob", "bob-4", "node-2", &replan, &["resolve", "load"], &ok(3, None));
    let mut again = again.into_iter().map(|step| Step { beliefs: outdated[..1].to_vec(), ..step });
    steps.extend(again.next());
    let mut drop = step("drop-stream", "bob", Some("bob-4"), "The stream of bob-4 breaks.");
    drop.does.fault = true;
    drop.beliefs = outdated[..1].to_vec();
    steps.push(drop);
    for mut step in again {
        step.does.orphan = true;
        step.answer = None;
        steps.push(step);
    }
    let mut last = three("bob", "bob-4", "node-2", &replan, &["save"], &ok(3, None)).remove(2);
    last.does.orphan = true;
    last.transaction = Some(TransactionNote { number: 2, ..transaction(&["save"]) });
    last.commits = vec![Commit {
        agent: "bob".to_owned(),
        intent: "count 2 on cart".to_owned(),
        content: v3.clone(),
        shows: vec![],
        changed: vec!["count".to_owned()],
        erased: Vec::new(),
        effects: 1,
        taken_back: false,
    }];
    last.beliefs = vec![belief("ann", &v1, &v3), belief("bob", &v2, &v3)];
    steps.push(last);
    // bob gives up on his work, and eve reads what is not hers.
    let mut told = step("cancel", "ann", None, "");
    told.told = vec![handlecheck::trace::ToldNote {
        agent: "ann".to_owned(),
        about: "colour blue on cart".to_owned(),
        told: "failure".to_owned(),
    }];
    steps.push(told);
    steps.extend(read("eve", "eve-1", "node-2", &call("desk", desk, "", "", 1), &d1));
    steps.extend(read("eve", "eve-2", "node-2", &look, &v3));
    let resource = ResourceLane {
        name: "cart".to_owned(),
        owner: "user-42".to_owned(),
        shared_with: Vec::new(),
        initial: Some(v1),
        fields: ["colour", "count", "state", "note"].map(str::to_owned).to_vec(),
    };
    let mut eve = agent("eve", None);
    eve.principal = "eve@example.org".to_owned();
    let mut trace = trace(
        input("shared-cart", "Two people share a cart, and a third looks on"),
        "no-cross-principal",
        "eve (of eve@example.org) read crt_1, which belongs to user-42",
        vec![agent("ann", None), eve, agent("bob", None), agent("idle", None)],
        resource,
        steps,
    );
    trace.kind = Some("read".to_owned());
    trace.protocol.name = "mcp-2025-11-25".to_owned();
    trace.resources.push(ResourceLane {
        name: "desk".to_owned(),
        owner: "eve@example.org".to_owned(),
        shared_with: Vec::new(),
        initial: Some(d1),
        fields: vec!["wood".to_owned()],
    });
    trace
}
