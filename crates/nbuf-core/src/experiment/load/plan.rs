//! What each user will do, fixed before a load begins by the seed alone.

use super::script::{Arrivals, Class, Think};
use crate::clock::Random;
use crate::experiment::result::LoadCarried;
use crate::units::Nanos;

/// What a user does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    /// How long the user thinks before; with open arrivals, how long after the arrival before.
    pub(super) pause: Nanos,
    /// The number of the action in the class.
    pub(super) action: usize,
}

/// The endless sequence of one user, or of the open arrivals of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence(Random);

impl Sequence {
    /// The sequence of the user of this number in the class of this number. It is the same in each step.
    pub(super) fn of_user(seed: u64, class_at: usize, user: u32) -> Self {
        let mut random = Random::new(seed);
        // One step of the generator between the numbers: they are small, and alike.
        for number in [class_at as u64 + 1, u64::from(user) + 1] {
            random = Random::new(random.next() ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        Self(random)
    }

    /// The arrivals of a class.
    pub(super) fn of_arrivals(seed: u64, class_at: usize) -> Self {
        Self::of_user(seed, class_at, u32::MAX)
    }

    /// The next action of this class; where users do not think, without a pause.
    pub(super) fn next(&mut self, class: &Class, thinks: bool) -> Next {
        // Drawn either way, so that the actions are the same.
        let pause = match class.arrivals {
            Arrivals::Closed => think(&class.think, &mut self.0),
            Arrivals::Open { rate_per_second } => self.0.exponential(1.0 / rate_per_second),
        };
        let pause = if thinks { Nanos::from_seconds(pause) } else { Nanos::ZERO };
        Next { pause, action: self.action(class) }
    }

    fn action(&mut self, class: &Class) -> usize {
        let weights = class.actions.iter().map(|action| action.weight);
        let mut left = self.0.unit() * weights.clone().sum::<f64>();
        let chosen = weights.into_iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        // A sum of fractions may be too small by its last digit.
        chosen.unwrap_or(class.actions.len().saturating_sub(1))
    }
}

/// Draws a think time in seconds.
fn think(think: &Think, random: &mut Random) -> f64 {
    match *think {
        Think::Fixed { seconds } => seconds,
        Think::Exponential { mean_seconds } => random.exponential(mean_seconds),
        Think::Lognormal { mean_seconds, deviation_seconds } => {
            if mean_seconds <= 0.0 {
                return 0.0;
            }
            // The parameters of the logarithm, from the mean and the deviation of the time itself.
            let variance = (1.0 + (deviation_seconds / mean_seconds).powi(2)).ln();
            let mean = mean_seconds.ln() - variance / 2.0;
            (mean + variance.sqrt() * normal(random)).exp()
        }
        Think::Recorded { ref seconds, .. } => {
            let at = crate::units::whole((random.unit() * seconds.len() as f64).floor());
            usize::try_from(at).ok().and_then(|at| seconds.get(at)).copied().unwrap_or(0.0)
        }
    }
}

/// Draws from the standard normal distribution, its far ends too (Box and Muller, 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// How many of the users are in each class: by the shares, with the largest remainders rounded up.
/// The earlier class goes first where two are alike.
pub(super) fn mix(classes: &[Class], users: u32) -> Vec<u32> {
    let all: f64 = classes.iter().map(|class| class.share).sum();
    let exact: Vec<f64> =
        classes.iter().map(|class| f64::from(users) * class.share / all).collect();
    let mut counts: Vec<u32> = exact.iter().map(|share| whole(share.floor())).collect();
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let left = users.saturating_sub(counts.iter().sum());
    for &at in order.iter().cycle().take(usize::try_from(left).unwrap_or(0)) {
        counts[at] += 1;
    }
    counts
}

/// Divides N*, rounded down, among the classes.
pub(super) fn carried(classes: &[Class], users: f64) -> Vec<LoadCarried> {
    /// No machine carries more, and shares of more are not exact.
    const MOST: u32 = 1_000_000_000;
    // A quotient of measured times may be a hair below its whole number.
    let by_class = mix(classes, whole((users + 1e-6).floor()).min(MOST));
    let one = |(class, users): (&Class, u32)| LoadCarried { name: class.name.clone(), users };
    classes.iter().zip(by_class).map(one).collect()
}

fn whole(share: f64) -> u32 {
    u32::try_from(crate::units::whole(share)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::script::Script;
    use super::*;

    fn script() -> Script {
        let text = "
            [[class]]
            name = 'heavy'
            share = 1
            think = { kind = 'exponential', mean_seconds = 2 }
            command = [{ run = ['a'], weight = 3 }, { run = ['b'] }]
            [[class]]
            name = 'light'
            share = 3
            think = { kind = 'lognormal', mean_seconds = 2, deviation_seconds = 3 }
            command = [{ run = ['c'] }]
            [[class]]
            name = 'open'
            share = 2
            arrivals = 'open'
            rate_per_second = 4
            command = [{ run = ['d'] }]";
        Script::parse(text).unwrap()
    }

    fn draw(class: &Class, mut sequence: Sequence, count: usize) -> Vec<Next> {
        (0..count).map(|_| sequence.next(class, true)).collect()
    }

    #[test]
    fn the_same_seed_gives_each_user_the_same_sequence_and_no_two_users_one() {
        let script = script();
        let mut drawn = Vec::new();
        for (at, class) in script.classes.iter().enumerate() {
            for user in [0, 1, 2, u32::MAX] {
                let of = |seed| draw(class, Sequence::of_user(seed, at, user), 50);
                assert_eq!(of(1969), of(1969));
                assert_ne!(of(1969), of(1970));
                assert!(!drawn.contains(&of(1969)), "{at} {user}");
                drawn.push(of(1969));
            }
        }
    }

    #[test]
    fn a_certifier_does_the_same_without_thinking() {
        let script = script();
        let class = &script.classes[0];
        let mut without = Sequence::of_user(7, 0, 0);
        for next in draw(class, Sequence::of_user(7, 0, 0), 100) {
            let want = Next { pause: Nanos::ZERO, action: next.action };
            assert_eq!(without.next(class, false), want);
        }
    }

    #[test]
    fn times_and_choices_are_distributed_as_the_script_says() {
        let script = script();
        let count = 40_000;
        let moments = |at: usize| {
            let drawn = draw(&script.classes[at], Sequence::of_user(3, at, 0), count);
            let mean = drawn.iter().map(|next| next.pause.seconds()).sum::<f64>() / count as f64;
            let square = |next: &Next| (next.pause.seconds() - mean).powi(2);
            let deviation = (drawn.iter().map(square).sum::<f64>() / count as f64).sqrt();
            let first = drawn.iter().filter(|next| next.action == 0).count();
            (mean, deviation, first as f64 / count as f64)
        };
        let near =
            |got: f64, want: f64, room: f64| assert!((got / want - 1.0).abs() < room, "{got}");
        let (mean, deviation, first) = moments(0);
        near(mean, 2.0, 0.03);
        near(deviation, 2.0, 0.04);
        near(first, 0.75, 0.02);
        let (mean, deviation, _) = moments(1);
        near(mean, 2.0, 0.03);
        near(deviation, 3.0, 0.15);
        let (mean, deviation, _) = moments(2);
        near(mean, 0.25, 0.03);
        near(deviation, 0.25, 0.04);
    }

    #[test]
    fn recorded_times_are_drawn_alike_and_by_the_seed() {
        let mut class = script().classes.remove(0);
        let seconds = vec![1.0, 2.0, 4.0];
        class.think = Think::Recorded { file: String::new(), seconds: seconds.clone() };
        let of = |user| draw(&class, Sequence::of_user(9, 0, user), 3000);
        assert_eq!(of(0), of(0));
        assert_ne!(of(0), of(1));
        for want in seconds {
            let times = of(0).iter().filter(|next| next.pause == Nanos::from_seconds(want)).count();
            assert!((900..1100).contains(&times), "{want}: {times}");
        }
    }

    #[test]
    fn users_are_shared_out_by_the_largest_remainders() {
        let classes = script().classes;
        for (users, want) in
            [(0, [0, 0, 0]), (1, [0, 1, 0]), (2, [0, 1, 1]), (6, [1, 3, 2]), (7, [1, 4, 2])]
        {
            assert_eq!(mix(&classes, users), want, "{users}");
        }
        assert!((1..200).all(|users| mix(&classes, users).iter().sum::<u32>() == users));
    }

    #[test]
    fn a_machine_carries_whole_users_by_their_shares() {
        let classes = script().classes;
        let of = |users| -> Vec<(String, u32)> {
            let carried = carried(&classes, users).into_iter();
            carried.map(|one| (one.name, one.users)).collect()
        };
        let named = |users: [u32; 3]| -> Vec<(String, u32)> {
            ["heavy", "light", "open"].map(str::to_owned).into_iter().zip(users).collect()
        };
        assert_eq!(of(0.9), named([0, 0, 0]));
        assert_eq!(of(6.99), named([1, 3, 2]));
        assert_eq!(of(f64::MAX).iter().map(|one| one.1).sum::<u32>(), 1_000_000_000);
    }
}
