//! The rules of the multi-generational LRU that differ between kernels.

/// Kernels with the same rules, by the first one whose source was read for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Linux 6.12. Older kernels differ in details.
    V6_12,
    /// Linux 6.14 to 7.2, as read in 6.16.
    #[default]
    V6_14,
    /// Linux 7.3.
    V7_3,
}

impl Rules {
    /// Those of a kernel with this release (`6.12.41+deb13-amd64`); the ones in the middle if it is unknown.
    pub(in super::super) fn of(release: &str) -> Self {
        let numbers = release.split(|letter: char| !letter.is_ascii_digit());
        let mut numbers = numbers.map(|number| number.parse::<u32>().unwrap_or(0));
        match (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) {
            (0, _) => Self::default(),
            version if version < (6, 14) => Self::V6_12,
            version if version < (7, 3) => Self::V6_14,
            _ => Self::V7_3,
        }
    }

    /// A tier has to do worse than the first one by this ratio (`get_tier_idx`).
    pub(super) fn gains(self) -> (u64, u64) {
        if self == Self::V6_12 { (1, 2) } else { (2, 3) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_of_the_kernel_chooses_the_rules() {
        let check = |release, rules| assert_eq!(Rules::of(release), rules, "{release}");
        check("", Rules::V6_14);
        check("odd", Rules::V6_14);
        check("6.1.0-18-amd64", Rules::V6_12);
        check("6.12.117+deb13-amd64", Rules::V6_12);
        check("6.13.0", Rules::V6_12);
        check("6.14", Rules::V6_14);
        check("7.2.9-1", Rules::V6_14);
        check("7.3.4+deb13-amd64", Rules::V7_3);
        check("10.0", Rules::V7_3);
    }
}
