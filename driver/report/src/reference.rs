//! Packs for readers: what they declare and what is known of it.
//!
//! * [`markdown`]: a page per pack with what it declares, for readers of Markdown;
//! * [`diagnostics`]: the index of diagnostics;
//! * [`site`]: pages of HTML with everything that packs declare, linked both ways, with a search that needs no server.
//!
//! Everything is read from the packs and from the evidence beside them, so a page says nothing that no command checks;
//! the same packs give the same bytes.

pub mod diagnostics;
mod entry;
mod known;
mod language;
pub mod markdown;
mod prose;
mod search;
pub mod site;
mod texts;

/// A page: the name of its file, and its text.
pub type Page = (String, String);

/// What every page says of where it comes from.
pub const MADE: &str = "Made by `rewright doc`";

/// Names of pages that are no packs'.
const OTHER_PAGES: [&str; 4] = ["diagnostics", "index", "language", "readme"];

/// The file of a pack's page. A file system may take names for the same that differ in case, so a pack of the name of
/// another page has one of its own; no pack has a name with a hyphen.
fn page_of(pack: &str, extension: &str) -> String {
    // A pack without a clause is named by its file, which may have any name.
    let pack: String =
        pack.chars().map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' }).collect();
    match OTHER_PAGES.contains(&pack.to_lowercase().as_str()) {
        true => format!("{pack}-pack.{extension}"),
        false => format!("{pack}.{extension}"),
    }
}
