//! The motion of the arm in a description.

use serde::{Deserialize, Serialize};

use super::times::time;
use super::{DescriptionError, wrong};
use crate::disc::model::seek::{Pieces, Seek};

/// The time of a seek, in one of these forms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeekTable {
    /// Measured distances in cylinders, with times in milliseconds.
    pub points: Option<Vec<(u32, f64)>>,
    /// A curve through three figures.
    pub curve: Option<CurveTable>,
    /// A root and a line.
    pub pieces: Option<PiecesTable>,
    /// The same time to any other cylinder.
    pub constant_ms: Option<f64>,
}

/// The three figures of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "units end the name")]
pub struct CurveTable {
    /// The seek over one cylinder.
    pub one_ms: f64,
    /// The mean over all pairs of cylinders.
    pub mean_ms: f64,
    /// The seek over all cylinders.
    pub full_ms: f64,
}

/// A root for short seeks, a line for long ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PiecesTable {
    /// The seeks over one cylinder, two, and so on, as far as measured.
    #[serde(default)]
    pub first_ms: Vec<f64>,
    /// The shortest distance on the line.
    pub line_from: u32,
    /// The constant part of the root.
    pub root_base_ms: f64,
    /// The factor of the root.
    pub root_ms: f64,
    /// The constant part of the line.
    pub line_base_ms: f64,
    /// The part of the line for each cylinder.
    pub line_ms: f64,
}

impl SeekTable {
    pub(super) fn seek(&self, cylinders: u32) -> Result<Seek, DescriptionError> {
        let ms = |ms: f64| time("seek", ms).map(|_| ms);
        match (&self.points, &self.curve, &self.pieces, self.constant_ms) {
            (Some(points), None, None, None) if points.is_empty() => {
                wrong("`seek` has no points; give one at least: points = [[1, 2.5]]")
            }
            (Some(points), None, None, None) => {
                points.iter().try_for_each(|&(_, time)| ms(time).map(drop))?;
                Ok(Seek::points(points.iter().copied(), cylinders))
            }
            (None, Some(curve), None, None)
                if curve.one_ms > curve.mean_ms || curve.mean_ms > curve.full_ms =>
            {
                wrong("`seek.curve` falls: give `one_ms`, `mean_ms` and `full_ms` in rising order")
            }
            (None, Some(curve), None, None) => Ok(Seek::curve(
                ms(curve.one_ms)?,
                ms(curve.mean_ms)?,
                ms(curve.full_ms)?,
                cylinders,
            )),
            (None, None, Some(pieces), None) => {
                pieces.first_ms.iter().try_for_each(|&time| ms(time).map(drop))?;
                let pieces = Pieces {
                    first_ms: pieces.first_ms.clone(),
                    line_from: pieces.line_from,
                    root_base_ms: ms(pieces.root_base_ms)?,
                    root_ms: ms(pieces.root_ms)?,
                    line_base_ms: ms(pieces.line_base_ms)?,
                    line_ms: ms(pieces.line_ms)?,
                };
                Ok(Seek::pieces(pieces, cylinders))
            }
            (None, None, None, Some(constant)) => Ok(Seek::constant(ms(constant)?)),
            (None, None, None, None) => Ok(Seek::none()),
            _ => wrong("`seek` has more than one of `points`, `curve`, `pieces` and `constant_ms`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_points_and_a_falling_curve_are_refused() {
        let check = |table: SeekTable, want: &str| {
            let error = table.seek(100).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        };
        check(SeekTable { points: Some(Vec::new()), ..SeekTable::default() }, "has no points");
        let falls = CurveTable { one_ms: 9.0, mean_ms: 8.0, full_ms: 20.0 };
        check(SeekTable { curve: Some(falls), ..SeekTable::default() }, "`seek.curve` falls");
        let one = SeekTable { points: Some(vec![(1, 2.0)]), ..SeekTable::default() };
        assert!(one.seek(100).is_ok());
    }
}
