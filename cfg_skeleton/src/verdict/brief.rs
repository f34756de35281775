//! Long lists in what people read: calls, arguments, memory. Output for programs has all of them.

/// Items of a list that are shown as it is.
const SHORT: usize = 12;
/// Items at the beginning of a longer one, and at its end.
const EDGE: usize = 2;
/// Items before the first one in which two lists differ, and from there on.
const AROUND: [usize; 2] = [3, 5];

/// A list with what stands in its middle as a number.
pub(super) fn brief(list: &str) -> String {
    let items = items(list);
    let kept = SHORT - EDGE;
    shown(&items, |n| n < kept || n + EDGE >= items.len())
}

/// Two lists, each with its beginning, its end, and where they begin to differ.
pub(super) fn brief_beside(list: &str, other: &str) -> String {
    let (own, others) = (items(list), items(other));
    let differ = own.iter().zip(&others).position(|(one, other)| one != other).unwrap_or(own.len().min(others.len()));
    let [before, behind] = AROUND;
    shown(&own, |n| n < EDGE || n + EDGE >= own.len() || (n + before >= differ && n < differ + behind))
}

/// The items of a list: commas inside of brackets do not separate them.
fn items(list: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth) = (vec![], 0, 0_u32);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 && list[at..].starts_with(", ") => {
                found.push(&list[start..at]);
                start = at + 2;
            }
            _ => {}
        }
    }
    found.push(&list[start..]);
    found
}

/// The items that are kept, and how many the others are.
fn shown(items: &[&str], kept: impl Fn(usize) -> bool) -> String {
    if items.len() <= SHORT {
        return items.join(", ");
    }
    let mut parts: Vec<String> = vec![];
    let mut left_out = 0;
    for (n, item) in items.iter().enumerate() {
        if !kept(n) {
            left_out += 1;
            continue;
        }
        parts.extend((left_out > 0).then(|| format!(".. ({left_out} more) ..")));
        left_out = 0;
        parts.push(item.to_string());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_list_is_a_number() {
        let calls = |n: usize| (0..n).map(|i| format!("calls @f(i32 {i}, i32 0)")).collect::<Vec<_>>();
        assert_eq!(brief(&calls(12).join(", ")), calls(12).join(", "));
        let all = calls(300);
        let expected = [&all[..10], &[".. (288 more) ..".to_string()], &all[298..]].concat();
        assert_eq!(brief(&all.join(", ")), expected.join(", "));
    }

    #[test]
    fn where_lists_differ_is_shown() {
        let was: Vec<String> = (0..100).map(|i| format!("calls @f({i}, [1, 2])")).collect();
        let mut is = was.clone();
        is[50] = "calls @g()".into();
        let shown = brief_beside(&is.join(", "), &was.join(", "));
        let expected = "calls @f(0, [1, 2]), calls @f(1, [1, 2]), .. (45 more) .., calls @f(47, [1, 2]), \
                        calls @f(48, [1, 2]), calls @f(49, [1, 2]), calls @g(), calls @f(51, [1, 2])";
        assert!(
            shown.starts_with(expected)
                && shown.ends_with(".. (43 more) .., calls @f(98, [1, 2]), calls @f(99, [1, 2])"),
            "{shown}"
        );
        // One has a call more.
        let shown = brief_beside(&was[..99].join(", "), &was.join(", "));
        assert!(shown.ends_with("calls @f(97, [1, 2]), calls @f(98, [1, 2])"), "{shown}");
    }
}
