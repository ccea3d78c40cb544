//! Signs: small shapes that stand for one thing wherever they are.

use crate::diagrams::sequence::Sign;

/// How wide a sign is, with the room behind it.
pub const SIGN: i32 = 17;

/// A sign, at the height of a text: an arrow that leaves its box, a lock that is shut, and one that is open.
pub fn drawn(sign: Sign, x: i32, y: i32) -> String {
    match sign {
        Sign::Outside => format!(
            "<path class=\"h-ink\" stroke-width=\"1.5\" d=\"M{} {}h-4v8h8v-4m-4 0l6-6m-5 0h5v5\"/>",
            x + 5,
            y - 7
        ),
        Sign::Leased => format!(
            "<path class=\"h-ink\" stroke-width=\"1.5\" d=\"M{} {}v-2a2.5 2.5 0 0 1 5 0v2\"/>\
             <path class=\"h-solid\" d=\"M{} {}h9v7h-9z\"/>",
            x + 3,
            y - 5,
            x + 1,
            y - 6
        ),
        Sign::Returned => format!(
            "<path class=\"h-ink\" stroke-width=\"1.5\" d=\"M{} {}v-3a2.5 2.5 0 0 1 5 0M{} {}h9v7h-9z\"/>",
            x + 3,
            y - 6,
            x + 1,
            y - 6
        ),
    }
}

/// A stream that breaks.
pub fn broken_line(at: i32) -> String {
    format!("<path class=\"h-ink\" stroke-width=\"2.5\" d=\"M{at} 10l6-20M{} 10l6-20\"/>", at + 7)
}

/// The filled head of an arrow whose tip is just short of a lane.
pub fn head(x: i32, direction: i32) -> String {
    let back = -9 * direction;
    format!("M{} 0l{back}-4.5v9z", x - direction)
}
