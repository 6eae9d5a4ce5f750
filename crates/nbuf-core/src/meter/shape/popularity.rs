//! How often keys are used: by rank, and by tenths of the keys.

/// Ranks of a picture in which each is at least this much of the one before.
const RATIO: f64 = 1.2;

/// Ranks in about equal ratios, from 1 to the last, and how often the key of each was used. The counts come
/// from the most used key down.
pub(crate) fn ranks(counts: &[u32]) -> Vec<(u64, u64)> {
    let mut ranks = Vec::new();
    let mut next = 1.0;
    for (rank, &count) in (1_u64..).zip(counts) {
        if rank as f64 >= next || rank == counts.len() as u64 {
            ranks.push((rank, count.into()));
            next = rank as f64 * RATIO;
        }
    }
    ranks
}

/// Accesses to each tenth of the keys, from the most used tenth down.
pub(crate) fn deciles(counts: &[u32]) -> [u64; 10] {
    let mut deciles = [0; 10];
    for (at, &count) in counts.iter().enumerate() {
        deciles[at * 10 / counts.len()] += u64::from(count);
    }
    deciles
}
