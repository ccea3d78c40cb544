//! Names that a reader may have meant, and lists of names in prose.

/// The name among `known` that is nearest to `name`, if one is near enough to be a slip of the hand.
///
/// Case and the difference between `_`, `-` and a space don't count. Of equally near names the first is taken, so the
/// answer depends on nothing but the arguments.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = folded(name);
    let length = name.chars().count();
    // At least one character is as it should be, or everything would be near to a name of one letter.
    let most = (length / 3).max(1).min(length.saturating_sub(1));
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name, &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A question that offers the nearest name.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// The names as prose: "`a`, `b` or `c`".
pub fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}

fn folded(name: &str) -> String {
    // Beyond this no name of ours is near, and the distance is quadratic in the length.
    const LENGTH: usize = 64;
    name.chars().take(LENGTH).flat_map(char::to_lowercase).map(|c| if c == '_' || c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        let known = ["check-version", "check-live", "claim-key"];
        assert_eq!(nearest("check_vesrion", known), Some("check-version"));
        assert_eq!(nearest("Check-Live", known), Some("check-live"));
        assert_eq!(nearest("apply", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn of_equally_near_names_the_first_is_offered() {
        assert_eq!(nearest("bat", ["cat", "hat"]), Some("cat"));
        assert_eq!(nearest("b", ["a", "B"]), Some("B"));
        assert_eq!(nearest("b", ["a", "c"]), None);
    }

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(one_of([]), "nothing");
        assert_eq!(one_of(["a"]), "`a`");
        assert_eq!(one_of(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
