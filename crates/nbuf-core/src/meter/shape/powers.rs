//! Counts by powers of two: row 0 has zeros, row `n` the numbers from 2^(n-1) to below 2^n.

/// Rows that numbers of 64 bits have.
pub(crate) const ROWS: usize = 65;

/// The row of a number.
pub(crate) fn row(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

/// The first number of a row, and the first one beyond it; the last row ends with the largest number.
pub(crate) fn bounds(row: usize) -> (u64, u64) {
    let power = |n: usize| u32::try_from(n).ok().and_then(|n| 1_u64.checked_shl(n));
    match row {
        0 => (0, 1),
        row => (power(row - 1).unwrap_or(u64::MAX), power(row).unwrap_or(u64::MAX)),
    }
}

/// A histogram.
#[derive(Clone, Debug)]
pub(crate) struct Powers {
    counts: [u64; ROWS],
    count: u64,
    sum: u128,
}

impl Default for Powers {
    fn default() -> Self {
        Self { counts: [0; ROWS], count: 0, sum: 0 }
    }
}

impl Powers {
    /// Counts a number.
    pub(crate) fn add(&mut self, number: u64) {
        self.counts[row(number)] += 1;
        self.count += 1;
        self.sum += u128::from(number);
    }

    /// How many numbers there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 without numbers.
    pub(crate) fn mean(&self) -> u64 {
        let mean = self.sum.checked_div(self.count.into()).unwrap_or(0);
        u64::try_from(mean).unwrap_or(u64::MAX)
    }

    /// The rows from the first to the last that have numbers: their bounds and counts.
    pub(crate) fn rows(&self) -> Vec<(u64, u64, u64)> {
        let used = |at: &usize| self.counts[*at] > 0;
        let (first, last) = ((0..ROWS).find(used), (0..ROWS).rfind(used));
        let Some((first, last)) = first.zip(last) else { return Vec::new() };
        let row = |at| (bounds(at).0, bounds(at).1, self.counts[at]);
        (first..=last).map(row).collect()
    }
}
