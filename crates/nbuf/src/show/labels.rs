//! Where labels go above a plot, so that no text meets another or the line of another mark.
//!
//! There are three marks at most, so every arrangement is tried: a row for each, and the side of
//! its line the text is on. A line runs from its label down through the rows below.

/// A text that belongs to a column.
pub(super) struct Label<'a> {
    pub(super) column: usize,
    pub(super) text: &'a str,
}

/// Where a label is written: its text begins at `column` of `row`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) row: usize,
    pub(super) column: usize,
}

/// The arrangement with the fewest rows, then the most texts to the right of their lines; nothing
/// if there is none within `width`.
pub(super) fn arrange(labels: &[Label<'_>], width: usize) -> Option<Vec<Written>> {
    let kinds = labels.len() * 2;
    let count = kinds.checked_pow(u32::try_from(labels.len()).ok()?)?;
    let arrangements = (0..count).filter_map(|number| {
        let mut number = number;
        let mut lefts = 0;
        let mut written = Vec::new();
        for label in labels {
            let (row, left) = (number % kinds / 2, number % 2 == 1);
            number /= kinds;
            lefts += usize::from(left);
            written.push(Written { row, column: begin(label, left, width)? });
        }
        clear(labels, &written).then(|| (rows(&written), lefts, written))
    });
    let best = arrangements.min_by_key(|(rows, lefts, _)| (*rows, *lefts));
    best.map(|(_, _, written)| written)
}

/// Rows that an arrangement takes.
pub(super) fn rows(written: &[Written]) -> usize {
    written.iter().map(|label| label.row + 1).max().unwrap_or(0)
}

/// The first column of a text next to its line, with a space between.
fn begin(label: &Label<'_>, left: bool, width: usize) -> Option<usize> {
    let length = label.text.chars().count();
    if left {
        label.column.checked_sub(length + 1)
    } else {
        let begin = label.column + 2;
        (begin + length <= width).then_some(begin)
    }
}

/// Whether no text meets a text or a line, nor stands closer to one than a space.
fn clear(labels: &[Label<'_>], written: &[Written]) -> bool {
    let span = |at: usize| {
        let begin = written[at].column;
        (begin, begin + labels[at].text.chars().count())
    };
    let pairs = (0..labels.len()).flat_map(|a| (0..labels.len()).map(move |b| (a, b)));
    pairs.filter(|(a, b)| a != b).all(|(a, b)| {
        let (begin, end) = span(a);
        let (other_begin, other_end) = span(b);
        let texts_meet =
            written[a].row == written[b].row && begin <= other_end && other_begin <= end;
        let line = labels[b].column;
        let line_meets = written[b].row <= written[a].row && begin <= line + 1 && line <= end;
        // Marks in one column share a line, but a label on each side of it in one row would read
        // as one.
        let ambiguous = labels[a].column == line && written[a].row == written[b].row;
        !texts_meet && !line_meets && !ambiguous
    })
}
