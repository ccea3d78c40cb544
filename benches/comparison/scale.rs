//! How states, time and memory grow with agents, nodes and faults, as they are and reduced.

use crate::measure::{Measured, Mode, apart};
use crate::plot::{Line, plot};
use crate::promela::Size;

/// At most so many states of one search.
const MOST: usize = 60_000_000;

const fn size(agents: u8, nodes: u8, drops: u8, restarts: u8) -> Size {
    Size { agents, nodes, drops, restarts }
}

/// What grows, and the sizes, smallest first.
const SERIES: &[(&str, &[Size])] = &[
    ("agents", &[size(1, 2, 1, 1), size(2, 2, 1, 1), size(3, 2, 1, 1), size(4, 2, 1, 1)]),
    ("agents, without faults", &[size(2, 2, 0, 0), size(3, 2, 0, 0), size(4, 2, 0, 0), size(5, 2, 0, 0)]),
    ("nodes", &[size(2, 1, 1, 1), size(2, 2, 1, 1), size(2, 3, 1, 1), size(2, 4, 1, 1)]),
    ("drops", &[size(2, 2, 0, 1), size(2, 2, 1, 1), size(2, 2, 2, 1), size(2, 2, 3, 1), size(2, 2, 4, 1)]),
    ("restarts", &[size(2, 2, 1, 0), size(2, 2, 1, 1), size(2, 2, 1, 2), size(2, 2, 1, 3), size(2, 2, 1, 4)]),
];

/// A size in words.
pub fn words(size: Size) -> String {
    let plural = |count: u8, word: &str| match count {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        more => format!("{more} {word}s"),
    };
    let Size { agents, nodes, drops, restarts } = size;
    [(agents, "agent"), (nodes, "node"), (drops, "drop"), (restarts, "restart")]
        .map(|(count, word)| plural(count, word))
        .join(", ")
}

/// The table, and the plot.
pub fn grows() -> (String, String) {
    let mut table = "| basket | states | seconds | MiB | bytes a state | reduced: states | seconds | MiB |\n\
                     | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    let mut lines = Vec::new();
    for (grows, sizes) in SERIES {
        let (mut whole, mut reduced) = (Vec::new(), Vec::new());
        // What is too large is not begun with anything larger.
        let mut fits = [true; 2];
        for &size in *sizes {
            let mut run = |mode: Mode, at: usize| {
                let measured = fits[at].then(|| apart(mode, size, MOST))?;
                fits[at] = measured.complete;
                Some(measured)
            };
            let (all, some) = (run(Mode::Whole(2), 0), run(Mode::Reduced(2), 1));
            let [states, seconds, memory] = cells(all.as_ref());
            let bytes = all.map_or_else(|| "-".to_owned(), |all| all.bytes_a_state().to_string());
            let [fewer, sooner, less] = cells(some.as_ref());
            table += &format!(
                "| {} | {states} | {seconds} | {memory} | {bytes} | {fewer} | {sooner} | {less} |\n",
                words(size)
            );
            whole.extend(all.filter(|all| all.complete).map(|all| all.states));
            reduced.extend(some.filter(|some| some.complete).map(|some| some.states));
        }
        lines.push(Line { name: (*grows).to_owned(), whole, reduced });
    }
    (table, plot(&lines))
}

fn cells(measured: Option<&Measured>) -> [String; 3] {
    let Some(measured) = measured else { return ["-"; 3].map(str::to_owned) };
    let more = if measured.complete { "" } else { "more than " };
    [
        format!("{more}{}", measured.states),
        format!("{more}{:.2}", measured.seconds),
        format!("{more}{}", measured.bytes >> 20),
    ]
}
