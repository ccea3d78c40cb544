//! How things look: one class for each role, light by default and dark where the reader wants it.
//!
//! Single-class selectors without custom properties, since that is the least that converters support; all with one prefix,
//! so that nothing restyles a page that holds the picture. Shape and weight carry the meaning and hue only repeats it.

use crate::diagrams::sequence::Shown;

/// The sans-serif type that the reader's system has.
pub const SANS: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans','Liberation Sans',\
                        'DejaVu Sans',sans-serif";

/// The classes of what a trace is about: lines, texts, what is filled, and grounds.
#[derive(Clone, Copy)]
pub struct Tone {
    pub line: &'static str,
    pub text: &'static str,
    pub solid: &'static str,
    pub fill: &'static str,
}

/// How what a trace is about is drawn.
pub const fn tone(shows: Shown) -> Tone {
    match shows {
        Shown::Violation => Tone { line: "h-bad", text: "h-badtext", solid: "h-badsolid", fill: "h-badfill" },
        Shown::Situation => Tone { line: "h-met", text: "h-mettext", solid: "h-metsolid", fill: "h-metfill" },
    }
}

/// The style sheet of a picture.
pub fn sheet(shows: Shown) -> String {
    match shows {
        Shown::Violation => SHEET.to_owned(),
        Shown::Situation => [SHEET, MET].concat(),
    }
}

/// What every picture needs.
pub const SHEET: &str = "\
.h-text{fill:#1b1f24}.h-dim{fill:#57606a}.h-solid{fill:#1b1f24}.h-paper,.h-rev{fill:#fff}.h-box{fill:#f3f5f7;stroke:#1b1f24}
.h-line,.h-ink,.h-see,.h-old,.h-bad,.h-halo{fill:none}.h-line{stroke:#868e99}.h-ink{stroke:#1b1f24}.h-halo{stroke:#fff}
.h-see{stroke:#1f5fa8}.h-badge{fill:#fff;stroke:#1f5fa8}.h-ghost{fill:#fff;stroke:#1b1f24}
.h-old{stroke:#8f5200}.h-oldbadge{fill:#fff4dc;stroke:#8f5200}.h-oldtext{fill:#744300}
.h-bad{stroke:#b3261e}.h-badtext,.h-badsolid{fill:#b3261e}.h-badfill{fill:#fdeceb}
.h-b{font-weight:700}.h-n{font-variant-numeric:tabular-nums}.h-s{font-size:12px}.h-c{text-anchor:middle}.h-e{text-anchor:end}
.h-m{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace}
@media (prefers-color-scheme:dark){
.h-text{fill:#e6edf3}.h-dim{fill:#9da7b3}.h-solid{fill:#e6edf3}.h-paper,.h-rev{fill:#0d1117}.h-box{fill:#1c222b;stroke:#e6edf3}
.h-line{stroke:#6e7681}.h-ink{stroke:#e6edf3}.h-halo{stroke:#0d1117}
.h-see{stroke:#79b8ff}.h-badge{fill:#0d1117;stroke:#79b8ff}.h-ghost{fill:#0d1117;stroke:#e6edf3}
.h-old{stroke:#e3b341}.h-oldbadge{fill:#2b2210;stroke:#e3b341}.h-oldtext{fill:#f0c862}
.h-bad{stroke:#ff8b82}.h-badtext,.h-badsolid{fill:#ff8b82}.h-badfill{fill:#321718}}
";

/// What only the picture of a situation needs.
const MET: &str = "\
.h-met{fill:none;stroke:#18722f}.h-mettext,.h-metsolid{fill:#18722f}.h-metfill{fill:#e6f4ea}
@media (prefers-color-scheme:dark){
.h-met{stroke:#56d364}.h-mettext,.h-metsolid{fill:#56d364}.h-metfill{fill:#12261e}}
";

#[cfg(test)]
mod tests {
    use super::{MET, SHEET};

    /// The colour of a property of a class, in the light sheet or in the dark one.
    fn colour(sheet: &str, class: &str, property: &str) -> u32 {
        let rules = sheet.split('}').filter_map(|rule| rule.split_once('{'));
        let named = |names: &str| names.trim().split(',').any(|name| name.trim() == format!(".{class}"));
        let mut values = rules.filter(|(names, _)| named(names)).flat_map(|(_, body)| body.split(';'));
        let value = values.find_map(|one| one.strip_prefix(property)?.strip_prefix(":#"));
        let value = value.unwrap_or_else(|| panic!("{class} has a {property}"));
        let long: String =
            if value.len() == 3 { value.chars().flat_map(|it| [it, it]).collect() } else { value.into() };
        u32::from_str_radix(&long, 16).expect("it is a colour")
    }

    /// As the guidelines for accessibility (WCAG 2.2) define it.
    fn contrast(one: u32, other: u32) -> f64 {
        let linear = |part: u32| {
            let part = f64::from(part & 255) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let light = |it: u32| 0.2126 * linear(it >> 16) + 0.7152 * linear(it >> 8) + 0.0722 * linear(it);
        let (one, other) = (light(one) + 0.05, light(other) + 0.05);
        (one / other).max(other / one)
    }

    #[test]
    fn everything_stands_out_from_what_it_is_drawn_on() {
        let halves = [SHEET, MET].map(|it| it.split_once("@media (prefers-color-scheme:dark){").expect("it has both"));
        let (light, dark) = (halves.map(|(light, _)| light).concat(), halves.map(|(_, dark)| dark).concat());
        let texts = [
            ("h-text", "h-paper"),
            ("h-text", "h-box"),
            ("h-text", "h-badge"),
            ("h-text", "h-badfill"),
            ("h-dim", "h-paper"),
            ("h-rev", "h-solid"),
            ("h-oldtext", "h-paper"),
            ("h-oldtext", "h-oldbadge"),
            ("h-badtext", "h-paper"),
            ("h-badtext", "h-box"),
            ("h-badtext", "h-badfill"),
            ("h-text", "h-metfill"),
            ("h-mettext", "h-paper"),
            ("h-mettext", "h-metfill"),
        ];
        let lines =
            ["h-line", "h-ink", "h-see", "h-old", "h-bad", "h-met", "h-badge", "h-oldbadge", "h-ghost", "h-box"];
        for (name, sheet) in [("light", &light), ("dark", &dark)] {
            for (text, ground) in texts {
                let found = contrast(colour(sheet, text, "fill"), colour(sheet, ground, "fill"));
                assert!(found >= 4.5, "{name}: {text} on {ground}: {found:.2}");
            }
            for line in lines {
                let found = contrast(colour(sheet, line, "stroke"), colour(sheet, "h-paper", "fill"));
                assert!(found >= 3.0, "{name}: {line}: {found:.2}");
            }
        }
    }
}
