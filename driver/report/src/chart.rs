//! Curves and points as SVG, in the colours of the page that they stand on, with their figures as a table for readers
//! who cannot see them.

use maud::{Markup, html};

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 36.0;

/// How many marks an axis has at most.
const MARKS: usize = 6;

/// At most this many points of a series are listed as figures.
const LISTED: usize = 40;

/// What one axis shows.
#[derive(Clone, Debug)]
pub struct Axis {
    /// With its unit.
    pub name: String,
    /// Equal distances are equal ratios; what is not above 0 is not drawn.
    pub logarithmic: bool,
}

impl Axis {
    /// One on which equal distances are equal ratios.
    pub fn logarithmic(name: &str) -> Axis {
        Axis { name: name.into(), logarithmic: true }
    }

    /// One on which equal distances are equal differences.
    pub fn linear(name: &str) -> Axis {
        Axis { name: name.into(), logarithmic: false }
    }
}

/// What belongs together.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is of.
    pub name: String,
    /// In ascending order where they are joined.
    pub points: Vec<(f64, f64)>,
    /// Are they joined by a line?
    pub joined: bool,
}

/// A picture of series over two axes.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// At most six have colours of their own.
    pub series: Vec<Series>,
}

/// An axis with the values that it shows, over pixels.
struct Scale<'a> {
    axis: &'a Axis,
    from: f64,
    to: f64,
    pixels: (f64, f64),
}

impl<'a> Scale<'a> {
    fn new(axis: &'a Axis, values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Self {
        let shown = values.filter(|value| value.is_finite() && (!axis.logarithmic || *value > 0.0));
        let (mut from, mut to) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if from > to {
            (from, to) = (1.0, 10.0);
        }
        if axis.logarithmic {
            // A value alone is in the middle.
            let margin = if to / from < 1.01 { 2.0 } else { (to / from).powf(0.04) };
            (from, to) = (from / margin, to * margin);
        } else {
            from = from.min(0.0);
            to = if to > from { to + (to - from) * 0.05 } else { from + 1.0 };
        }
        Scale { axis, from, to, pixels }
    }

    fn at(&self, value: f64) -> Option<f64> {
        let share = match self.axis.logarithmic {
            true if value > 0.0 => (value / self.from).ln() / (self.to / self.from).ln(),
            true => return None,
            false => (value - self.from) / (self.to - self.from),
        };
        let (start, end) = self.pixels;
        share.is_finite().then_some(start + share * (end - start))
    }

    /// Round values, few enough to be read.
    fn marks(&self) -> Vec<f64> {
        let steps = if self.axis.logarithmic { self.powers() } else { self.steps() };
        let is_shown = |value: &f64| *value >= self.from * (1.0 - 1e-9) && *value <= self.to * (1.0 + 1e-9);
        steps.into_iter().filter(is_shown).collect()
    }

    fn powers(&self) -> Vec<f64> {
        let (low, high) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        let all = |factors: &[f64], every: i32| -> Vec<f64> {
            let exponents = (low..=high).filter(|exponent| exponent.rem_euclid(every) == 0);
            exponents.flat_map(|exponent| factors.iter().map(move |factor| factor * 10f64.powi(exponent))).collect()
        };
        match (self.to / self.from).log10() {
            decades if decades <= 2.0 => all(&[1.0, 2.0, 5.0], 1),
            decades => all(&[1.0], 1 + decades as i32 / MARKS as i32),
        }
    }

    fn steps(&self) -> Vec<f64> {
        let rough = (self.to - self.from) / (MARKS as f64 - 1.0);
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(power * 10.0);
        let first = (self.from / step).ceil() as i64;
        (first..first + 2 * MARKS as i64).map(|n| n as f64 * step).collect()
    }
}

/// A value for an axis or a table: `0.05`, `12`, `3k`, `5M`.
fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = match scaled.abs() {
        v if v == 0.0 || v >= 100.0 => 0,
        v => (2 - v.log10().floor() as i32).clamp(0, 9) as usize,
    };
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

fn pixel(value: f64) -> String {
    format!("{value:.1}")
}

impl Chart {
    /// The picture, what its colours mean, and its figures.
    pub fn html(&self) -> Markup {
        html! {
            figure {
                figcaption { (self.title) }
                ul.legend {
                    @for (i, series) in self.series.iter().enumerate() {
                        li { span class=(format!("swatch s{}", i % 6)) {} (series.name) }
                    }
                }
                (self.svg())
                (self.figures())
            }
        }
    }

    fn svg(&self) -> Markup {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Scale::new(&self.x, points().map(|point| point.0), (LEFT, WIDTH - RIGHT));
        let y = Scale::new(&self.y, points().map(|point| point.1), (HEIGHT - BOTTOM, TOP));
        let middle = (pixel((LEFT + WIDTH - RIGHT) / 2.0), pixel((TOP + HEIGHT - BOTTOM) / 2.0));
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.title) {
                @for (at, mark) in y.marks().into_iter().filter_map(|mark| Some((y.at(mark)?, mark))) {
                    line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(pixel(at)) y2=(pixel(at)) {}
                    text.end x=(LEFT - 5.0) y=(pixel(at + 3.5)) { (short(mark)) }
                }
                @for (at, mark) in x.marks().into_iter().filter_map(|mark| Some((x.at(mark)?, mark))) {
                    line.grid x1=(pixel(at)) x2=(pixel(at)) y1=(TOP) y2=(HEIGHT - BOTTOM) {}
                    text.middle x=(pixel(at)) y=(HEIGHT - BOTTOM + 14.0) { (short(mark)) }
                }
                text.middle x=(middle.0) y=(HEIGHT - 5.0) { (self.x.name) }
                text.middle x="11" y=(middle.1) transform=(format!("rotate(-90 11 {})", middle.1)) { (self.y.name) }
                @for (i, series) in self.series.iter().enumerate() {
                    @let drawn: Vec<(f64, f64)> =
                        series.points.iter().filter_map(|(a, b)| Some((x.at(*a)?, y.at(*b)?))).collect();
                    g class=(format!("s{}", i % 6)) {
                        @if series.joined {
                            @let line: Vec<String> =
                                drawn.iter().map(|(a, b)| format!("{},{}", pixel(*a), pixel(*b))).collect();
                            polyline points=(line.join(" ")) {}
                        }
                        @for (a, b) in &drawn {
                            circle cx=(pixel(*a)) cy=(pixel(*b)) r=(if series.joined { "2.5" } else { "2" }) {}
                        }
                    }
                }
            }
        }
    }

    fn figures(&self) -> Markup {
        html! {
            details {
                summary { "Figures" }
                div.wide { table {
                    tr { th { "" } th.n { (self.x.name) } th.n { (self.y.name) } }
                    @for series in &self.series {
                        @for (a, b) in series.points.iter().take(LISTED) {
                            tr { td { (series.name) } td.n { (short(*a)) } td.n { (short(*b)) } }
                        }
                        @if series.points.len() > LISTED {
                            tr { td { (series.name) } td.n { ".." } td.n { (series.points.len() - LISTED) " more" } }
                        }
                    }
                } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(logarithmic: bool, points: &[(f64, f64)]) -> Chart {
        let axis = |name: &str| Axis { name: name.into(), logarithmic };
        let series = Series { name: "<ours>".into(), points: points.to_vec(), joined: true };
        Chart { title: "a < b".into(), x: axis("size"), y: axis("ms"), series: vec![series] }
    }

    #[test]
    fn values_are_short() {
        let shown = [0.0, 0.0123, 0.5, 1.0, 12.26, 100.0, 3000.0, 12_000.0, 5e6, -2.0].map(short);
        assert_eq!(shown, ["0", "0.0123", "0.5", "1", "12.3", "100", "3000", "12k", "5M", "-2"]);
    }

    #[test]
    fn marks_are_round_and_few() {
        let marks = |logarithmic, values: &[f64]| {
            let axis = Axis { name: String::new(), logarithmic };
            Scale::new(&axis, values.iter().copied(), (0.0, 100.0)).marks().into_iter().map(short).collect::<Vec<_>>()
        };
        assert_eq!(marks(true, &[10.0, 5000.0]), ["10", "100", "1000"]);
        assert_eq!(marks(true, &[1.0, 30.0]), ["1", "2", "5", "10", "20"]);
        assert_eq!(marks(false, &[0.7, 0.95]), ["0", "0.2", "0.4", "0.6", "0.8"]);
        for values in [&[][..], &[3.0], &[0.0], &[-1.0], &[1e-9, 1e12], &[f64::NAN, f64::INFINITY]] {
            for logarithmic in [true, false] {
                assert!((1..=2 * MARKS).contains(&marks(logarithmic, values).len()), "{values:?}");
            }
        }
    }

    #[test]
    fn every_point_is_inside() {
        for logarithmic in [true, false] {
            let html = chart(logarithmic, &[(10.0, 0.1), (100.0, 4.0), (5000.0, 90.0)]).html().into_string();
            assert!(html.contains("a &lt; b") && html.contains("&lt;ours&gt;") && !html.contains("<ours>"), "{html}");
            let numbers = |name: &str| -> Vec<f64> {
                let start = format!(" {name}=\"");
                let parts = html.split(&start).skip(1);
                parts.map(|rest| rest.split('"').next().unwrap_or("").parse().expect("a number")).collect()
            };
            let (xs, ys) = (numbers("cx"), numbers("cy"));
            assert_eq!((xs.len(), ys.len()), (3, 3));
            assert!(xs.iter().all(|x| (LEFT..=WIDTH - RIGHT).contains(x)), "{xs:?}");
            assert!(ys.iter().all(|y| (TOP..=HEIGHT - BOTTOM).contains(y)), "{ys:?}");
            assert!(xs.windows(2).all(|w| w[0] < w[1]) && ys.windows(2).all(|w| w[0] > w[1]));
        }
        // A point that has no logarithm is not drawn, and is listed among the figures.
        let html = chart(true, &[(0.0, 1.0), (10.0, 1.0)]).html().into_string();
        assert_eq!(html.matches("<circle").count(), 1);
    }
}
