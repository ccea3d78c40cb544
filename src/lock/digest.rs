//! Digests of inputs: they say that a text is another one, and are no protection against whoever wants them equal.

use rapidhash::v3::rapidhash_v3;

/// The digest of an input's text: the 64 bits of `rapidhash`, version 3, whose values never change. How lines end does not
/// count: a checkout may change it.
#[must_use]
pub fn digest(text: &str) -> String {
    format!("rapidhash-v3:{:016x}", rapidhash_v3(text.replace("\r\n", "\n").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors that must never change: locks of today are read tomorrow.
    #[test]
    fn digests_are_the_same_for_ever() {
        assert_eq!(digest(""), "rapidhash-v3:0338dc4be2cecdae");
        assert_eq!(digest("title = \"x\"\n"), "rapidhash-v3:af93dbb912d2d3ae");
        assert_eq!(digest("title = \"x\"\r\n"), digest("title = \"x\"\n"));
    }
}
