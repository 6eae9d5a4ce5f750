//! The looks of lines and dots, in classes of the style.

use super::super::chart::{Kind, Look};

const CLASSES: [&str; 6] = ["c0", "c1", "c2", "c3", "c4", "c5"];
/// Lines of the same shape differ in these; the first are whole, so that few lines look plain.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "10 3 2 3"];
/// Around the point: disc, square, triangle, diamond, triangle upside down.
const SHAPES: [&str; 5] = [
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.7-3.7h7.4v7.4h-7.4z",
    "m0-5l4.8 8.4h-9.6z",
    "m0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2z",
    "m0 5l4.8-8.4h-9.6z",
];

impl Look {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Nth(number) => CLASSES[number % CLASSES.len()],
            Self::Bound | Self::Grey => "bound",
            Self::Thin => "thin c0",
            Self::Guess => "c0",
        }
    }

    pub(super) fn dash(self) -> &'static str {
        match self {
            Self::Nth(number) => DASHES[number / SHAPES.len() % DASHES.len()],
            Self::Bound => "5 4",
            Self::Thin => "3 3",
            Self::Guess => "2 5",
            Self::Grey => "",
        }
    }

    pub(super) fn shape(self) -> Option<usize> {
        match self {
            Self::Nth(number) => Some(number % SHAPES.len()),
            Self::Bound => Some(3),
            _ => None,
        }
    }

    /// A line of this look.
    pub(super) fn line(self, path: &str) -> String {
        let (class, dash) = (self.class(), self.dash());
        let dash =
            if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        format!("<path class=\"line {class}\"{dash} d=\"{path}\"/>")
    }

    /// Its shape at a place, if it has one.
    pub(super) fn point(self, x: f64, y: f64) -> String {
        let Some(shape) = self.shape() else { return String::new() };
        format!("<path class=\"shape {}\" d=\"M{x:.1} {y:.1}{}\"/>", self.class(), SHAPES[shape])
    }
}

impl Kind {
    pub(super) fn drawn(self, x: f64, y: f64, title: &str) -> String {
        let path = |class: &str, path: &str| {
            format!("<path class=\"{class}\" d=\"M{x:.1} {y:.1}{path}\">{title}</path>")
        };
        let circle = |class: &str, r: f64| {
            format!(
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\">{title}</circle>"
            )
        };
        match self {
            Self::Measured => circle("measured", 5.5),
            Self::Missed => path("missed", "m-5-5l10 10m0-10l-10 10"),
            Self::Cliff => path("cliff", "m0-10l5 9h-10z"),
            Self::Odd => circle("odd", 8.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_lines_are_told_apart_without_colour() {
        let looks: Vec<Look> = (0..20).map(Look::Nth).chain([Look::Bound]).collect();
        for (at, a) in looks.iter().enumerate() {
            for b in &looks[..at] {
                assert!((a.dash(), a.shape()) != (b.dash(), b.shape()), "{a:?} {b:?}");
            }
        }
    }
}
