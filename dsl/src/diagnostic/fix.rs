//! Making the fixes that diagnostics carry.
//!
//! **Invariant**: fixes that overlap are not both made; a text is changed only within the spans of fixes.

use super::{Applicability, Diagnostic, Fix, Sources};

/// The fixes that may be made unseen.
pub fn safe(diagnostics: &[Diagnostic]) -> impl Iterator<Item = &Fix> {
    let fixes = diagnostics.iter().filter_map(|d| d.fix.as_ref());
    fixes.filter(|fix| fix.applicability == Applicability::Safe)
}

/// The texts that fixes change, by index in [`Sources::files`], and how many fixes each had.
pub fn fixed<'f>(fixes: impl IntoIterator<Item = &'f Fix>, sources: &Sources) -> Vec<(usize, String, usize)> {
    let mut fixes: Vec<&Fix> = fixes.into_iter().collect();
    fixes.sort_by_key(|fix| (fix.span, &fix.replacement));
    // Several findings may have one and the same cause.
    fixes.dedup();
    let mut changed = vec![];
    for (index, (_, text)) in sources.files.iter().enumerate() {
        let (mut out, mut at, mut made) = (String::new(), 0, 0);
        for fix in fixes.iter().filter(|fix| fix.span.file as usize == index) {
            let (start, end) = (fix.span.start as usize, fix.span.end as usize);
            let Some(between) = text.get(at..start).filter(|_| text.get(start..end).is_some()) else { continue };
            out.push_str(between);
            out.push_str(&fix.replacement);
            (at, made) = (end, made + 1);
        }
        if made > 0 {
            out.push_str(&text[at..]);
            changed.push((index, out, made));
        }
    }
    changed
}
