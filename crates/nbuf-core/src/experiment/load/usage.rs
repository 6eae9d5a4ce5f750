//! What commands used: of one step, or of all steps under a limit.

use super::charge::Charged;
use super::price;
use super::user::Interaction;
use crate::experiment::result::{LoadPrice, LoadStep, LoadUse};
use crate::sys::cgroup::GroupCounts;
use crate::units::{Bytes, Nanos, PAGE_BYTES, whole};

/// The usage of the commands that were answered in a window, and of the group that they ran in.
pub(super) fn of_window(
    answered: &[&Interaction],
    charged: Option<Charged>,
    price: Option<&LoadPrice>,
) -> Option<LoadUse> {
    let commands: Vec<_> = answered.iter().filter(|one| one.is_command).collect();
    let sum = |of: fn(&Interaction) -> u64| commands.iter().map(|one| of(one)).sum::<u64>();
    let used = LoadUse {
        commands: commands.len() as u64,
        cpu_seconds: Nanos(sum(|one| one.cpu_ns)).seconds(),
        major_faults: sum(|one| one.major_faults),
        minor_faults: sum(|one| one.minor_faults),
        read_bytes: Bytes(sum(|one| one.bytes_read)),
        page_seconds: charged.map(|charged| charged.page_seconds),
        disc_operations: charged.and_then(|charged| charged.disc_operations),
        ..LoadUse::default()
    };
    (used.commands > 0).then(|| ratios(used, price))
}

/// The usage of the commands of one class, of all that were answered. What is counted for the group alone is divided:
/// memory by the time in which commands ran, and disc operations by the bytes that they read.
pub(super) fn of_class(
    own: &[&Interaction],
    all: &[&Interaction],
    charged: Option<Charged>,
    price: Option<&LoadPrice>,
) -> Option<LoadUse> {
    let sum = |these: &[&Interaction], of: fn(&Interaction) -> u64| -> f64 {
        these.iter().filter(|one| one.is_command).map(|one| of(one)).sum::<u64>() as f64
    };
    let share = |of: fn(&Interaction) -> u64| {
        let whole = sum(all, of);
        (whole > 0.0).then(|| sum(own, of) / whole)
    };
    let ran = share(|one| one.ended_ns.saturating_sub(one.began_ns)).unwrap_or(0.0);
    // Commands that only write have operations, too.
    let read = share(|one| one.bytes_read).unwrap_or(ran);
    let part = |count: u64| whole((count as f64 * read).round());
    let charged = charged.map(|charged| Charged {
        page_seconds: charged.page_seconds * ran,
        disc_operations: charged.disc_operations.map(part),
    });
    of_window(own, charged, price)
}

/// The usage of a window's commands and of the servers that worked for them: the group's in the whole step, times the
/// `share` of its interactions that is in the window. Nothing where a part of that was not counted.
pub(super) fn with_servers(
    used: LoadUse,
    group: GroupCounts,
    share: f64,
    price: Option<&LoadPrice>,
) -> Option<LoadUse> {
    let part = |count: u64| whole((count as f64 * share).round());
    let used = LoadUse {
        cpu_seconds: Nanos(group.cpu_ns?).seconds() * share,
        major_faults: part(group.major_faults),
        minor_faults: part(group.minor_faults),
        read_bytes: Bytes(part(group.read?.0)),
        ..used
    };
    Some(ratios(used, price))
}

/// The sum over steps.
pub(super) fn of_steps<'a>(
    steps: impl Iterator<Item = &'a LoadStep>,
    price: Option<&LoadPrice>,
) -> Option<LoadUse> {
    sum(steps.filter_map(|step| step.used.as_ref()), price)
}

/// The sum of several.
pub(super) fn sum<'a>(
    all: impl Iterator<Item = &'a LoadUse>,
    price: Option<&LoadPrice>,
) -> Option<LoadUse> {
    let both = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
    let sum = all.copied().reduce(|sum, step| LoadUse {
        commands: sum.commands + step.commands,
        cpu_seconds: sum.cpu_seconds + step.cpu_seconds,
        major_faults: sum.major_faults + step.major_faults,
        minor_faults: sum.minor_faults + step.minor_faults,
        read_bytes: sum.read_bytes + step.read_bytes,
        page_seconds: both(sum.page_seconds, step.page_seconds),
        disc_operations: sum.disc_operations.zip(step.disc_operations).map(|(a, b)| a + b),
        ..LoadUse::default()
    });
    sum.map(|used| ratios(used, price))
}

fn ratios(used: LoadUse, price: Option<&LoadPrice>) -> LoadUse {
    let commands = used.commands.max(1) as f64;
    let between = |count: u64| (count > 0).then(|| used.cpu_seconds / count as f64);
    let fills = used.read_bytes.0.div_ceil(PAGE_BYTES);
    let used = LoadUse {
        fills,
        seconds_between_faults: between(used.major_faults),
        seconds_between_fills: between(fills),
        fills_each: fills as f64 / commands,
        cpu_seconds_each: used.cpu_seconds / commands,
        page_seconds_each: used.page_seconds.map(|all| all / commands),
        disc_operations_each: used.disc_operations.map(|all| all as f64 / commands),
        ..used
    };
    let price_per_thousand = price.and_then(|price| price::per_thousand(&used, price));
    LoadUse { price_per_thousand, ..used }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_answered_commands_and_sums_keep_their_ratios() {
        let one = Interaction {
            is_command: true,
            cpu_ns: 500_000_000,
            major_faults: 2,
            minor_faults: 30,
            bytes_read: 3 * PAGE_BYTES,
            ..Interaction::default()
        };
        let request = Interaction { is_command: false, ..one };
        let charged = Charged { page_seconds: 80.0, disc_operations: Some(6) };
        let used = of_window(&[&one, &one, &request], Some(charged), None).unwrap();
        assert_eq!((used.commands, used.major_faults, used.fills), (2, 4, 6));
        assert_eq!(used.seconds_between_faults, Some(0.25));
        assert_eq!((used.page_seconds_each, used.disc_operations_each), (Some(40.0), Some(3.0)));
        assert_eq!(of_window(&[&request], Some(charged), None), None);
        let step = LoadStep { used: Some(used), ..LoadStep::default() };
        let both = of_steps([&step, &step].into_iter(), None).unwrap();
        assert_eq!((both.commands, both.page_seconds), (4, Some(160.0)));
        assert_eq!(both.cpu_seconds_each.to_bits(), used.cpu_seconds_each.to_bits());
    }

    /// A heavy command runs three times as long as a light one, and reads all that is read.
    #[test]
    fn what_the_group_alone_counts_is_divided_among_classes_without_a_rest() {
        let one = |class, ended_ns, bytes_read| Interaction {
            class,
            ended_ns,
            bytes_read,
            is_command: true,
            ..Interaction::default()
        };
        let (heavy, light) = (one(0, 3_000, PAGE_BYTES), one(1, 1_000, 0));
        let charged = Charged { page_seconds: 80.0, disc_operations: Some(6) };
        let all = [&heavy, &light, &light];
        let of = |own: &[&Interaction]| of_class(own, &all, Some(charged), None).unwrap();
        let (of_heavy, of_light) = (of(&all[..1]), of(&all[1..]));
        assert_eq!((of_heavy.page_seconds, of_heavy.disc_operations), (Some(48.0), Some(6)));
        assert_eq!((of_light.page_seconds, of_light.disc_operations), (Some(32.0), Some(0)));
        assert_eq!((of_heavy.fills, of_light.page_seconds_each), (1, Some(16.0)));
        // Without reads, operations follow the time.
        let all = [&light, &light, &light];
        let third = of_class(&all[..1], &all, Some(charged), None).unwrap();
        assert_eq!(third.disc_operations, Some(2));
        assert_eq!(of_class(&[], &all, Some(charged), None), None);
    }
}
