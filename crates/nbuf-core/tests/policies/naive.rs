//! Naive twins: each policy once more, from its paper, in lists that are searched from end to end.
//! Twin and policy must say the same at every step.

use std::collections::HashMap;

use nbuf::cache::policy::{Access, Choice, Outcome, POLICIES};
use nbuf::internal::clock::Random;
use proptest::prelude::*;

use super::with_future;

/// A list of pages, oldest first.
type List = Vec<u32>;

/// Takes a page out of a list; whether it was there.
fn take(list: &mut List, page: u32) -> bool {
    let at = list.iter().position(|&other| other == page);
    at.map(|at| list.remove(at)).is_some()
}

/// A policy as a function of an access: `None` for a hit, else what went.
type Twin = Box<dyn FnMut(Access) -> Option<Option<u32>>>;

/// One list and a rule each for what a use does and which place goes.
fn listed(
    capacity: usize,
    used: impl Fn(&mut List, u32) + 'static,
    mut victim: impl FnMut(&mut List) -> usize + 'static,
) -> Twin {
    let mut list = List::new();
    Box::new(move |access| {
        if list.contains(&access.page) {
            used(&mut list, access.page);
            return None;
        }
        let full = list.len() == capacity;
        let evicted = full.then(|| victim(&mut list)).map(|at| list.remove(at));
        list.push(access.page);
        Some(evicted)
    })
}

fn to_newest(list: &mut List, page: u32) {
    take(list, page);
    list.push(page);
}

/// One map from pages to what is known of them; the least goes.
fn ranked<K: Ord + Clone + 'static>(
    capacity: usize,
    mut rank: impl FnMut(Access, Option<&K>, Option<&K>) -> K + 'static,
) -> Twin {
    let mut there: HashMap<u32, K> = HashMap::new();
    Box::new(move |access| {
        let known = there.get(&access.page).cloned();
        let mut evicted = None;
        let mut gone = None;
        if known.is_none() && there.len() == capacity {
            let (&victim, _) = there.iter().min_by_key(|(_, key)| (*key).clone()).unwrap();
            gone = there.remove(&victim);
            evicted = Some(victim);
        }
        there.insert(access.page, rank(access, known.as_ref(), gone.as_ref()));
        known.is_none().then_some(evicted)
    })
}

/// Uses and age, with or without ageing; of equals the one used longest ago.
fn frequency(capacity: usize, ages: bool) -> Twin {
    let (mut time, mut age) = (0, 0);
    ranked(capacity, move |_, known: Option<&(u64, u64, u64)>, gone| {
        if let (true, Some(gone)) = (ages, gone) {
            age = gone.0;
        }
        time += 1;
        let uses = known.map_or(1, |known| known.2 + 1);
        (age + uses, time, uses)
    })
}

fn segments(capacity: usize, limits: Vec<usize>) -> Twin {
    let mut lists = vec![List::new(); limits.len()];
    Box::new(move |access| {
        let top = lists.len() - 1;
        if let Some(at) = lists.iter().position(|list| list.contains(&access.page)) {
            take(&mut lists[at], access.page);
            lists[top.min(at + 1)].push(access.page);
            for segment in (1..lists.len()).rev() {
                if lists[segment].len() > limits[segment] {
                    let page = lists[segment].remove(0);
                    lists[segment - 1].push(page);
                }
            }
            return None;
        }
        let full = lists.iter().map(List::len).sum::<usize>() == capacity;
        let lowest = lists.iter_mut().find(|list| full && !list.is_empty());
        let evicted = lowest.map(|list| list.remove(0));
        lists[0].push(access.page);
        Some(evicted)
    })
}

fn two_queue(capacity: usize, in_max: usize, out_max: usize) -> Twin {
    let (mut a1in, mut a1out, mut am) = (List::new(), List::new(), List::new());
    Box::new(move |access| {
        let page = access.page;
        if am.contains(&page) {
            to_newest(&mut am, page);
            return None;
        }
        if a1in.contains(&page) {
            return None;
        }
        let known = take(&mut a1out, page);
        let mut evicted = None;
        if a1in.len() + am.len() == capacity {
            let from_in = a1in.len() > in_max.max(1) || am.is_empty();
            let victim = if from_in { a1in.remove(0) } else { am.remove(0) };
            if from_in {
                a1out.push(victim);
                if a1out.len() > out_max {
                    a1out.remove(0);
                }
            }
            evicted = Some(victim);
        }
        if known { &mut am } else { &mut a1in }.push(page);
        Some(evicted)
    })
}

/// Used once, used again, and the ghosts of both: ARC, or with marks in place of moves, CAR.
fn adaptive(capacity: usize, clock: bool) -> Twin {
    let mut lists = [List::new(), List::new(), List::new(), List::new()];
    let mut used: Vec<u32> = Vec::new();
    let mut target = 0.0_f64;
    Box::new(move |access| {
        let page = access.page;
        let place = lists.iter().position(|list| list.contains(&page));
        if let Some(at @ 0..=1) = place {
            if clock {
                used.push(page);
            } else {
                take(&mut lists[at], page);
                lists[1].push(page);
            }
            return None;
        }
        // ARC moves its boundary before it chooses, CAR after.
        if !clock {
            target = adapted(&lists, place, target, capacity, |ratio| ratio);
        }
        let boundary = target;
        let mut evicted = None;
        while evicted.is_none() && lists[0].len() + lists[1].len() == capacity {
            let once = lists[0].len() as f64;
            let first = if clock {
                once >= boundary.max(1.0)
            } else {
                once > 0.0 && (once > boundary || place == Some(3) && once >= boundary)
            };
            let from = usize::from(!first && !lists[1].is_empty());
            let victim = lists[from].remove(0);
            if clock && used.contains(&victim) {
                used.retain(|&other| other != victim);
                lists[1].push(victim);
            } else {
                lists[from + 2].push(victim);
                evicted = Some(victim);
            }
        }
        if clock {
            target = adapted(&lists, place, target, capacity, f64::floor);
        }
        if let Some(ghosts) = place {
            take(&mut lists[ghosts], page);
            lists[1].push(page);
        } else {
            if lists[0].len() + lists[2].len() >= capacity && !lists[2].is_empty() {
                lists[2].remove(0);
            } else if lists.iter().map(List::len).sum::<usize>() >= 2 * capacity {
                lists[3].remove(0);
            }
            lists[0].push(page);
        }
        Some(evicted)
    })
}

/// Where the boundary goes when a page comes back from the ghosts in list 2 or 3.
fn adapted(
    lists: &[List; 4],
    place: Option<usize>,
    target: f64,
    capacity: usize,
    rounded: fn(f64) -> f64,
) -> f64 {
    let [once, again] = [lists[2].len() as f64, lists[3].len() as f64];
    match place {
        Some(2) => (target + rounded(again / once).max(1.0)).min(capacity as f64),
        Some(3) => (target - rounded(once / again).max(1.0)).max(0.0),
        _ => target,
    }
}

fn s3_fifo(capacity: usize, small_max: usize, ghosts_max: usize, promote: u32) -> Twin {
    let (mut small, mut main, mut ghosts) = (List::new(), List::new(), List::new());
    let mut uses: HashMap<u32, u32> = HashMap::new();
    let mut is_cold = true;
    let limit = small_max.max(1);
    Box::new(move |access| {
        let page = access.page;
        if small.contains(&page) || main.contains(&page) {
            *uses.entry(page).or_default() += 1;
            return None;
        }
        let known = take(&mut ghosts, page);
        let mut evicted = None;
        if small.len() + main.len() == capacity {
            is_cold = false;
            let from_small = small.len() >= limit;
            while from_small && evicted.is_none() && !small.is_empty() {
                let victim = small.remove(0);
                if uses.remove(&victim).unwrap_or(0) >= promote {
                    main.push(victim);
                    continue;
                }
                ghosts.push(victim);
                if ghosts.len() > ghosts_max {
                    ghosts.remove(0);
                }
                evicted = Some(victim);
            }
            while evicted.is_none() {
                let victim = main.remove(0);
                match uses.remove(&victim).unwrap_or(0) {
                    0 => evicted = Some(victim),
                    count => {
                        uses.insert(victim, count.min(3) - 1);
                        main.push(victim);
                    }
                }
            }
        }
        let fills_main = known || is_cold && small.len() >= limit;
        if fills_main { &mut main } else { &mut small }.push(page);
        Some(evicted)
    })
}

fn lecar(capacity: usize) -> Twin {
    // Those that are there, the one used longest ago first; and what recency and frequency evicted.
    let (mut there, mut gone) = (List::new(), [List::new(), List::new()]);
    // Uses, the last one, and the eviction.
    let mut known: HashMap<u32, (u32, u32, u32)> = HashMap::new();
    let (mut time, mut weights, mut chance) = (0, [0.5, 0.5], Random::new(1));
    Box::new(move |access| {
        time += 1;
        let page = access.page;
        if there.contains(&page) {
            to_newest(&mut there, page);
            known.insert(page, (known[&page].0 + 1, time, 0));
            return None;
        }
        let mut uses = 1;
        for rule in 0..2 {
            if take(&mut gone[rule], page) {
                uses = known[&page].0 + 1;
                let caches = f64::from(time - known[&page].2) / capacity as f64;
                weights[rule] *= (-0.45 * 0.005_f64.powf(caches)).exp();
                let recency: f64 = weights[0] / (weights[0] + weights[1]);
                weights[0] = recency.clamp(0.01, 0.99);
                weights[1] = 1.0 - weights[0];
            }
        }
        let mut evicted = None;
        if there.len() == capacity {
            let rule = usize::from(chance.unit() >= weights[0]);
            let rarest = there.iter().min_by_key(|page| (known[page].0, known[page].1));
            let choices = [there[0], *rarest.unwrap()];
            let victim = choices[rule];
            take(&mut there, victim);
            known.get_mut(&victim).unwrap().2 = time;
            if choices[0] != choices[1] {
                gone[rule].push(victim);
                if gone[rule].len() > capacity {
                    gone[rule].remove(0);
                }
            }
            evicted = Some(victim);
        }
        there.push(page);
        known.insert(page, (uses, time, 0));
        Some(evicted)
    })
}

fn lru_2(capacity: usize) -> Twin {
    let mut there = List::new();
    let mut uses: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut time = 0;
    Box::new(move |access| {
        time += 1;
        uses.entry(access.page).or_default().push(time);
        if there.contains(&access.page) {
            return None;
        }
        let mut evicted = None;
        if there.len() == capacity {
            let key = |page: &u32| match uses[page].as_slice() {
                [once] => (false, *once),
                all => (true, all[all.len() - 2]),
            };
            evicted = there.iter().copied().min_by_key(key);
            take(&mut there, evicted.unwrap());
        }
        there.push(access.page);
        Some(evicted)
    })
}

fn active_inactive(capacity: usize) -> Twin {
    let (mut inactive, mut active) = (List::new(), List::new());
    let mut referenced = List::new();
    let mut left: HashMap<u32, usize> = HashMap::new();
    let mut age = 0;
    Box::new(move |access| {
        let page = access.page;
        if inactive.contains(&page) || active.contains(&page) {
            if !referenced.contains(&page) {
                referenced.push(page);
            } else if take(&mut inactive, page) {
                take(&mut referenced, page);
                active.push(page);
                age += 1;
            }
            return None;
        }
        let mut evicted = None;
        if inactive.len() + active.len() == capacity {
            while inactive.len() < active.len() {
                inactive.push(active.remove(0));
            }
            let victim = inactive.remove(0);
            take(&mut referenced, victim);
            left.insert(victim, age);
            age += 1;
            evicted = Some(victim);
        }
        let distance = left.remove(&page).map(|left| age - left);
        if distance.is_some_and(|distance| distance <= active.len()) {
            active.push(page);
            age += 1;
        } else {
            inactive.push(page);
        }
        referenced.push(page);
        Some(evicted)
    })
}

fn v1(capacity: usize) -> Twin {
    let mut buffers = List::new();
    let mut filled: HashMap<u32, usize> = HashMap::new();
    let mut time = 0;
    Box::new(move |access| {
        time += 1;
        if buffers.contains(&access.page) {
            to_newest(&mut buffers, access.page);
            return None;
        }
        let mut evicted = None;
        if buffers.len() == capacity {
            // Busy are those filled by the access before this one.
            let free = buffers.iter().position(|page| filled[page] + 1 < time);
            evicted = Some(buffers.remove(free.unwrap_or(0)));
        }
        buffers.push(access.page);
        filled.insert(access.page, time);
        Some(evicted)
    })
}

fn sieve(capacity: usize) -> Twin {
    let (mut list, mut used) = (List::new(), List::new());
    // The place of the hand; at the end of the list it starts again.
    let mut hand = 0;
    Box::new(move |access| {
        if list.contains(&access.page) {
            used.push(access.page);
            return None;
        }
        let mut evicted = None;
        while evicted.is_none() && list.len() == capacity {
            hand = if hand < list.len() { hand } else { 0 };
            if used.contains(&list[hand]) {
                used.retain(|&page| page != list[hand]);
                hand += 1;
            } else {
                evicted = Some(list.remove(hand));
                // A hand behind the newest page starts at the oldest, whatever comes.
                hand = if hand == list.len() { usize::MAX } else { hand };
            }
        }
        list.push(access.page);
        Some(evicted)
    })
}

fn clock(capacity: usize) -> Twin {
    let (mut list, mut used) = (List::new(), List::new());
    Box::new(move |access| {
        if list.contains(&access.page) {
            used.push(access.page);
            return None;
        }
        let mut evicted = None;
        while evicted.is_none() && list.len() == capacity {
            let page = list.remove(0);
            if used.contains(&page) {
                used.retain(|&other| other != page);
                list.push(page);
            } else {
                evicted = Some(page);
            }
        }
        list.push(access.page);
        Some(evicted)
    })
}

fn twin(name: &str, capacity: usize) -> Twin {
    match name {
        // Pages are of one class.
        "lru" | "memcached" | "adaptsize" => listed(capacity, to_newest, |_| 0),
        "fifo" => listed(capacity, |_, _| (), |_| 0),
        "mru" => listed(capacity, to_newest, |list| list.len() - 1),
        "clock" => clock(capacity),
        "sieve" => sieve(capacity),
        "lfu" => frequency(capacity, false),
        // Pages have one size.
        "lfu-da" | "gdsf" => frequency(capacity, true),
        "slru" => segments(capacity, vec![capacity, capacity * 4 / 5]),
        "s4lru" => segments(capacity, vec![capacity / 4; 4]),
        "2q" => two_queue(capacity, capacity / 4, capacity / 2),
        "2q:in=0.5:out=1" => two_queue(capacity, capacity / 2, capacity),
        "slru:protected=0.5" => segments(capacity, vec![capacity, capacity / 2]),
        "lru-2" => lru_2(capacity),
        "arc" => adaptive(capacity, false),
        "car" => adaptive(capacity, true),
        "s3-fifo" => s3_fifo(capacity, capacity / 10, capacity * 9 / 10, 2),
        "s3-fifo:small=25%:ghosts=2:promote=1" => s3_fifo(capacity, capacity / 4, capacity * 2, 1),
        "lecar" => lecar(capacity),
        "active-inactive" => active_inactive(capacity),
        "v1" => v1(capacity),
        // The page wanted last goes; of those never wanted again the one with the lowest number.
        "opt" => ranked(capacity, |access, _, _| (!access.next_use, access.page)),
        _ => panic!("no twin of {name}"),
    }
}

/// Policies whose rules are too long for a second copy to prove anything: strips, counts of other
/// programs and properties speak for them. W-TinyLFU has its twin with those counts; chance has none.
const WITHOUT: [&str; 6] = ["lirs", "clock-pro", "w-tinylfu", "random", "redis", "lhd"];

/// Policies with other values than the usual ones.
const TUNED: [&str; 3] =
    ["2q:in=0.5:out=1", "slru:protected=0.5", "s3-fifo:small=25%:ghosts=2:promote=1"];

fn check(capacity: u32, pages: &[u32]) {
    let names = POLICIES.iter().map(|row| row.name).filter(|name| !WITHOUT.contains(name));
    for name in names.chain(TUNED) {
        let mut policy = name.parse::<Choice>().unwrap().build(capacity, 1);
        let mut twin = twin(name, capacity as usize);
        for (at, access) in with_future(pages).into_iter().enumerate() {
            let want = match twin(access) {
                None => Outcome::Hit,
                Some(evicted) => Outcome::Filled { evicted },
            };
            let place = format!("{name} of {capacity}, access {at} of {pages:?}");
            assert_eq!(policy.access(access), want, "{place}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_policy_does_what_its_twin_does(
        capacity in 1..25_u32,
        pages in prop::collection::vec((0..40_u32, 0..40_u32), 0..300),
    ) {
        // The lower numbers more often.
        let pages: Vec<u32> = pages.into_iter().map(|(one, other)| one.min(other)).collect();
        check(capacity, &pages);
    }
}
