//! How long the hash lists of a cache are: each of them, and how many have which length.
//!
//! The lengths are those of the last look, the distribution is of all looks. Cost: 4 bytes a list. Only for
//! a cache that has lists. After two figures of V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982.

/// Lengths that are distinguished; longer ones are counted with the last.
const LENGTHS: usize = 1 << 16;

/// The lengths of the hash lists of a cache, and their distribution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    lengths: Vec<u32>,
    looks: u64,
    distribution: Vec<u64>,
}

impl Lists {
    /// Looks at all lists at once.
    pub(crate) fn look(&mut self, lengths: Vec<u32>) {
        for &length in &lengths {
            let length = (length as usize).min(LENGTHS - 1);
            if length >= self.distribution.len() {
                self.distribution.resize(length + 1, 0);
            }
            self.distribution[length] += 1;
        }
        self.lengths = lengths;
        self.looks += 1;
    }

    /// How often they were looked at.
    pub(crate) fn looks(&self) -> u64 {
        self.looks
    }

    /// As they were at the last look.
    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Lists by their length, over all looks: the first are the empty ones.
    pub(crate) fn distribution(&self) -> &[u64] {
        &self.distribution
    }

    /// Returns the mean of all lists over all looks; `None` before the first look.
    pub(crate) fn mean(&self) -> Option<f64> {
        let entries: u64 =
            (0..).zip(&self.distribution).map(|(length, &count)| length * count).sum();
        let lists: u64 = self.distribution.iter().sum();
        (lists > 0).then(|| entries as f64 / lists as f64)
    }

    /// Returns the share of all lists over all looks that have at most this length; 0 before the
    /// first look.
    pub(crate) fn share_up_to(&self, length: usize) -> f64 {
        let short: u64 = self.distribution.iter().take(length + 1).sum();
        short as f64 / self.distribution.iter().sum::<u64>().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_looks_count_and_the_last_is_shown() {
        let mut lists = Lists::default();
        assert_eq!((lists.mean(), lists.share_up_to(3)), (None, 0.0));
        lists.look(vec![0, 4, 2]);
        lists.look(vec![1, 1, 1]);
        assert_eq!((lists.lengths(), lists.looks()), (&[1, 1, 1][..], 2));
        assert_eq!(lists.distribution(), [1, 3, 1, 0, 1]);
        assert_eq!(lists.mean(), Some(1.5));
        assert!((lists.share_up_to(1) - 4.0 / 6.0).abs() < 1e-9);
        lists.look(vec![u32::MAX]);
        assert_eq!(lists.distribution().len(), LENGTHS);
    }
}
