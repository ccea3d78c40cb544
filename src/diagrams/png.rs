//! The picture as pixels, for what takes no other format: twice as many as its width says, light.
//!
//! Drawn from the SVG in a type that is built in, so that it has the same bytes on every machine. Without the feature
//! `png`, handlecheck is built without this format, its renderer and the type. What the type has no sign for, such as
//! Chinese characters, is drawn as boxes, and `diagram` says so.

use std::collections::BTreeSet;

use resvg::{tiny_skia, usvg};
use skrifa::{FontRef, MetadataProvider};

use super::svg;
use super::{Draw, Format};
use crate::trace::Trace;

pub static FORMAT: Format = Format { extension: "png", draw: Draw::Bytes { draw, lacks } };

/// So many pixels for one of the picture's.
const SCALE: f32 = 2.0;

fn draw(trace: &Trace) -> Vec<u8> {
    let mut fonts = usvg::fontdb::Database::new();
    for font in [dejavu::sans::regular(), dejavu::sans::bold(), dejavu::sans_mono::regular()] {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    fonts.set_monospace_family("DejaVu Sans Mono");
    let options = usvg::Options {
        font_family: "DejaVu Sans".to_owned(),
        fontdb: std::sync::Arc::new(fonts),
        ..Default::default()
    };
    let tree = usvg::Tree::from_str(&svg::drawn(trace), &options).expect("our own SVG is valid");
    let size = tree.size().to_int_size().scale_by(SCALE).expect("a picture has a size");
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).expect("a picture has a size");
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().expect("pixels can always be encoded")
}

/// The characters of a drawing that the type has no sign for.
fn lacks(trace: &Trace) -> BTreeSet<char> {
    let signs = FontRef::new(dejavu::sans::regular()).expect("the type that is built in is sound").charmap();
    let mut drawn: BTreeSet<char> = svg::drawn(trace).chars().filter(|letter| !letter.is_control()).collect();
    drawn.retain(|letter| signs.map(*letter).is_none());
    drawn
}
