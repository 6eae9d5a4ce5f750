//! The signs of curves on a terminal, and what they mean.

use super::super::canvas::Ink;
use super::super::chart::{Chart, Kind, Look};

const LOOKS: [(char, Ink); 4] =
    [('●', Ink::Curve), ('▲', Ink::Second), ('■', Ink::Third), ('◆', Ink::Fourth)];

impl Look {
    /// Its sign and its colour.
    pub(super) fn mark(self) -> (char, Ink) {
        match self {
            Self::Nth(number) => LOOKS[number % LOOKS.len()],
            Self::Guess => LOOKS[0],
            _ => ('◇', Ink::Faint),
        }
    }
}

/// What the signs mean, as far as there are any.
pub(super) fn legend(chart: &Chart) -> Vec<(String, Ink)> {
    let mut legend = Vec::new();
    if chart.lines.len() > 1 {
        let named = chart.lines.iter().filter(|line| !line.name.is_empty());
        legend.extend(named.map(|line| {
            let (sign, ink) = line.look.mark();
            (format!("{sign} {}", line.name), ink)
        }));
    }
    let band = chart.bands.iter().find(|band| !band.name.is_empty());
    legend.extend(band.map(|band| (format!("⢕⢕ {}", band.name), Ink::Curve)));
    for (kind, sign) in [(Kind::Measured, '●'), (Kind::Missed, '×')] {
        let dot = chart.dots.iter().find(|dot| dot.kind == kind);
        legend.extend(dot.map(|dot| (format!("{sign} {}", dot.name), Ink::Measured)));
    }
    if !chart.note.is_empty() {
        legend.push((chart.note.clone(), Ink::Plain));
    }
    legend
}
