//! `nbuf load` against queues whose laws are exact: one server with services of known length.
//!
//! The server notes each service on the clock of nbuf. A slow machine then changes the parameters of a model, and the
//! model still holds. Tolerances are the ends of what replications of the model give.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nbuf::experiment::result::{LoadDocument, LoadLine, LoadStep};
use nbuf::internal::clock::Random;
use nbuf::internal::sys::process::monotonic_ns;
use support::truth::in_four_tries;
use support::{Place, requires};

const REPLICATIONS: u16 = 1000;

/// A web server that serves one request after the other, each for a random time.
struct Server {
    address: SocketAddr,
    /// How long each service took, in the order in which requests came.
    took_ns: Arc<Mutex<Vec<u64>>>,
}

impl Server {
    /// Times of service are exponential, with this mean; each server draws the same ones.
    fn start(mean_seconds: f64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let took_ns = Arc::new(Mutex::new(Vec::new()));
        let log = took_ns.clone();
        std::thread::spawn(move || {
            let mut random = Random::new(1969);
            for mut stream in listener.incoming().flatten() {
                let taken_ns = monotonic_ns();
                if !stream.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {
                    continue;
                }
                std::thread::sleep(Duration::from_secs_f64(random.exponential(mean_seconds)));
                // Before the answer: the test reads it once nbuf has ended.
                log.lock().unwrap().push(monotonic_ns() - taken_ns);
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
                let _ = stream.write_all(answer);
            }
        });
        Self { address, took_ns }
    }

    fn took_ns(&self) -> Vec<u64> {
        self.took_ns.lock().unwrap().clone()
    }
}

/// Runs `nbuf load`: its document, and a line for each interaction.
fn measured(place: &Place, script: &str, words: &[&str]) -> (LoadDocument, Vec<LoadLine>) {
    fs::write(place.path("users.toml"), script).unwrap();
    // An earlier try left it, and nbuf overwrites no file.
    let _ = fs::remove_file(place.path("lines.jsonl"));
    let mut nbuf = place.nbuf(["load", "users.toml", "--json", "--lines-out", "lines.jsonl"]);
    let output = nbuf.args(words).output().unwrap();
    let wrong = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), wrong.as_str()), (Some(0), ""));
    let lines = fs::read_to_string(place.path("lines.jsonl")).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (serde_json::from_slice(&output.stdout).unwrap(), lines)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The figures of a step are those of its lines: means exactly, quantiles within a thirtieth.
#[track_caller]
fn agrees(step: &LoadStep, lines: &[&LoadLine]) {
    let counted: Vec<&&LoadLine> = lines.iter().filter(|line| line.is_counted).collect();
    assert_eq!(step.interactions, counted.len() as u64, "{step:?}");
    for (times, is_response) in [(step.response, true), (step.service, false)] {
        let times = times.unwrap();
        let took = |line: &&&LoadLine| {
            let from = if is_response { line.intended_ns } else { line.began_ns };
            seconds(line.ended_ns - from)
        };
        let mut all: Vec<f64> = counted.iter().map(took).collect();
        all.sort_by(f64::total_cmp);
        assert!((times.mean_seconds / mean(&all) - 1.0).abs() < 1e-6, "{times:?}");
        let quantiles = [(50, times.p50_seconds), (90, times.p90_seconds), (99, times.p99_seconds)];
        for (percent, got) in quantiles {
            let rank = (all.len() * percent).div_ceil(100);
            // A product of fractions may round to the next rank.
            let next = all[rank.min(all.len() - 1)];
            let within = all[rank - 1] * 0.999_999..=next * (1.0 + 1.0 / 30.0);
            assert!(within.contains(&got), "p{percent} {got}, not {within:?}");
        }
    }
}

/// Each user thinks from an answer to the next intended beginning, to the nanosecond.
#[track_caller]
fn thinks(lines: &[&LoadLine]) {
    let mut answered: BTreeMap<u32, u64> = BTreeMap::new();
    for line in lines {
        let before = answered.insert(line.user, line.ended_ns).unwrap_or(0);
        assert_eq!(line.intended_ns, before + line.think_ns, "{line:?}");
        assert!(line.intended_ns <= line.began_ns && line.began_ns <= line.ended_ns, "{line:?}");
    }
}

/// What replications of a model give, without one in two hundred at each end.
fn band(mut model: impl FnMut(&mut Random) -> f64) -> RangeInclusive<f64> {
    let all = replications(&mut model);
    let ends = all.len() / 200;
    all[ends]..=all[all.len() - 1 - ends]
}

fn replications(model: &mut impl FnMut(&mut Random) -> f64) -> Vec<f64> {
    let mut random = Random::new(1969);
    let mut all: Vec<f64> = (0..REPLICATIONS).map(|_| model(&mut random)).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// One of the values, each with the same probability.
fn one_of(random: &mut Random, values: &[f64]) -> f64 {
    values[usize::try_from(random.below(values.len() as u64)).unwrap()]
}

/// The mean response of the first customers of a server that arrive independently.
fn open_queue(
    random: &mut Random,
    rate: f64,
    service: &dyn Fn(&mut Random) -> f64,
    customers: usize,
) -> f64 {
    let (mut now, mut free, mut sum) = (0.0_f64, 0.0_f64, 0.0);
    for _ in 0..customers {
        now += random.exponential(1.0 / rate);
        free = free.max(now) + service(random);
        sum += free - now;
    }
    sum / customers as f64
}

/// Users who think, of whom one after the other is served, after a delay that all have at once.
#[derive(Clone, Copy)]
struct Repairman {
    users: usize,
    think_seconds: f64,
    delay_seconds: f64,
    from_seconds: f64,
    to_seconds: f64,
}

impl Repairman {
    /// Throughput and mean response in the window.
    fn once(self, random: &mut Random, service: &dyn Fn(&mut Random) -> f64) -> (f64, f64) {
        let mut asks: Vec<f64> =
            (0..self.users).map(|_| random.exponential(self.think_seconds)).collect();
        let (mut free, mut count, mut sum) = (0.0_f64, 0.0, 0.0);
        loop {
            // The first who asks is the next who is served.
            let next = asks.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            free = free.max(*next + self.delay_seconds) + service(random);
            if free > self.to_seconds {
                return (count / (self.to_seconds - self.from_seconds), sum / count);
            }
            if free > self.from_seconds {
                count += 1.0;
                sum += free - *next;
            }
            *next = free + random.exponential(self.think_seconds);
        }
    }

    /// Both by exact mean value analysis, for exponential services.
    fn law(self, service_seconds: f64) -> (f64, f64) {
        let (mut queue, mut throughput, mut response) = (0.0, 0.0, 0.0);
        for population in 1..=self.users {
            response = service_seconds * (1.0 + queue);
            let cycle = self.think_seconds + self.delay_seconds + response;
            throughput = population as f64 / cycle;
            queue = throughput * response;
        }
        (throughput, response + self.delay_seconds)
    }
}

const MANY: Repairman = Repairman {
    users: 6,
    think_seconds: 0.15,
    delay_seconds: 0.0,
    from_seconds: 0.5,
    to_seconds: 7.5,
};

#[test]
fn the_models_of_the_tests_agree_with_the_laws() {
    let near = |all: &[f64], law: f64| {
        let got = mean(all);
        let variance = all.iter().map(|one| (one - got).powi(2)).sum::<f64>() / all.len() as f64;
        let error = (variance / all.len() as f64).sqrt();
        assert!((got - law).abs() < 4.0 * error, "{got} {law} {error}");
    };
    // M/M/1: 1 / (service rate - arrival rate).
    let exponential = |mean: f64| move |random: &mut Random| random.exponential(mean);
    let service = exponential(0.02);
    near(
        &replications(&mut |random: &mut Random| open_queue(random, 25.0, &service, 1500)),
        1.0 / 25.0,
    );
    let model = Repairman { from_seconds: 2.0, to_seconds: 42.0, ..MANY };
    let service = exponential(0.03);
    near(
        &replications(&mut |random: &mut Random| model.once(random, &service).0),
        model.law(0.03).0,
    );
}

/// Both at once: each load is a few requests a second, and what one takes from the other is a parameter of the models.
#[test]
fn open_arrivals_and_closed_users_keep_their_laws() {
    let Some(_lock) = requires(&[]) else { return };
    std::thread::scope(|scope| {
        scope.spawn(open_arrivals_wait_as_in_m_g_1_from_their_intended_beginnings);
        scope.spawn(closed_users_keep_the_law_of_the_machine_repairman);
    });
}

fn open_arrivals_wait_as_in_m_g_1_from_their_intended_beginnings() {
    const RATE: f64 = 25.0;
    let place = Place::new();
    in_four_tries(|| {
        let server = Server::start(0.022);
        let script = format!(
            "[[class]]\nname = 'arrivals'\narrivals = 'open'\nrate_per_second = {RATE}\n\
             request = [{{ get = 'http://{}/' }}]\n",
            server.address
        );
        let words = ["--users", "1", "--duration", "9s", "--warmup", "100ms", "--seed", "2"];
        let (load, lines) = measured(&place, &script, &words);
        let step = &load.steps[0];
        let lines: Vec<&LoadLine> = lines.iter().collect();
        agrees(step, &lines);
        let took_ns = server.took_ns();
        assert!(took_ns.len() >= lines.len(), "{} {}", took_ns.len(), lines.len());
        // Lindley's recursion, by the server's own clock: no answer can be earlier, on any machine. A driver that
        // counts from the actual beginning reports less.
        let (mut free_ns, mut before_ns, mut services) = (0_u64, 0_u64, Vec::new());
        for (line, took_ns) in lines.iter().zip(took_ns) {
            assert!(line.began_ns >= before_ns.max(line.intended_ns), "{line:?}");
            assert!(line.ended_ns - line.began_ns >= took_ns, "{line:?} {took_ns}");
            free_ns = line.intended_ns.max(free_ns) + took_ns;
            assert!(line.ended_ns >= free_ns, "{line:?} {free_ns}");
            services.push(seconds(line.ended_ns - before_ns.max(line.intended_ns)));
            before_ns = line.ended_ns;
        }
        // Pollaczek and Khinchine, by the services that were measured.
        let squares: Vec<f64> = services.iter().map(|one| one.powi(2)).collect();
        let busy = RATE * mean(&services);
        let law = mean(&services) + RATE * mean(&squares) / (2.0 * (1.0 - busy));
        let service = |random: &mut Random| one_of(random, &services);
        let band = band(|random: &mut Random| open_queue(random, RATE, &service, lines.len()));
        let got = step.response.unwrap().mean_seconds;
        assert!(busy < 1.0 && band.contains(&law), "{busy} {law} {band:?}");
        assert!(band.contains(&got), "{got} {band:?}");
        // What hides the wait is no response of this queue.
        assert!(step.service.unwrap().mean_seconds < *band.start(), "{step:?} {band:?}");
    });
}

fn closed_users_keep_the_law_of_the_machine_repairman() {
    let place = Place::new();
    in_four_tries(|| {
        let server = Server::start(0.03);
        let script = format!(
            "[[class]]\nname = 'users'\nthink = {{ kind = 'exponential', mean_seconds = {} }}\n\
             request = [{{ get = 'http://{}/' }}]\n",
            MANY.think_seconds, server.address
        );
        let words = ["--users", "1,6", "--duration", "7s", "--warmup", "500ms", "--seed", "1"];
        let (load, lines) = measured(&place, &script, &words);
        let [one, many] = &load.steps[..] else { panic!("{load:?}") };
        let of = |number: u64| -> Vec<&LoadLine> {
            lines.iter().filter(|line| line.step == number).collect()
        };
        for (number, step) in [(1, one), (2, many)] {
            agrees(step, &of(number));
            thinks(&of(number));
        }
        // One user alone waits for no other: the rest of the response is the way to the server and back.
        let took_ns = server.took_ns();
        let alone = of(1);
        let delays: Vec<f64> = alone
            .iter()
            .zip(&took_ns)
            .map(|(line, &took_ns)| {
                assert!(line.ended_ns - line.began_ns >= took_ns, "{line:?} {took_ns}");
                seconds(line.ended_ns - line.intended_ns - took_ns)
            })
            .collect();
        let services: Vec<f64> = took_ns.iter().map(|&ns| seconds(ns)).collect();
        let model = Repairman { delay_seconds: mean(&delays), ..MANY };
        let service = |random: &mut Random| one_of(random, &services);
        let (throughput, response) = model.law(mean(&services));
        let rates = band(|random: &mut Random| model.once(random, &service).0);
        let responses = band(|random: &mut Random| model.once(random, &service).1);
        assert!(rates.contains(&throughput), "{throughput} {rates:?}");
        assert!(responses.contains(&response), "{response} {responses:?}");
        assert!(rates.contains(&many.throughput_per_second), "{rates:?} {many:?}");
        assert!(responses.contains(&many.response.unwrap().mean_seconds), "{responses:?} {many:?}");
    });
}
