//! Standard packs that were renamed: their former names are accepted, with a warning that gives the new one.

/// The code of the warning at a former name in a pack.
pub const CODE: &str = "RW0511";

/// Former and present names.
pub(crate) const PACKS: [(&str, &str); 3] =
    [("std.turns", "std.byte_swaps"), ("std.halves", "std.split_multiply"), ("std.larger", "std.wide_types")];

/// The present name of a pack, or of something in a pack, that is given by a former name.
pub fn present_name(name: &str) -> Option<String> {
    PACKS.iter().find_map(|(former, present)| {
        let rest = name.strip_prefix(former)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("{present}{rest}"))
    })
}

/// The warning about a former name, for names that are not in a file.
pub fn warning(former: &str, present: &str) -> String {
    format!("{former} is a former name; it is called {present} now")
}

#[cfg(test)]
mod tests {
    use super::present_name;

    #[test]
    fn packs_and_what_is_in_them_have_present_names() {
        assert_eq!(present_name("std.turns").as_deref(), Some("std.byte_swaps"));
        assert_eq!(present_name("std.halves.parts.low").as_deref(), Some("std.split_multiply.parts.low"));
        for unchanged in ["std", "std.turnstile", "mine.std.turns", "std.byte_swaps", "turns"] {
            assert_eq!(present_name(unchanged), None, "{unchanged}");
        }
    }
}
