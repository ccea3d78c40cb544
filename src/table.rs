//! Tables: a folder of files, one file a row.
//!
//! A row's name is its file's name, its page is the `//!` comment at the file's top, and what it does is one `static`
//! in it. Adding a row is one new file and one word in the folder's table; names, parsing, suggestions, help and the
//! reference pages come from there.

use std::ops::Deref;

/// One row: a named thing with a page.
#[derive(Debug)]
pub struct Row<T: 'static> {
    /// The name everywhere: in files, traces, diagrams, help.
    pub name: &'static str,
    /// The text of the row's source file.
    pub source: &'static str,
    /// What it does.
    pub item: &'static T,
}

impl<T> Deref for Row<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.item
    }
}

impl<T> Row<T> {
    /// The page: the leading `//!` comment of the source file, as Markdown.
    #[must_use]
    pub fn page(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }

    /// The first sentence of the page, without its full stop.
    #[must_use]
    pub fn summary(&self) -> String {
        let page = self.page();
        let paragraph = page.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        paragraph.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
    }
}

/// Writes a Rust identifier as a name: `check_version` as `check-version`.
#[must_use]
pub const fn name_bytes<const LENGTH: usize>(identifier: &str) -> [u8; LENGTH] {
    let bytes = identifier.as_bytes();
    let mut name = [0; LENGTH];
    let mut index = 0;
    while index < LENGTH {
        name[index] = if bytes[index] == b'_' { b'-' } else { bytes[index] };
        index += 1;
    }
    name
}

/// Declares a folder's modules and its table.
macro_rules! table {
    ($(#[$meta:meta])* $table:ident: $item:ident in $static:ident { $($(#[$when:meta])* $module:ident,)+ }) => {
        $($(#[$when])* mod $module;)+
        $(#[$meta])*
        pub static $table: &[crate::table::Row<$item>] = &[$($(#[$when])* crate::table::Row {
            name: {
                const LENGTH: usize = stringify!($module).len();
                const BYTES: [u8; LENGTH] = crate::table::name_bytes::<LENGTH>(stringify!($module));
                match core::str::from_utf8(&BYTES) { Ok(name) => name, Err(_) => unreachable!() }
            },
            source: include_str!(concat!(stringify!($module), ".rs")),
            item: &$module::$static,
        },)+];
    };
}
pub(crate) use table;
