//! Draws diagnostics for people: the file, the line, the offending words underlined.

use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan,
    SpanContents, ThemeCharacters, ThemeStyles,
};

use super::diagnostic::{Diagnostic, Place, Severity};

/// How diagnostics are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// For files, pipes and tests: ASCII lines, no colour; the same bytes everywhere.
    Plain,
    /// For a terminal: box-drawing characters and colours.
    Colour,
}

/// Columns of a rendered diagnostic, whatever the terminal is: rendering must not depend on where it happens.
const WIDTH: usize = 110;

/// Characters of a source line that are shown on either side of the underlined words, when the line is too long to be
/// shown whole.
const AROUND: usize = 60;

/// The diagnostics as text, one after another.
///
/// # Panics
///
/// Only if this crate has a bug: writing to a string doesn't fail, and an excerpt always has its place.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], look: Look) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        let drawn = Drawn::from(diagnostic);
        if !text.is_empty() {
            text.push('\n');
        }
        handler(look).render_report(&mut text, &drawn).expect("writing to a string doesn't fail, nor does an excerpt");
    }
    // The handler pads lines; trailing spaces would only be noise in files that hold this text.
    let mut trimmed = String::with_capacity(text.len());
    for line in text.lines() {
        trimmed.push_str(line.trim_end());
        trimmed.push('\n');
    }
    trimmed
}

fn handler(look: Look) -> GraphicalReportHandler {
    let theme = match look {
        Look::Plain => {
            let mut characters = ThemeCharacters::ascii();
            "error:".clone_into(&mut characters.error);
            "warning:".clone_into(&mut characters.warning);
            GraphicalTheme { characters, styles: ThemeStyles::none() }
        }
        Look::Colour => GraphicalTheme { characters: ThemeCharacters::unicode(), styles: ThemeStyles::ansi() },
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(WIDTH)
        .with_context_lines(0)
        .with_links(false)
        // Names have a `-` in them, and are copied from here.
        .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
        .without_syntax_highlighting()
}

/// A diagnostic in the form that miette draws.
#[derive(Debug)]
struct Drawn<'a> {
    diagnostic: &'a Diagnostic,
    excerpt: Option<Excerpt>,
}

impl<'a> From<&'a Diagnostic> for Drawn<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        Self { diagnostic, excerpt: diagnostic.place.as_ref().map(Excerpt::of) }
    }
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.diagnostic.message))
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.diagnostic.help.as_ref().map(|help| Box::new(printable(help)) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        let label = Some(self.diagnostic.label.as_str()).filter(|label| !label.is_empty()).map(printable);
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(label, excerpt.marked))))
    }
}

/// The one line of a source that a diagnostic shows, made fit to be shown: control characters are replaced, and of a
/// very long line only the surroundings of the place are kept.
#[derive(Debug)]
struct Excerpt {
    origin: String,
    line: usize,
    column: usize,
    text: String,
    marked: SourceSpan,
}

impl Excerpt {
    fn of(place: &Place) -> Self {
        let text = &*place.source.text;
        let start = place.span.start;
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        // A place that spans several lines is shown by its first one.
        let end = place.span.end.clamp(start, line_end);

        let mut before = printable(&text[line_start..start]);
        let marked = printable(&text[start..end]);
        let mut after = printable(text[end..line_end].trim_end_matches('\r'));
        let length = |part: &str| part.chars().count();
        if length(&before) + length(&marked) + length(&after) > WIDTH {
            if length(&before) > AROUND {
                before = format!("...{}", before.chars().skip(length(&before) - AROUND).collect::<String>());
            }
            if length(&after) > AROUND {
                after = format!("{}...", after.chars().take(AROUND).collect::<String>());
            }
        }
        let mut marked: String = marked.chars().take(WIDTH).collect();
        if marked.is_empty() {
            // Between two characters there is nothing to underline: take the next one, or a space at the line's end.
            marked.push(if after.is_empty() { ' ' } else { after.remove(0) });
        }
        Self {
            origin: printable(&place.source.origin),
            line: place.line(),
            column: text[line_start..start].chars().count() + 1,
            marked: (before.len(), marked.len()).into(),
            text: before + &marked + &after,
        }
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        _: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let whole = (0, self.text.len()).into();
        let contents = MietteSpanContents::new_named(
            self.origin.clone(),
            self.text.as_bytes(),
            whole,
            self.line - 1,
            self.column - 1,
            1,
        );
        Ok(Box::new(contents))
    }
}

/// What a file says must not reach a terminal as control sequences, and must have a width that is known.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c == '\n' || c == '\t' {
                ' '
            } else if c.is_control() {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}
