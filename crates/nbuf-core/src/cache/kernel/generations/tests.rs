//! Each rule of the kernel alone, and the lists under random operations.

use proptest::prelude::*;

use super::*;

/// Puts in folios of one page that calls read so often.
fn read_in(order: &mut Generations, arena: &mut Arena, pages: usize, times: u32) -> Vec<Slot> {
    order.enters(false);
    let mut slots = Vec::new();
    for page in 0..pages {
        let slot = arena.insert(page, 0);
        order.inserted(arena, slot, None);
        for _ in 0..times {
            order.read(arena, slot);
        }
        slots.push(slot);
    }
    slots
}

fn fault_in(order: &mut Generations, arena: &mut Arena, pages: usize) -> Vec<Slot> {
    order.enters(true);
    let mut slots = Vec::new();
    for page in 0..pages {
        let slot = arena.insert(page, 0);
        order.inserted(arena, slot, None);
        order.mapped(arena, slot);
        slots.push(slot);
    }
    slots
}

fn reclaim(order: &mut Generations, arena: &mut Arena, pages: u32) -> Vec<(Slot, u32)> {
    order.reclaim_begins(pages);
    let mut victims = Vec::new();
    while let Some((slot, stamp)) = order.victim(arena) {
        order.removed(arena, slot);
        arena.remove(slot);
        victims.push((slot, stamp));
    }
    victims
}

fn number(order: &mut Generations, slot: Slot) -> u8 {
    order.state(slot).generation
}

#[test]
fn calls_fill_the_oldest_generation_and_faults_the_second_youngest() {
    let mut order = Generations::default();
    let numbers = [(false, false), (false, true), (true, false), (true, true)]
        .map(|(is_active, is_working_set)| order.number_for(is_active, is_working_set));
    assert_eq!(numbers, [0, 1, 2, 3]);
    // None is older than the oldest.
    order.oldest = 2;
    assert_eq!(order.number_for(false, true), 2);
    order.youngest = 9;
    order.oldest = 7;
    assert_eq!([order.number_for(false, false), order.number_for(true, false)], [7, 8]);
}

#[test]
fn the_fifth_access_makes_a_folio_part_of_the_working_set() {
    let (mut order, mut arena) = (Generations::default(), Arena::default());
    let slot = read_in(&mut order, &mut arena, 1, 0)[0];
    let mut seen = Vec::new();
    for _ in 0..6 {
        order.read(&mut arena, slot);
        seen.push((order.accesses(&arena, slot), arena.has(slot, flag::WORKINGSET)));
    }
    assert_eq!(seen, [(1, false), (2, false), (3, false), (4, false), (4, true), (4, true)]);
}

#[test]
fn what_calls_read_once_leaves_in_the_order_of_its_arrival() {
    let (mut order, mut arena) = (Generations::default(), Arena::default());
    let slots = read_in(&mut order, &mut arena, 200, 1);
    // The second access of the first folio does not protect it: nothing came back.
    order.read(&mut arena, slots[0]);
    let victims: Vec<Slot> = reclaim(&mut order, &mut arena, 32).iter().map(|it| it.0).collect();
    assert_eq!(victims, slots[..64], "a look isolates a batch");
}

#[test]
fn what_calls_read_as_often_as_can_be_counted_moves_on_and_starts_over() {
    let (mut order, mut arena) = (Generations::default(), Arena::default());
    let hot = read_in(&mut order, &mut arena, 1, 5)[0];
    let cold = read_in(&mut order, &mut arena, 100, 1);
    let victims = reclaim(&mut order, &mut arena, 32);
    assert_eq!(victims[0].0, cold[0]);
    assert_eq!((number(&mut order, hot), order.accesses(&arena, hot)), (1, 0));
    assert!(arena.has(hot, flag::WORKINGSET));
}

#[test]
fn a_tier_that_comes_back_moves_on_and_one_that_does_not_leaves() {
    for comes_back in [false, true] {
        let (mut order, mut arena) = (Generations::default(), Arena::default());
        let twice = read_in(&mut order, &mut arena, 80, 2);
        let stamps = reclaim(&mut order, &mut arena, 32);
        assert!(stamps.iter().all(|(_, stamp)| stamp >> 1 & 3 == 1), "one access more");
        let left = &twice[stamps.len()..];
        order.enters(false);
        for &(slot, stamp) in &stamps {
            let back = arena.insert(slot as usize, 0);
            order.inserted(&mut arena, back, comes_back.then_some(stamp));
        }
        assert_eq!(order.tiers.evictable(), if comes_back { 0 } else { 3 });
        reclaim(&mut order, &mut arena, 32);
        let stayed = left.iter().filter(|&&slot| arena.has(slot, flag::LISTED)).count();
        assert_eq!(stayed, if comes_back { left.len() } else { 0 });
    }
}

#[test]
fn what_came_back_after_four_generations_says_nothing() {
    for (passed, counts) in [(0, true), (3, true), (4, false), (40, false)] {
        let (mut order, mut arena) = (Generations::default(), Arena::default());
        order.youngest = 3 + passed;
        order.oldest = passed;
        // It left when number 3 was the oldest: as part of the working set.
        let slot = arena.insert(0, 0);
        order.inserted(&mut arena, slot, Some(3 << 3 | 1));
        assert_eq!(arena.has(slot, flag::WORKINGSET), counts, "{passed}");
    }
}

#[test]
fn aging_promotes_what_is_marked_for_the_second_time() {
    let (mut order, mut arena) = (Generations::default(), Arena::default());
    order.oldest = 2;
    let slots = fault_in(&mut order, &mut arena, 2);
    assert_eq!(number(&mut order, slots[0]), 2);
    order.age(&mut arena);
    assert_eq!((number(&mut order, slots[0]), order.youngest), (2, 4));
    order.touched_again(&mut arena, slots[0]);
    order.age(&mut arena);
    // Number 4 was the youngest then; it has the place of number 0.
    assert_eq!([number(&mut order, slots[0]), number(&mut order, slots[1])], [0, 2]);
    let working_set = [slots[0], slots[1]].map(|slot| arena.has(slot, flag::WORKINGSET));
    assert_eq!(working_set, [true, false]);
}

#[test]
fn a_marked_folio_goes_back_once_and_leaves_if_it_is_not_touched_again() {
    let (mut order, mut arena) = (Generations::default(), Arena::default());
    let marked = read_in(&mut order, &mut arena, 1, 0)[0];
    order.touched_again(&mut arena, marked);
    read_in(&mut order, &mut arena, 100, 0);
    reclaim(&mut order, &mut arena, 32);
    assert!(arena.has(marked, flag::LISTED));
    // As an active one: it is two generations ahead.
    assert_eq!(number(&mut order, marked), 2);
    reclaim(&mut order, &mut arena, 1000);
    assert!(!arena.has(marked, flag::LISTED));
}

#[test]
fn a_cache_that_is_all_marked_gives_way() {
    let (mut order, mut arena) = (Generations::default(), Arena::default());
    fault_in(&mut order, &mut arena, 300);
    let victims = reclaim(&mut order, &mut arena, 32);
    assert!((32..300).contains(&victims.len()), "{}", victims.len());
}

#[test]
fn linux_6_12_counts_accesses_from_the_second_one_on() {
    let (mut order, mut arena) = (Generations::new(Rules::V6_12), Arena::default());
    let slot = read_in(&mut order, &mut arena, 1, 0)[0];
    let mut seen = Vec::new();
    for _ in 0..6 {
        order.read(&mut arena, slot);
        let accesses = order.accesses(&arena, slot);
        seen.push((accesses, order.tier(accesses, true), arena.has(slot, flag::WORKINGSET)));
    }
    let working_set = [(1, 1, true), (2, 2, true), (3, 2, true), (4, 3, true), (4, 3, true)];
    assert_eq!(seen[0], (0, 0, false));
    assert_eq!(seen[1..], working_set);
}

#[test]
fn linux_6_12_puts_reads_behind_the_oldest_generation_and_faults_into_the_youngest() {
    let mut order = Generations::new(Rules::V6_12);
    let numbers =
        |order: &Generations| [order.number_for(false, true), order.number_for(true, false)];
    assert_eq!(numbers(&order), [1, 3]);
    order.oldest = 1;
    assert_eq!(numbers(&order), [1, 3]);
}

#[test]
fn what_is_protected_moves_to_the_end_that_its_kernel_has_for_it() {
    for (rules, keeps_working_set) in [(Rules::V6_12, false), (Rules::V6_14, true)] {
        let (mut order, mut arena) = (Generations::new(rules), Arena::default());
        order.oldest = 1;
        let hot = read_in(&mut order, &mut arena, 2, 5);
        read_in(&mut order, &mut arena, 200, 1);
        reclaim(&mut order, &mut arena, 32);
        let last = order.lists[usize::from(place(2))].last();
        assert_eq!(last, hot[usize::from(rules == Rules::V6_12)], "{rules:?}");
        assert_eq!(arena.has(last, flag::WORKINGSET), keeps_working_set);
        assert_eq!(order.state(last).refs, 0);
    }
}

#[test]
fn linux_6_12_counts_what_comes_back_while_its_generation_is_the_oldest() {
    for (oldest, counts) in [(0, true), (1, false)] {
        let (mut order, mut arena) = (Generations::new(Rules::V6_12), Arena::default());
        order.enters(false);
        let slot = arena.insert(0, 0);
        for _ in 0..5 {
            order.read(&mut arena, slot);
        }
        let stamp = order.stamp(&mut arena, slot);
        order.oldest = oldest;
        let back = arena.insert(1, 0);
        order.inserted(&mut arena, back, Some(stamp));
        // It was read often, so that it comes back as one that was.
        assert_eq!(arena.has(back, flag::WORKINGSET), counts);
        assert_eq!(order.accesses(&arena, back), if counts { 4 } else { 0 });
    }
}

#[test]
fn linux_6_12_ages_where_generations_are_of_very_different_size() {
    for (rules, youngest) in [(Rules::V6_12, 3), (Rules::V6_14, 4)] {
        let (mut order, mut arena) = (Generations::new(rules), Arena::default());
        order.oldest = 1;
        read_in(&mut order, &mut arena, 300, 1);
        reclaim(&mut order, &mut arena, 32);
        assert_eq!(order.youngest, youngest, "{rules:?}");
    }
    // Most of it is in the youngest one.
    let (mut order, mut arena) = (Generations::new(Rules::V6_12), Arena::default());
    order.oldest = 1;
    fault_in(&mut order, &mut arena, 300);
    assert!(!order.is_spread_out(300));
    reclaim(&mut order, &mut arena, 32);
    assert!(order.youngest > 3);
}

#[test]
fn since_linux_7_3_an_access_counts_before_the_folio_is_on_its_list() {
    let (mut order, mut arena) = (Generations::new(Rules::V7_3), Arena::default());
    let (read, unread) = (read_in(&mut order, &mut arena, 1, 1)[0], 31);
    let others = read_in(&mut order, &mut arena, unread, 0);
    assert_eq!([read, others[0], others[30]].map(|slot| number(&mut order, slot)), [1, 0, 0]);
    // A fault is an access. It brings in an active folio only if that was part of the working set.
    let fault = fault_in(&mut order, &mut arena, 1)[0];
    order.put_collected(&mut arena);
    assert_eq!(number(&mut order, fault), 1);
    let back = arena.insert(99, 0);
    order.inserted(&mut arena, back, Some(1));
    assert_eq!(number(&mut order, back), 3);
}

#[test]
fn since_linux_7_3_reclaim_ends_when_it_has_enough() {
    for (rules, pages) in [(Rules::V6_14, 64), (Rules::V7_3, 34)] {
        let (mut order, mut arena) = (Generations::new(rules), Arena::default());
        read_in(&mut order, &mut arena, 600, 0);
        // 1 + 2 + 4 + 9 + 18: parts of what is left of 600 pages.
        assert_eq!(reclaim(&mut order, &mut arena, 32).len(), pages, "{rules:?}");
    }
}

#[test]
fn a_mark_on_text_promotes_it_at_once_since_linux_7_3_and_any_mark_before_6_14() {
    let promotes = |rules, text| {
        let (mut order, mut arena) = (Generations::new(rules), Arena::default());
        let slot = read_in(&mut order, &mut arena, 1, 0)[0];
        arena.set(slot, text | flag::YOUNG);
        order.is_promoted(&mut arena, slot)
    };
    let both = |rules| [promotes(rules, 0), promotes(rules, flag::TEXT)];
    assert_eq!(both(Rules::V6_12), [true, true]);
    assert_eq!(both(Rules::V6_14), [false, false]);
    assert_eq!(both(Rules::V7_3), [false, true]);
}

/// What may happen to a cache.
#[derive(Clone, Debug)]
enum Event {
    Read(u32),
    Fault(u32),
    Touch(usize),
    Again(usize),
    Drop(usize),
    Reclaim(u32),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0_u32..4).prop_map(Event::Read),
        (0_u32..4).prop_map(Event::Fault),
        any::<usize>().prop_map(Event::Touch),
        any::<usize>().prop_map(Event::Again),
        any::<usize>().prop_map(Event::Drop),
        (32_u32..200).prop_map(Event::Reclaim),
    ]
}

proptest! {
    #[test]
    fn the_lists_have_every_folio_once(
        rules in prop_oneof![Just(Rules::V6_12), Just(Rules::V6_14), Just(Rules::V7_3)],
        events in proptest::collection::vec(event(), 0..800),
    ) {
        let (mut order, mut arena) = (Generations::new(rules), Arena::default());
        // Live folios, and the stamps of those that left.
        let (mut live, mut stamps): (Vec<Slot>, Vec<u32>) = (Vec::new(), Vec::new());
        for event in events {
            let pick = |at: usize, live: &[Slot]| live.get(at % live.len().max(1)).copied();
            match event {
                Event::Read(folio) | Event::Fault(folio) => {
                    order.enters(matches!(event, Event::Fault(_)));
                    let slot = arena.insert(0, folio);
                    order.inserted(&mut arena, slot, stamps.pop());
                    live.push(slot);
                }
                Event::Touch(at) => {
                    if let Some(slot) = pick(at, &live) {
                        order.read(&mut arena, slot);
                    }
                }
                Event::Again(at) => {
                    if let Some(slot) = pick(at, &live) {
                        order.touched_again(&mut arena, slot);
                    }
                }
                Event::Drop(at) => {
                    if let Some(slot) = pick(at, &live) {
                        order.removed(&mut arena, slot);
                        arena.remove(slot);
                        live.retain(|&other| other != slot);
                    }
                }
                Event::Reclaim(pages) => {
                    let all: u32 = live.iter().map(|&slot| arena.pages(slot)).sum();
                    let victims = reclaim(&mut order, &mut arena, pages);
                    let found: u32 = victims.iter().map(|&(slot, _)| arena.pages(slot)).sum();
                    prop_assert!(found >= pages.min(all), "{found} of {pages}, {all} were there");
                    live.retain(|&slot| victims.iter().all(|&(victim, _)| victim != slot));
                    stamps.extend(victims.iter().map(|&(_, stamp)| stamp));
                    prop_assert!(victims.iter().all(|&(_, stamp)| stamp < 1 << 31));
                }
            }
            let listed: u32 = order.lists.iter().map(|list| list.pages).sum();
            let pages: u32 = live.iter().map(|&slot| arena.pages(slot)).sum();
            prop_assert_eq!(listed, pages);
            prop_assert!(order.youngest - order.oldest < GENERATIONS, "{:?}", order.youngest);
            prop_assert!(order.oldest < order.youngest);
        }
    }
}
