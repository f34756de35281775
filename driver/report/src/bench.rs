//! What was measured, as one page of HTML: figures, and curves over the size of what was measured.

pub use crate::chart::{Axis, Chart, Series};

use crate::shell;
use maud::html;

const STYLE: &str = concat!(include_str!("base.css"), include_str!("bench.css"));

/// What was measured.
pub struct Measurements<'m> {
    /// The command.
    pub title: &'m str,
    /// Curves.
    pub charts: &'m [Chart],
    /// What the command prints.
    pub text: &'m str,
}

impl Measurements<'_> {
    /// The page.
    pub fn html(&self) -> String {
        let contents = html! {
            h1 { "Measured: " code { (self.title) } }
            p.soft {
                "All figures of a page come from one run on one machine: ratios say more than times. Costs are static: \
                 what packs or a profile say that an operation costs, times how often its block is assumed to be executed."
            }
            div.charts { @for chart in self.charts { (chart.html()) } }
            h2 { "All figures" }
            pre { (self.text) }
        };
        shell::alone(self.title, STYLE, &contents)
    }
}
