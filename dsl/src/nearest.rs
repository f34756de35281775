//! Which name was meant, where one is wrong.

use strsim::osa_distance;

/// The nearest of several names, if it is near enough to be what was meant; the first of equally near ones.
pub fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (wrong.chars().count() / 3).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        if name == wrong || name.chars().count().abs_diff(wrong.chars().count()) > limit {
            continue;
        }
        let d = osa_distance(wrong, name);
        if d <= limit && d < name.chars().count() && best.is_none_or(|(least, _)| d < least) {
            best = Some((d, name));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_slips_of_the_hand() {
        assert_eq!(nearest("iad", ["isub", "iadd", "imul"]), Some("iadd"));
        assert_eq!(nearest("idad", ["isub", "iadd"]), Some("iadd"));
        assert_eq!(nearest("transpose", ["iadd"]), None);
        assert_eq!(nearest("x", ["y"]), None);
    }
}
