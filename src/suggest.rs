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

/// A question that offers the nearest name, or the few of which `name` is a part.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    let meant =
        nearest(name, known.iter().copied()).map_or_else(|| of_which_it_is_a_part(name, &known), |near| vec![near]);
    (!meant.is_empty()).then(|| format!("did you mean {}?", one_of(meant)))
}

/// At most this many names are offered at once.
const OFFERED: usize = 4;

/// The names of which `name` is a part; none if they are too many to choose from.
fn of_which_it_is_a_part<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    // Shorter ones are a part of anything.
    const SHORTEST: usize = 3;
    let name = folded(name);
    let long_enough = name.chars().count() >= SHORTEST;
    let longer: Vec<&str> =
        known.iter().copied().filter(|known| long_enough && folded(known).contains(&name)).collect();
    if longer.len() > OFFERED { Vec::new() } else { longer }
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
    fn names_of_which_it_is_a_part_are_offered_if_they_are_few() {
        let known = ["no-lost-update", "no-double-write", "no-cross-principal", "no-orphan", "no-effect"];
        assert_eq!(did_you_mean("lost", known).as_deref(), Some("did you mean `no-lost-update`?"));
        assert_eq!(did_you_mean("Double", known).as_deref(), Some("did you mean `no-double-write`?"));
        assert_eq!(did_you_mean("up", known), None);
        assert_eq!(did_you_mean("no-", known), None);
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
