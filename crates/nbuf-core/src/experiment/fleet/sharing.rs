//! The cache that the volumes of a host share, against the same memory in partitions.
//!
//! Both come from traces: the curve of a host is of its requests merged by time, and each volume has a curve of its
//! own. No partitions miss less than the lower hulls of these curves; a shared cache below that bound is better than
//! all of them. Cost: as a split of a budget, for each host.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::curve::Curve;
use super::split::Fleet;
use crate::experiment::result::{
    FleetBy, FleetPartition, FleetSharing, FleetSharingHost, FleetSharingVerdict, FleetVolume,
};

/// What a sum of slopes may be off, in misses, and less than a miss.
const ROUNDING: f64 = 0.5;

/// The curves of the volumes of hosts.
#[derive(Default)]
pub(super) struct Partitions {
    /// What a volume is.
    pub(super) by: FleetBy,
    /// The curves by host, of hosts of which all are known.
    pub(super) hosts: BTreeMap<String, Vec<Curve>>,
}

impl Partitions {
    /// All curves.
    pub(super) fn curves(&self) -> impl Iterator<Item = &Curve> {
        self.hosts.values().flatten()
    }

    /// The comparison, for hosts with these curves and answers; nothing where no host has several volumes.
    pub(super) fn sharing(
        &self,
        curves: &[Curve],
        volumes: &[FleetVolume],
    ) -> Option<FleetSharing> {
        let mut hosts = Vec::new();
        for (shared, volume) in curves.iter().zip(volumes) {
            let pages = volume.share.map(|share| share.pages).or(volume.knee_pages);
            let pages = pages.filter(|&pages| pages > 0);
            let own = self.hosts.get(&shared.name).filter(|own| own.len() > 1);
            if let (Some(pages), Some(own)) = (pages, own) {
                hosts.push(compare(shared, pages, own));
            }
        }
        let differ = |host: &FleetSharingHost| host.shared_misses.abs_diff(host.partitioned_misses);
        hosts.sort_by_key(|host| Reverse(differ(host)));
        let sum = |of: fn(&FleetSharingHost) -> u64| hosts.iter().map(of).sum::<u64>();
        let all = FleetSharing {
            by: self.by,
            accesses: sum(|host| host.accesses),
            shared_misses: sum(|host| host.shared_misses),
            partitioned_misses: sum(|host| host.partitioned_misses),
            equal_misses: sum(|host| host.equal_misses),
            hosts: Vec::new(),
        };
        (!hosts.is_empty()).then_some(FleetSharing { hosts, ..all })
    }
}

/// One cache of these pages against partitions of them.
fn compare(shared: &Curve, pages: u64, own: &[Curve]) -> FleetSharingHost {
    let fleet = Fleet::of(own);
    let (best, partitioned_misses, _) = fleet.best(pages);
    let equal = fleet.by(|_| 1, pages);
    let shared_misses = shared.steps().at(pages);
    let bound_misses = fleet.bound(pages).filter(|_| !shared.is_estimate);
    let verdict = match bound_misses {
        Some(bound) if shared_misses as f64 + ROUNDING < bound => FleetSharingVerdict::Shared,
        Some(_) if partitioned_misses < shared_misses => FleetSharingVerdict::Partitions,
        _ => FleetSharingVerdict::Either,
    };
    let partition = |(at, curve): (usize, &Curve)| FleetPartition {
        volume: curve.name.clone(),
        accesses: curve.accesses,
        pages: best[at],
        misses: fleet.at(at, best[at]),
        equal_misses: fleet.at(at, equal[at]),
    };
    let mut partitions: Vec<FleetPartition> = own.iter().enumerate().map(partition).collect();
    partitions.sort_by_key(|partition| Reverse(partition.accesses));
    FleetSharingHost {
        host: shared.name.clone(),
        pages,
        accesses: shared.accesses,
        shared_misses,
        partitioned_misses,
        equal_misses: fleet.misses(&equal),
        bound_misses,
        verdict,
        partitions,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::curve::tests::{curve, naive_misses};
    use super::*;
    use crate::experiment::result::FleetShare;

    /// A host with these requests of its volumes: volume and page.
    fn host(requests: &[(usize, u64)]) -> (Curve, Partitions, Vec<Vec<u64>>) {
        let page = |&(volume, page): &(usize, u64)| volume as u64 * 100 + page;
        let all: Vec<u64> = requests.iter().map(page).collect();
        let own = |volume| requests.iter().filter(move |request| request.0 == volume);
        let traces: Vec<Vec<u64>> = (0..2).map(|volume| own(volume).map(page).collect()).collect();
        let curves = ["x", "y"].iter().zip(&traces).map(|(name, pages)| curve(name, pages));
        let hosts = BTreeMap::from([("h".to_owned(), curves.collect())]);
        (curve("h", &all), Partitions { by: FleetBy::File, hosts }, traces)
    }

    fn with_share(pages: u64) -> FleetVolume {
        let share = Some(FleetShare { pages, ..FleetShare::default() });
        FleetVolume { name: "h".to_owned(), share, knee_pages: Some(1), ..FleetVolume::default() }
    }

    proptest! {
        #[test]
        fn the_partitions_are_the_best_of_all_and_the_verdict_is_true(
            mut requests in prop::collection::vec((0..2_usize, 0..7_u64), 0..60),
            pages in 1..15_u64,
        ) {
            // No volume is without requests.
            requests.extend([(0, 0), (1, 0)]);
            let (shared, partitions, traces) = host(&requests);
            let all = partitions.sharing(&[shared], &[with_share(pages)]).unwrap();
            let [one] = &all.hosts[..] else { panic!("{all:?}") };
            let size = usize::try_from(pages).unwrap();
            let both = |first: usize, second: usize| {
                naive_misses(&traces[0], 0, first) + naive_misses(&traces[1], 0, second)
            };
            let fewest = (0..=size).map(|first| both(first, size - first)).min().unwrap();
            let mixed: Vec<u64> =
                requests.iter().map(|&(volume, page)| volume as u64 * 100 + page).collect();
            prop_assert_eq!(one.shared_misses, naive_misses(&mixed, 0, size));
            prop_assert_eq!(one.partitioned_misses, fewest);
            prop_assert_eq!(one.equal_misses, both(size / 2, size / 2));
            prop_assert!(one.bound_misses.unwrap() <= fewest as f64 + ROUNDING, "{:?}", one);
            match one.verdict {
                FleetSharingVerdict::Shared => prop_assert!(one.shared_misses < fewest),
                FleetSharingVerdict::Partitions => prop_assert!(fewest < one.shared_misses),
                FleetSharingVerdict::Either => prop_assert!(one.shared_misses <= fewest),
            }
            let sum = |of: fn(&FleetPartition) -> u64| one.partitions.iter().map(of).sum::<u64>();
            prop_assert!(sum(|of| of.pages) <= pages);
            prop_assert_eq!(sum(|of| of.misses), fewest);
            prop_assert_eq!(sum(|of| of.equal_misses), one.equal_misses);
            prop_assert_eq!(sum(|of| of.accesses), one.accesses);
        }
    }

    #[test]
    fn bursts_gain_by_sharing_and_a_scan_harms_its_neighbour() {
        // One after the other, both use all of the cache.
        let burst = |volume| (0..5).flat_map(move |_| (0..4).map(move |page| (volume, page)));
        let bursts: Vec<(usize, u64)> = burst(0).chain(burst(1)).collect();
        // A loop of three pages, and between them pages that no cache keeps for long enough.
        let scan: Vec<(usize, u64)> = (0..60).flat_map(|at| [(0, at % 3), (1, at % 50)]).collect();
        let check = |requests: &[(usize, u64)], misses: [u64; 2], verdict: FleetSharingVerdict| {
            let (shared, partitions, _) = host(requests);
            let all = partitions.sharing(&[shared], &[with_share(4)]).unwrap();
            let one = &all.hosts[0];
            assert_eq!([one.shared_misses, one.partitioned_misses], misses, "{one:?}");
            assert_eq!(one.verdict, verdict, "{one:?}");
        };
        check(&bursts, [8, 24], FleetSharingVerdict::Shared);
        check(&scan, [120, 63], FleetSharingVerdict::Partitions);
    }

    #[test]
    fn a_host_of_one_volume_or_without_memory_is_not_compared() {
        let (shared, mut partitions, _) = host(&[(0, 1), (1, 1), (0, 1)]);
        let curves = [shared];
        assert!(partitions.sharing(&curves, &[with_share(2)]).is_some());
        assert_eq!(partitions.sharing(&curves, &[with_share(0)]), None);
        assert_eq!(partitions.sharing(&curves, &[FleetVolume::default()]), None);
        partitions.hosts.get_mut("h").unwrap().truncate(1);
        assert_eq!(partitions.sharing(&curves, &[with_share(2)]), None);
        assert_eq!(Partitions::default().sharing(&curves, &[with_share(2)]), None);
    }
}
