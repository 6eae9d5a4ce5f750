//! Compares the offsets of patterns with their description and with the course's own loop.

use proptest::prelude::*;

use super::*;

fn pattern(order: Order, block_bytes: u64, size_bytes: u64) -> Pattern {
    Pattern { direction: Direction::Read, order, block_bytes, size_bytes }
}

fn list(pattern: &Pattern, operations: Range<u64>) -> Vec<(u64, u64)> {
    let mut list = Vec::new();
    let done: Result<(), ()> = pattern.each(operations, |operation| {
        list.push((operation.offset_bytes, operation.length_bytes as u64));
        Ok(())
    });
    done.unwrap();
    list
}

#[derive(Default)]
struct List(Vec<(u64, u64)>);

impl Visit for List {
    type Error = ();

    fn visit(&mut self, operation: Operation) -> Result<(), ()> {
        self.0.push((operation.offset_bytes, operation.length_bytes as u64));
        Ok(())
    }
}

/// The loop of the course's programs, as in its notes. It stops once `size` bytes are moved.
fn course(block: u64, stride: u64, size: u64) -> Vec<(u64, u64)> {
    let (mut moved, mut position, mut first) = (0, 0, 0);
    let mut list = Vec::new();
    while moved < size {
        let length = block.min(size - moved);
        list.push((position, length));
        moved += length;
        position += stride;
        if position >= size {
            first += block;
            position = first;
        }
    }
    list
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Sequential),
        (1_u64..200).prop_map(|stride_bytes| Order::Strided { stride_bytes }),
        any::<u64>().prop_map(|seed| Order::Random { seed }),
    ]
}

proptest! {
    #[test]
    fn every_byte_is_moved_once(order in orders(), block in 1_u64..70, size in 0_u64..700) {
        let pattern = pattern(order, block, size);
        let list = list(&pattern, 0..pattern.operations());
        prop_assert_eq!(list.len() as u64, pattern.operations());
        prop_assert_eq!(list.iter().map(|(_, length)| length).sum::<u64>(), size);
        prop_assert!(list.iter().all(|(at, length)| *length > 0 && at + length <= size));
        prop_assert!(list.iter().all(|(_, length)| whole(*length) <= pattern.longest_bytes()));
        let end = list.iter().map(|(at, length)| at + length).max().unwrap_or(0);
        prop_assert_eq!(end, pattern.end_bytes());
        if pattern.stride_bytes() >= block {
            let mut times = vec![0; whole(size)];
            for (at, length) in list {
                times[whole(at)..whole(at + length)].iter_mut().for_each(|times| *times += 1);
            }
            prop_assert!(times.iter().all(|times| *times == 1));
        }
    }

    #[test]
    fn slices_are_parts_of_the_whole(
        order in orders(), block in 1_u64..70, size in 0_u64..700, cuts in [0_u64..800, 0_u64..800],
    ) {
        let pattern = pattern(order, block, size);
        let all = list(&pattern, 0..u64::MAX);
        let (from, to) = (cuts[0].min(cuts[1]), cuts[0].max(cuts[1]));
        let want: Vec<_> =
            all.iter().skip(whole(from)).take(whole(to - from)).copied().collect();
        prop_assert_eq!(list(&pattern, from..to), want);
    }

    #[test]
    fn loops_of_their_own_have_the_same_operations(
        order in orders(), block in 1_u64..70, size in 0_u64..700,
        cuts in [0_u64..800, 0_u64..800],
    ) {
        let operations = cuts[0].min(cuts[1])..cuts[0].max(cuts[1]);
        let blocks = pattern(order, block, size);
        let mut visited = List::default();
        prop_assert!(blocks.visit(operations.clone(), &mut visited).is_ok());
        prop_assert_eq!(visited.0, list(&blocks, operations.clone()));
        let bytes = pattern(order, 1, size);
        let mut visited = List::default();
        prop_assert!(bytes.visit_bytes(operations.clone(), &mut visited).is_ok());
        prop_assert_eq!(visited.0, list(&bytes, operations));
    }

    #[test]
    fn strides_are_those_of_the_course(blocks in 1_u64..20, lanes in 1_u64..12, block in 1_u64..9) {
        let stride = blocks * block;
        let size = stride * lanes;
        let pattern = pattern(Order::Strided { stride_bytes: stride }, block, size);
        prop_assert_eq!(list(&pattern, 0..u64::MAX), course(block, stride, size));
    }

    #[test]
    fn overlapping_strides_are_those_of_the_course(stride in 1_u64..9, more in 1_u64..9, size in 1_u64..99) {
        let block = stride + more;
        let pattern = pattern(Order::Strided { stride_bytes: stride }, block, size);
        prop_assert_eq!(list(&pattern, 0..u64::MAX), course(block, stride, size));
    }
}

#[test]
fn what_cannot_be_asked_says_why() {
    let mebibyte = 1 << 20;
    let cases = [
        (pattern(Order::Sequential, 1, mebibyte), None),
        (pattern(Order::Sequential, 0, mebibyte), Some(Error::EmptyBlock)),
        (pattern(Order::Strided { stride_bytes: 0 }, 1, 1), Some(Error::EmptyStride)),
        (pattern(Order::Sequential, 1, u64::MAX), Some(Error::TooLarge(u64::MAX))),
        (pattern(Order::Strided { stride_bytes: 1 << 63 }, 1, 1), Some(Error::TooLarge(1 << 63))),
    ];
    for (pattern, want) in cases {
        assert_eq!(pattern.check().err(), want, "{pattern:?}");
        assert_eq!(pattern.operations() == 0, want.is_some(), "{pattern:?}");
        if want.is_some() {
            assert_eq!(list(&pattern, 0..9), []);
        }
    }
}
