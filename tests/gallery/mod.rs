//! The pages of `docs/gallery/`, without the answers in them: those come from `handlecheck docs update`.

use std::collections::{BTreeMap, BTreeSet};

use handlecheck::input::{self, Kind, library};
use handlecheck::run::invariant_names;
use similar::{ChangeTag, TextDiff};

use crate::common::{files, read};

/// A run of the lock.
struct Locked {
    scenario: String,
    design: String,
    states: i64,
    /// Steps of the shortest break; none where it holds.
    verdicts: BTreeMap<String, Option<i64>>,
    /// What no run can violate, since none comes to where it says anything.
    vacuous: BTreeSet<String>,
}

/// What is needed of a shipped design or scenario.
#[expect(clippy::struct_field_names, reason = "what the file calls it")]
struct About {
    title: String,
    about: String,
    text: String,
}

struct Library {
    runs: Vec<Locked>,
    designs: BTreeMap<String, About>,
    scenarios: BTreeMap<String, About>,
}

impl Library {
    fn read() -> Self {
        let lock: toml::Table = toml::from_str(&read("models/handlecheck.lock")).expect("a lock is TOML");
        let word = |run: &toml::Value, key: &str| run[key].as_str().expect("it is a word").to_owned();
        let mut scenarios = BTreeMap::new();
        let mut protocols = BTreeMap::new();
        for name in library::names(Kind::Scenario) {
            let source = library::find(Kind::Scenario, name).expect("it is listed");
            let scenario = input::read_scenario(&source, &invariant_names()).expect("it is right");
            let protocol = input::protocol_of(&scenario, None).expect("it is there");
            protocols.insert(name.to_owned(), protocol.value.name);
            let (title, about) = (scenario.value.title, scenario.value.about);
            scenarios.insert(name.to_owned(), About { title, about, text: source.text.to_string() });
        }
        let mut designs = BTreeMap::new();
        for name in library::names(Kind::Design) {
            let source = library::find(Kind::Design, name).expect("it is listed");
            let design = input::read_design(&source).expect("it is right").value;
            let about = About { title: design.title, about: design.about, text: source.text.to_string() };
            designs.insert(name.to_owned(), about);
        }
        let runs = lock["runs"].as_array().expect("a list").iter().filter_map(|run| {
            let (scenario, design) = (word(run, "scenario"), word(run, "design"));
            let usual = protocols.get(&scenario)? == run["protocol"].as_str()? && designs.contains_key(&design);
            let verdicts = run.get("verdicts")?.as_table()?.iter();
            let verdicts = verdicts.filter_map(|(name, verdict)| match verdict {
                toml::Value::Array(breaks) => Some((name.clone(), Some(breaks.first()?.get("steps")?.as_integer()?))),
                other => (other.as_str() == Some("holds")).then(|| (name.clone(), None)),
            });
            let verdicts = verdicts.collect();
            let vacuous = run.get("vacuous").and_then(toml::Value::as_array).into_iter().flatten();
            let vacuous = vacuous.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
            let states = run["states"].as_integer().unwrap_or(0);
            usual.then_some(Locked { scenario, design, states, verdicts, vacuous })
        });
        Self { runs: runs.collect(), designs, scenarios }
    }

    /// The part of a page about one run: verdicts, and of the shortest break its picture, its story, and the nearest design
    /// that does not have it.
    fn part(&self, run: &Locked) -> String {
        let Locked { scenario, design, .. } = run;
        let about = &self.scenarios[scenario];
        let mut page = format!("In the scenario `{scenario}` ({}):\n\n", about.title);
        page += &format!("```handlecheck verdicts {scenario} {design}\n```\n\n");
        let shortest = run.verdicts.iter().filter_map(|(name, steps)| Some(((*steps)?, name))).min();
        let Some((_, property)) = shortest else { return page };
        page += &format!(
            "![The shortest break of {property}]({design}.svg \"handlecheck diagram {scenario} {design} {property}\")\n\n"
        );
        page += &format!("```handlecheck explain {scenario} {design} {property}\n```\n\n");
        let holds = |other: &&Locked| {
            let fine = other.verdicts.get(property) == Some(&None) || other.vacuous.contains(property);
            other.scenario == *scenario && other.design != *design && fine
        };
        let text = |name: &str| &*self.designs[name].text;
        let distance = |other: &&Locked| {
            let diff = TextDiff::from_lines(text(design), text(&other.design));
            let changed = diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal);
            let told =
                changed.filter(|change| !change.value().starts_with("title") && !change.value().starts_with("about"));
            let other_breaks = other.verdicts.values().flatten().count();
            // The repair that the incident itself names comes first. Where it is not even possible that the property breaks,
            // a repair is less to the point.
            let own = other.design.starts_with(&format!("{scenario}-repaired"));
            (!own, other.vacuous.contains(property), other_breaks, told.count(), other.design.clone())
        };
        let Some(repaired) = self.runs.iter().filter(holds).min_by_key(distance) else { return page };
        let other = &repaired.design;
        page += &format!("## Repaired\n\n{}: `{other}`.\n\n", self.designs[other].title);
        if repaired.vacuous.contains(property) {
            page += &format!("With it no run comes to where `{property}` could break.\n\n");
        }
        page += &format!("```diff handlecheck patch {design} {other}\n```\n\n");
        page += &format!("```handlecheck verdicts {scenario} {other}\n```\n\n");
        page
    }

    /// The run of a design that its page shows: one with a break if there is one, and of those the smallest.
    fn shown(&self, design: &str) -> Option<&Locked> {
        let runs = self.runs.iter().filter(|run| run.design == design);
        // What is shown of deploys is shown of two designs at once.
        let of_deploys = |run: &Locked| run.scenario.starts_with("deploy-");
        runs.min_by_key(|run| {
            (run.verdicts.values().all(Option::is_none), of_deploys(run), run.states, run.scenario.clone())
        })
    }
}

fn paragraph(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("{}\n\n", text.trim()) }
}

/// Every page of the gallery: its path, and its text with empty blocks.
pub fn pages() -> BTreeMap<String, String> {
    let library = Library::read();
    let mut pages = BTreeMap::new();
    let mut index = "# Gallery\n\nEvery shipped design and every incident: what it comes to, its shortest break, and the nearest \
                     design that does not have it. The answers on these pages are those of the models: `handlecheck docs \
                     check docs/gallery` holds them to that.\n\n## Designs\n\n"
        .to_owned();
    for path in files("models/designs", ".toml") {
        let name = path.trim_start_matches("models/designs/").trim_end_matches(".toml");
        let (Some(about), Some(run)) = (library.designs.get(name), library.shown(name)) else { continue };
        let head = format!("# {}\n\n{}", about.title, paragraph(&about.about));
        let page = format!("{head}{}", library.part(run));
        pages.insert(format!("docs/gallery/{name}.md"), format!("{}\n", page.trim_end()));
        index += &format!("- [{}]({name}.md)\n", about.title);
    }
    index += "\n## Incidents\n\n";
    for path in files("models/incidents", ".scenario.toml") {
        let stem = path.trim_start_matches("models/incidents/").trim_end_matches(".scenario.toml");
        let Some(about) = library.scenarios.get(stem) else { continue };
        let broken: BTreeSet<&String> =
            library.designs.keys().filter(|name| name.starts_with(&format!("{stem}-broken"))).collect();
        let mut page = format!("# {}\n\n{}", about.title, paragraph(&about.about));
        for name in broken {
            let Some(run) = library.runs.iter().find(|run| run.scenario == stem && run.design == **name) else {
                continue;
            };
            let design = &library.designs[name];
            page += &format!("## {}\n\n{}", design.title, paragraph(&design.about));
            page += &library.part(run).replace("\n## Repaired\n", "\n### Repaired\n");
        }
        pages.insert(format!("docs/gallery/{stem}.md"), format!("{}\n", page.trim_end()));
        index += &format!("- [{}]({stem}.md)\n", about.title);
    }
    pages.insert("docs/gallery/README.md".to_owned(), index);
    pages
}
