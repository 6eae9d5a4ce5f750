//! Which tiers of the oldest generation reclaim protects: the feedback of refaults in `mm/vmscan.c`.
//!
//! A tier has the folios that calls read about equally often: 0 or 1, 2, up to 4, and more. It is protected if more of
//! what left it comes back than of the first tier. The shares of a generation are halved into those of the next.

use super::rules::Rules;

/// Tiers of a generation (`MAX_NR_TIERS`).
pub(super) const TIERS: usize = 4;
/// Fewer refaults than this say nothing (`MIN_LRU_BATCH`).
const REFAULTS_LEAST: u64 = super::BATCH_PAGES as u64;
/// What became of a tier, in pages.
#[derive(Clone, Copy, Debug, Default)]
struct Tier {
    evicted: u64,
    protected: u64,
    refaulted: u64,
    /// The moving averages over the generations before.
    total_before: u64,
    refaulted_before: u64,
}

impl Tier {
    fn total(&self) -> u64 {
        self.total_before + self.evicted + self.protected
    }

    fn refaulted(&self) -> u64 {
        self.refaulted_before + self.refaulted
    }
}

/// The tiers of the oldest generation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiers {
    tiers: [Tier; TIERS],
    /// A tier has to do worse than the first one by this ratio (`get_tier_idx`).
    gains: (u64, u64),
}

impl Default for Tiers {
    fn default() -> Self {
        Self::new(Rules::default().gains())
    }
}

/// The tier of a folio that was accessed so often by calls (`lru_tier_from_refs`).
pub(super) fn tier_of(accesses: u32, is_working_set: bool) -> usize {
    match accesses {
        _ if is_working_set => TIERS - 1,
        0 | 1 => 0,
        2 => 1,
        3 | 4 => 2,
        _ => TIERS - 1,
    }
}

impl Tiers {
    pub(super) fn new(gains: (u64, u64)) -> Self {
        Self { tiers: [Tier::default(); TIERS], gains }
    }

    pub(super) fn evicted(&mut self, tier: usize, pages: u32) {
        self.tiers[tier].evicted += u64::from(pages);
    }

    pub(super) fn protected(&mut self, tier: usize, pages: u32) {
        self.tiers[tier].protected += u64::from(pages);
    }

    pub(super) fn refaulted(&mut self, tier: usize, pages: u32) {
        self.tiers[tier].refaulted += u64::from(pages);
    }

    /// The highest tier that is not protected (`get_tier_idx`).
    pub(super) fn evictable(&self) -> usize {
        let [first, others @ ..] = &self.tiers;
        others.iter().take_while(|tier| !is_worse(tier, first, self.gains)).count()
    }

    /// The oldest generation is empty, and the next one begins (`reset_ctrl_pos`).
    pub(super) fn carry_over(&mut self) {
        for tier in &mut self.tiers {
            *tier = Tier {
                total_before: tier.total() / 2,
                refaulted_before: tier.refaulted() / 2,
                ..Tier::default()
            };
        }
    }
}

/// Whether more comes back of a tier than of the first one, in proportion (`positive_ctrl_err`, denied).
fn is_worse(tier: &Tier, first: &Tier, gains: (u64, u64)) -> bool {
    let wide = |number: u64| u128::from(number);
    let (first_gain, gain) = gains;
    let expected = wide(first.refaulted() + 1) * wide(tier.total() * gain);
    let found = wide(tier.refaulted()) * wide((first.total() + REFAULTS_LEAST) * first_gain);
    tier.refaulted() >= REFAULTS_LEAST && found > expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tier_is_the_logarithm_of_the_accesses() {
        let tiers = [0, 1, 2, 3, 4].map(|accesses| tier_of(accesses, false));
        assert_eq!(tiers, [0, 0, 1, 2, 2]);
        assert_eq!(tier_of(0, true), 3);
    }

    #[test]
    fn without_refaults_no_tier_is_protected() {
        let mut tiers = Tiers::default();
        for tier in 0..TIERS {
            tiers.evicted(tier, 10_000);
        }
        assert_eq!(tiers.evictable(), 3);
        tiers.refaulted(1, 63);
        assert_eq!(tiers.evictable(), 3, "too few to say anything");
    }

    #[test]
    fn a_tier_that_comes_back_more_than_the_first_is_protected_with_those_above() {
        let mut tiers = Tiers::default();
        tiers.evicted(0, 10_000);
        tiers.refaulted(0, 999);
        tiers.evicted(1, 1_000);
        // 1,000 of 10,064 is the first tier's share, and half as much again is borne.
        tiers.refaulted(1, 149);
        assert_eq!(tiers.evictable(), 3);
        tiers.refaulted(1, 1);
        assert_eq!(tiers.evictable(), 0);
    }

    #[test]
    fn what_was_protected_counts_as_kept_for_the_next_decision() {
        let mut tiers = Tiers::default();
        tiers.evicted(0, 10_000);
        tiers.refaulted(0, 999);
        tiers.evicted(2, 1_000);
        tiers.refaulted(2, 150);
        assert_eq!(tiers.evictable(), 1);
        tiers.protected(2, 1_000);
        assert_eq!(tiers.evictable(), 3);
    }

    #[test]
    fn each_generation_halves_what_is_known() {
        let mut tiers = Tiers::default();
        tiers.evicted(1, 400);
        tiers.refaulted(1, 400);
        assert_eq!(tiers.evictable(), 0);
        let known: Vec<u64> = (0..4)
            .map(|_| {
                tiers.carry_over();
                tiers.tiers[1].refaulted()
            })
            .collect();
        assert_eq!(known, [200, 100, 50, 25]);
        assert_eq!(tiers.evictable(), 3, "so few are forgotten");
    }
}
