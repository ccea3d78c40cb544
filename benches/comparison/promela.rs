//! The basket for SPIN: the same agents, calls, nodes and faults, with the same points at which others come between.
//!
//! Each agent reads the basket, and writes one of its two fields back as a whole snapshot, expecting the version that it has
//! seen, under a key of its own; refused as stale, it begins again, twice at most. A call is sent, arrives at some node, runs
//! as one transaction, and is answered. A drop leaves the call behind as an orphan and sends it again; a restart sends the
//! calls at its node back. There are no hand-off, owners, handles or streams, so there are fewer states than in ours.

use std::fmt::Write;

/// How large it is.
#[derive(Clone, Copy)]
pub struct Size {
    pub agents: u8,
    pub nodes: u8,
    pub drops: u8,
    pub restarts: u8,
}

/// Where a call is: on its way at 1, at node n at 2 + n, done at 10, refused at 11.
const DONE: u8 = 10;

/// The model as the text of a `.pml` file.
pub fn promela(size: Size) -> String {
    let mut text = String::new();
    write(&mut text, size).expect("writing to a string doesn't fail");
    text
}

/// What an orphan holds: whose it is and whether it writes, its attempt, where it is, and the view that it was made from.
const ORPHAN: [&str; 7] = ["owner", "attempts", "place", "version_of", "memory_of", "storage_of", "seen_of"];

fn write(text: &mut String, size: Size) -> std::fmt::Result {
    let Size { agents, nodes, drops, restarts } = size;
    writeln!(text, "byte at[{agents}] = 1; byte recorded[{agents}]; byte effects[{agents}];")?;
    if drops > 0 {
        for field in ORPHAN {
            writeln!(text, "byte {field}[{drops}];")?;
        }
    }
    writeln!(text, "byte version, memory, storage, drops = {drops}, restarts = {restarts}; bit lost;")?;
    let accepted: Vec<String> = (0..agents).map(|agent| format!("((effects[{agent}] > 0) << {agent})")).collect();
    let accepted = accepted.join(" | ");
    writeln!(text, "active [{agents}] proctype Agent() {{")?;
    writeln!(text, "byte attempt, seen_version, seen_memory, seen_storage, seen; bit writes;")?;
    writeln!(text, "send: writes = writes;")?;
    writeln!(text, "do")?;
    for node in 0..nodes {
        writeln!(text, ":: d_step {{ at[_pid] == 1 -> at[_pid] = {} }}", 2 + node)?;
    }
    let running = format!("at[_pid] >= 2 && at[_pid] < {DONE}");
    let forget = "seen_version = 0; seen_memory = 0; seen_storage = 0; seen = 0;";
    writeln!(
        text,
        ":: d_step {{ {running} && writes == 0 -> seen_version = version; seen_memory = memory; seen_storage = storage; \
         seen = {accepted}; at[_pid] = {DONE} }}"
    )?;
    let own = commit(&accepted, "_pid", "attempt", ["seen_memory", "seen_storage", "seen"]);
    writeln!(
        text,
        ":: d_step {{ {running} && writes == 1 -> if :: (recorded[_pid] >> attempt) & 1 -> at[_pid] = {DONE} :: else -> \
         if :: seen_version != version -> at[_pid] = 11 :: else -> {own} at[_pid] = {DONE} fi fi }}"
    )?;
    writeln!(text, ":: d_step {{ at[_pid] == {DONE} && writes == 0 -> writes = 1; at[_pid] = 1 }}; goto send")?;
    let end = format!("attempt = 0; {forget} at[_pid] = 0; writes = 0");
    writeln!(text, ":: d_step {{ at[_pid] == {DONE} && writes == 1 -> {end} }}; goto end_told")?;
    writeln!(
        text,
        ":: d_step {{ at[_pid] == 11 && attempt < 2 -> attempt++; {forget} writes = 0; at[_pid] = 1 }}; goto send"
    )?;
    writeln!(text, ":: d_step {{ at[_pid] == 11 && attempt == 2 -> {end} }}; goto end_given_up")?;
    if drops > 0 {
        let place = format!("{drops} - drops");
        writeln!(
            text,
            ":: d_step {{ drops > 0 -> if :: at[_pid] < {DONE} -> owner[{place}] = writes + 2 * _pid; place[{place}] = \
             at[_pid]; if :: writes -> attempts[{place}] = attempt; version_of[{place}] = seen_version; memory_of[{place}] = \
             seen_memory; storage_of[{place}] = seen_storage; seen_of[{place}] = seen :: else fi :: else fi; at[_pid] = 1; \
             if :: writes == 0 -> {forget} :: else fi; drops-- }}"
        )?;
    }
    writeln!(text, "od;\nend_told: (0);\nend_given_up: (0)\n}}")?;
    writeln!(text, "active proctype Environment() {{ end_idle: do")?;
    for orphan in 0..drops {
        let gone: Vec<String> = ORPHAN.iter().map(|field| format!("{field}[{orphan}] = 0")).collect();
        let gone = gone.join("; ");
        for node in 0..nodes {
            writeln!(text, ":: d_step {{ place[{orphan}] == 1 -> place[{orphan}] = {} }}", 2 + node)?;
        }
        writeln!(text, ":: d_step {{ place[{orphan}] >= 2 && (owner[{orphan}] & 1) == 0 -> {gone} }}")?;
        let view = ["memory_of", "storage_of", "seen_of"].map(|field| format!("{field}[{orphan}]"));
        let who = format!("(owner[{orphan}] >> 1)");
        let attempt = format!("attempts[{orphan}]");
        let own = commit(&accepted, &who, &attempt, view.each_ref().map(|field| &**field));
        writeln!(
            text,
            ":: d_step {{ place[{orphan}] >= 2 && (owner[{orphan}] & 1) -> if :: ((recorded[owner[{orphan}] >> 1] >> \
             {attempt}) & 1) || version_of[{orphan}] != version -> skip :: else -> {own} fi; {gone} }}"
        )?;
    }
    for node in (0..nodes).filter(|_| restarts > 0) {
        write!(text, ":: d_step {{ restarts > 0 -> restarts--;")?;
        let here = 2 + node;
        for agent in 0..agents {
            write!(text, " if :: at[{agent}] == {here} -> at[{agent}] = 1 :: else fi;")?;
        }
        for orphan in 0..drops {
            let gone: Vec<String> = ORPHAN.iter().map(|field| format!("{field}[{orphan}] = 0")).collect();
            write!(text, " if :: place[{orphan}] == {here} -> {} :: else fi;", gone.join("; "))?;
        }
        writeln!(text, " }}")?;
    }
    if drops == 0 && restarts == 0 {
        writeln!(text, ":: (0)")?;
    }
    writeln!(text, "od }}")
}

/// A write takes effect: what it erases that its author has not seen is noted, and the other field is written back.
fn commit(accepted: &str, who: &str, attempt: &str, [memory, storage, seen]: [&str; 3]) -> String {
    format!(
        "if :: (({accepted}) & ~(1 << {who}) & ~({seen})) -> lost = 1 :: else fi; if :: (({who}) & 1) == 0 -> memory = \
         ({who}) + 1; storage = {storage} :: else -> memory = {memory}; storage = ({who}) + 1 fi; version++; \
         recorded[{who}] = recorded[{who}] | (1 << {attempt}); if :: effects[{who}] < 2 -> effects[{who}] = effects[{who}] \
         + 1 :: else fi;"
    )
}
