//! `nbuf fleet`: hosts, policies with their regret, and whether a split lasts, against naive counts.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;

use nbuf::experiment::result::{CurveDocument, FleetDocument, FleetVolume};
use support::Place;

/// Microseconds between two requests.
const STEP_US: u64 = 1000;
const REQUESTS: u64 = 6000;

/// Runs the program; its status, standard output and standard error.
fn run(place: &Place, arguments: &str) -> (i32, String, String) {
    let Output { status, stdout, stderr } =
        place.nbuf(arguments.split_whitespace()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn document(text: &str) -> FleetDocument {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The document of a fleet of which every task is done.
fn fleet(place: &Place, arguments: &str) -> FleetDocument {
    let (status, said, wrong) = run(place, &format!("-q fleet {arguments} --json"));
    assert_eq!((status, &*wrong), (0, ""), "{arguments}: {said}");
    let document = document(&said);
    assert_eq!((document.tasks_missing, document.failures.len()), (0, 0));
    document
}

/// A request: volume, page, microseconds.
type Asked = (usize, u64, u64);

/// Requests to three volumes, which change what they use in the middle.
fn requests() -> Vec<Asked> {
    let mut state = 1_u64;
    let request = |at: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let volume = usize::try_from(at * 7 % 11 % 3).unwrap();
        let is_late = u64::from(at >= REQUESTS / 2);
        let pages = [40, 200, 90][(volume + usize::try_from(is_late).unwrap()) % 3];
        (volume, (state >> 33) % pages + is_late * 20, 5_000_000 + at * STEP_US)
    };
    (0..REQUESTS).map(request).collect()
}

fn csv<'a>(requests: impl IntoIterator<Item = &'a Asked>) -> String {
    let line = |(volume, page, us): &Asked| format!("{volume},R,{},4096,{us}\n", page * 4096);
    requests.into_iter().map(line).collect()
}

fn write(place: &Place, path: &str, text: String) {
    let path = place.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Misses of an LRU cache, by a list, of the accesses that count.
fn naive(pages: &[(u64, bool)], size: usize) -> u64 {
    let (mut stack, mut misses) = (Vec::new(), 0);
    for &(page, counts) in pages {
        let depth = stack.iter().position(|other| *other == page);
        misses += u64::from(counts && depth.is_none_or(|depth| depth >= size));
        depth.map(|depth| stack.remove(depth));
        stack.insert(0, page);
    }
    misses
}

fn named<'a>(document: &'a FleetDocument, name: &str) -> &'a FleetVolume {
    let named = document.volumes.iter().find(|volume| volume.name == name);
    named.unwrap_or_else(|| panic!("no {name}: {document:?}"))
}

#[test]
fn a_host_is_one_cache_of_its_inputs_merged_by_time() {
    let place = Place::new();
    let all = requests();
    // Host a has volumes 0 and 1, in files that overlap; host b has volume 2, on two days.
    for volume in [0, 1] {
        let own = csv(all.iter().filter(|request| request.0 == volume));
        write(&place, &format!("t/host=rack%20a/volume={volume}/part-0.csv"), own);
    }
    let last: Vec<Asked> = all.iter().filter(|request| request.0 == 2).copied().collect();
    let (one, two) = last.split_at(500);
    write(&place, "t/date=1/host=b/x.csv", csv(one));
    write(&place, "t/date=2/host=b/x.csv", csv(two));
    let want = fleet(&place, "t --by host --out whole --from alibaba");
    assert_eq!((want.volumes.len(), want.tasks), (2, 2));
    assert_eq!(want.warnings, [], "what is merged by time does not overlap");

    let key = |(volume, page, _): &Asked| (*volume as u64 * 1_000_000 + page, true);
    let shared: Vec<_> = all.iter().filter(|request| request.0 < 2).map(key).collect();
    let alone: Vec<_> = last.iter().map(key).collect();
    for (name, pages) in [("rack a", shared), ("b", alone)] {
        let volume = named(&want, name);
        assert_eq!(volume.accesses, pages.len() as u64);
        for point in &volume.points {
            let misses = naive(&pages, usize::try_from(point.pages).unwrap());
            assert_eq!(point.misses, misses, "{name} at {}", point.pages);
        }
    }
    for (at, split) in ["time:3", "auto"].into_iter().enumerate() {
        let asked = format!("t --by host --out s{at} --from alibaba --split {split} --workers 2");
        assert_eq!(fleet(&place, &asked).checksum, want.checksum, "{split}");
    }
    let hashed = fleet(&place, "t --by host --out hash --from alibaba --split hash:4");
    assert_eq!(named(&hashed, "b").accesses, named(&want, "b").accesses);

    write(&place, "t/stray.csv", csv(one));
    let (status, _, said) = run(&place, "fleet t --by host --out x --from alibaba");
    assert_eq!(status, 125, "{said}");
    assert!(said.contains("no host is known of t/stray.csv: --by host needs a folder"), "{said}");
    for name in ["1", "2"] {
        fs::create_dir_all(place.path("n/host=a")).unwrap();
        let made = format!("-q trace generate zipf -n 500 --keys 50 -o n/host=a/{name}.bin");
        assert_eq!(run(&place, &made).0, 0);
    }
    let (status, said, _) = run(&place, "-q fleet n --by host --out n-out --json");
    assert_eq!(status, 1, "{said}");
    assert!(document(&said).failures[0].error.contains("have no times"), "{said}");
}

#[test]
fn a_shared_cache_is_compared_with_partitions_of_it() {
    let place = Place::new();
    let all = requests();
    for (volume, host) in ["a", "a", "b"].into_iter().enumerate() {
        let own = csv(all.iter().filter(|request| request.0 == volume));
        write(&place, &format!("t/host={host}/volume={volume}/part-0.csv"), own);
    }
    let asked = "t --by host --from alibaba --budget 600KiB";
    let plain = fleet(&place, &format!("{asked} --out plain"));
    assert_eq!(plain.sharing, None);
    let got = fleet(&place, &format!("{asked} --out one --partitions directory"));
    assert_eq!((&got.checksum, &got.volumes), (&plain.checksum, &plain.volumes));
    assert_eq!(got.tasks, 5);
    let sharing = got.sharing.clone().unwrap();
    // Host b has one volume.
    let [host] = &sharing.hosts[..] else { panic!("{sharing:?}") };
    assert_eq!((&*host.host, host.partitions.len()), ("a", 2));
    assert_eq!(host.pages, named(&got, "a").share.unwrap().pages);
    let pages = |own: &dyn Fn(usize) -> bool| -> Vec<(u64, bool)> {
        let own = all.iter().filter(|request| own(request.0));
        own.map(|(volume, page, _)| (*volume as u64 * 1_000_000 + page, true)).collect()
    };
    let size = usize::try_from(host.pages).unwrap();
    assert_eq!(host.shared_misses, naive(&pages(&|volume| volume < 2), size));
    let own = [pages(&|volume| volume == 0), pages(&|volume| volume == 1)];
    let both = |first: usize, second: usize| naive(&own[0], first) + naive(&own[1], second);
    assert_eq!(host.equal_misses, both(size / 2, size / 2));
    for partition in &host.partitions {
        let volume = usize::from(partition.volume.contains("volume=1"));
        let misses = naive(&own[volume], usize::try_from(partition.pages).unwrap());
        assert_eq!(partition.misses, misses, "{partition:?}");
    }
    let fewest = (0..=size).step_by(10).map(|first| both(first, size - first)).min().unwrap();
    assert!(host.partitioned_misses <= fewest, "{host:?} {fewest}");
    assert!(host.bound_misses.unwrap() <= host.partitioned_misses as f64 + 0.5, "{host:?}");
    for (at, other) in ["directory --split time:3", "file"].into_iter().enumerate() {
        let other = fleet(&place, &format!("{asked} --out s{at} --partitions {other}"));
        let again = &other.sharing.unwrap().hosts[0];
        assert_eq!(again.shared_misses, host.shared_misses);
        assert_eq!(again.partitioned_misses, host.partitioned_misses);
    }
    let (_, table, _) = run(&place, "-q fleet reduce --out one --budget 600KiB");
    assert!(table.contains("Hits shared and partitioned by directory"), "{table}");
    let (status, _, said) = run(&place, "fleet t --out x --from alibaba --partitions file");
    assert!(status == 2 && said.contains("plan by host"), "{status} {said}");
}

#[test]
fn a_host_with_a_volume_that_is_not_done_is_not_compared() {
    let place = Place::new();
    let all = requests();
    for volume in 0..3 {
        let own = csv(all.iter().filter(|request| request.0 == volume));
        write(&place, &format!("t/host=a/volume={volume}/part-0.csv"), own);
    }
    let asked = "t --by host --from alibaba --partitions directory";
    assert_eq!(run(&place, &format!("-q fleet plan {asked} --out out")).0, 0);
    // The host is the largest task, and so the first.
    assert_eq!(run(&place, "-q fleet work --tasks out/tasks.jsonl --rows 1..3").0, 0);
    let (status, said, _) = run(&place, "-q fleet reduce --out out --json");
    let part = document(&said);
    assert_eq!((status, part.tasks_missing, part.volumes.len(), part.sharing), (1, 1, 1, None));
    assert!(fleet(&place, &format!("{asked} --out out")).sharing.is_some());
}

/// Misses of policies by volume, as `nbuf curve` counts them.
fn by_curve(place: &Place, trace: &str, size: &str) -> BTreeMap<String, (u64, u64)> {
    let asked = format!("-q curve --policy lru,sieve,fifo --json --size {size} {trace}");
    let curve: CurveDocument = serde_json::from_str(&run(place, &asked).1).unwrap();
    let point = |at: usize| &curve.curves[at].points[0];
    let of = |at: usize| (point(at).pages, point(at).misses);
    (0..curve.curves.len()).map(|at| (curve.curves[at].policy.clone(), of(at))).collect()
}

#[test]
fn policies_are_those_of_curve_wherever_the_work_is_done() {
    let place = Place::new();
    fs::create_dir(place.path("v")).unwrap();
    for (at, what) in
        ["zipf -n 20000 --keys 3000", "loop -n 9000 --keys 900", "scan -n 3000 --keys 3000"]
            .into_iter()
            .enumerate()
    {
        assert_eq!(run(&place, &format!("-q trace generate {what} -o v/{at}.bin")).0, 0);
    }
    let plain = fleet(&place, "v --out plain");
    assert_eq!((plain.policies, plain.last), (None, None));
    for size in ["10%", "200p", "1MiB"] {
        let out = size.replace('%', "");
        let asked = format!("--policies lru,sieve,fifo --policy-size {size}");
        let got = fleet(&place, &format!("v --out one{out} --workers 1 {asked}"));
        assert_eq!((&got.checksum, got.tasks), (&plain.checksum, 6));
        let all = got.policies.clone().unwrap();
        let (mut best, mut misses) = (0, BTreeMap::<String, u64>::new());
        for volume in &got.volumes {
            // A key counts as a page of 4 KiB.
            let size = if size == "1MiB" { "256p" } else { size };
            let want = by_curve(&place, &volume.name, size);
            assert_eq!(volume.policies.len(), 3);
            for of in &volume.policies {
                assert_eq!((of.pages, of.misses), want[&of.policy], "{} {of:?}", volume.name);
                *misses.entry(of.policy.clone()).or_default() += of.misses;
            }
            best += want.values().map(|of| of.1).min().unwrap();
        }
        assert_eq!((all.volumes, all.best_misses, all.accesses), (3, best, got.whole.accesses));
        for policy in &all.policies {
            assert_eq!(policy.misses, misses[&policy.policy]);
            assert_eq!(policy.regret_misses, policy.misses - best);
        }
        let split = fleet(&place, &format!("v --out two{out} --workers 2 --split time:3 {asked}"));
        assert_eq!((split.checksum, split.policies), (got.checksum, got.policies));
    }
    // A part of the rows answers in part, and any order of the rest the same.
    assert_eq!(
        run(&place, "-q fleet plan v --out rows --policies lru,fifo --policy-size 200p").0,
        0
    );
    assert_eq!(run(&place, "-q fleet work --tasks rows/tasks.jsonl --rows 3..6").0, 0);
    let (status, said, _) = run(&place, "-q fleet reduce --out rows --json");
    assert_eq!((status, document(&said).tasks_missing), (1, 2));
    assert_eq!(run(&place, "-q fleet work --tasks rows/tasks.jsonl --rows 2..2").0, 0);
    assert_eq!(run(&place, "-q fleet work --tasks rows/tasks.jsonl --rows 1..1").0, 0);
    let rows = fleet(&place, "reduce --out rows");
    let one = fleet(&place, "v --out again --policies lru,fifo --policy-size 200p --workers 2");
    assert_eq!((rows.checksum, &rows.policies), (one.checksum, &one.policies));
    let (_, table, _) = run(&place, "-q fleet reduce --out rows");
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("One policy for 3 volumes, with 200 pages each"), "{table}");
    assert!(flat.contains("best policy") && flat.contains("all equal"), "{table}");
}

#[test]
fn policies_take_all_inputs_of_a_volume() {
    let place = Place::new();
    let all = requests();
    for (at, part) in all.chunks(2000).enumerate() {
        write(&place, &format!("hours/{at}.csv"), csv(part));
    }
    for volume in 0..3 {
        let own = csv(all.iter().filter(|request| request.0 == volume));
        write(&place, &format!("own/{volume}.csv"), own);
    }
    let asked = "--from alibaba --policies lru,sieve --policy-size 30p";
    let hours = fleet(&place, &format!("hours --by volume --out a {asked}"));
    let own = fleet(&place, &format!("own/0.csv own/1.csv own/2.csv --out b {asked}"));
    assert_eq!(hours.tasks, 4, "one task has all hours");
    for volume in &own.volumes {
        let name = volume.name.trim_start_matches("own/").trim_end_matches(".csv");
        assert_eq!(named(&hours, name).policies, volume.policies);
    }
}

#[test]
fn a_split_of_before_is_judged_by_what_comes_after() {
    let place = Place::new();
    let all = requests();
    for (at, part) in all.chunks(2500).enumerate() {
        write(&place, &format!("hours/{at}.csv"), csv(part));
    }
    let plain = fleet(&place, "hours --by volume --out plain --from alibaba");
    // 3,000 requests come before 3 s.
    let asked = "hours --by volume --from alibaba --until 3s --budget 600KiB";
    let got = fleet(&place, &format!("{asked} --out one"));
    assert_eq!(got.checksum, plain.checksum, "the curves of all are the same");
    let last = got.last.clone().unwrap();
    assert_eq!((last.accesses_before, last.accesses, last.volumes), (3000, 3000, 3));
    assert_eq!((last.until_us, last.budget_pages), (8_000_000, 150));
    let pages = |volume: usize| -> Vec<(u64, bool)> {
        let own = all.iter().filter(|request| request.0 == volume);
        own.map(|&(_, page, us)| (page, us >= 8_000_000)).collect()
    };
    let misses = |size: usize| (0..3).map(|volume| naive(&pages(volume), size)).sum::<u64>();
    let rules: BTreeMap<&str, u64> =
        last.rules.iter().map(|rule| (&*rule.rule, rule.misses)).collect();
    assert_eq!(rules["equal"], misses(50));
    assert!(rules["best"] <= rules["before"] && rules["best"] <= rules["equal"], "{last:?}");
    assert!(rules["before"] > rules["best"] && last.moved_pages > 0, "{last:?}");
    // All splits of 15 units of ten pages: none is better than the best one.
    let curves: Vec<Vec<u64>> =
        (0..3).map(|at| (0..=15).map(|units| naive(&pages(at), units * 10)).collect()).collect();
    let splits = (0..=15_usize).flat_map(|a| (0..=15 - a).map(move |b| (a, b, 15 - a - b)));
    let fewest = splits.map(|(a, b, c)| curves[0][a] + curves[1][b] + curves[2][c]).min().unwrap();
    assert!(rules["best"] <= fewest, "{rules:?} {fewest}");

    for (at, split) in ["time:4", "none"].into_iter().enumerate() {
        let other = fleet(&place, &format!("{asked} --out s{at} --split {split} --workers 2"));
        assert_eq!((other.checksum, other.last), (got.checksum.clone(), Some(last.clone())));
    }
    for volume in 0..3 {
        let own = csv(all.iter().filter(|request| request.0 == volume));
        write(&place, &format!("own/{volume}.csv"), own);
    }
    let own = "own --from alibaba --until 3s --budget 600KiB --out own-out";
    assert_eq!(fleet(&place, own).last.unwrap().rules, last.rules);

    let late =
        fleet(&place, "hours --by volume --out late --from alibaba --until 2h --budget 1MiB");
    let warnings: Vec<String> = late.warnings.iter().map(ToString::to_string).collect();
    assert!(late.last.is_none() && warnings.join(" ").contains("compares nothing"));
    let (status, _, said) = run(&place, "fleet hours --out x --until 3s");
    assert!(status == 2 && said.contains("give what to split with --budget"), "{said}");
    let table = run(&place, "-q fleet reduce --out one --budget 600KiB").1;
    assert!(
        table.contains("600 KiB split, after --until") && table.contains("best before"),
        "{table}"
    );
}

#[test]
fn a_plan_of_another_shape_is_refused_in_one_line() {
    let place = Place::new();
    assert_eq!(run(&place, "-q trace generate zipf -n 500 --keys 50 -o a.bin").0, 0);
    assert_eq!(run(&place, "-q fleet plan a.bin --out out").0, 0);
    let plan = place.path("out/tasks.jsonl");
    let old = fs::read_to_string(&plan).unwrap().replace("fleet-tasks/2", "fleet-tasks/1");
    fs::write(&plan, old).unwrap();
    for step in ["work --tasks out/tasks.jsonl", "reduce --out out"] {
        let (status, _, said) = run(&place, &format!("fleet {step}"));
        assert_eq!((status, said.lines().count()), (125, 1), "{said}");
        assert!(
            said.contains("out/tasks.jsonl is a plan of another nbuf (nbuf.fleet-tasks/1"),
            "{said}"
        );
    }
    assert_eq!(run(&place, "-q fleet plan a.bin --out out").0, 0, "its folder can be used again");
}

/// What gzip makes of nothing.
const NOTHING_PACKED: [u8; 20] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn what_is_empty_or_small_leaves_the_rest_as_it_is() {
    let place = Place::new();
    let all = requests();
    // Lines are longer than a plan takes them for, so that the last pieces of an input are empty.
    let line = |&(volume, page, us): &Asked| format!("{volume},R,{:024},4096,{us}\n", page * 4096);
    let (one, two) = all.split_at(all.len() / 2);
    write(&place, "h/host=a/0.csv", one.iter().map(line).collect());
    write(&place, "h/host=a/1.csv", two.iter().map(line).collect());
    let want = fleet(&place, "h --by host --out want --from alibaba");
    write(&place, "h/host=a/2.csv", String::new());
    fs::write(place.path("h/host=a/3.csv.gz"), NOTHING_PACKED).unwrap();
    for (at, split) in ["none", "time:4", "auto"].into_iter().enumerate() {
        let asked = format!("h --by host --out s{at} --from alibaba --split {split}");
        let got = fleet(&place, &asked);
        assert_eq!((got.failures.len(), got.checksum), (0, want.checksum.clone()), "{split}");
    }
    let asked = "h --by volume --out volumes --from alibaba --policies lru,sieve,opt";
    let policies = fleet(&place, asked).policies.unwrap();
    assert_eq!(policies.volumes, 3);
    for policy in &policies.policies {
        // The optimum is a bound: it wins nothing, and others are not measured by it.
        let is_bound = policy.policy == "opt";
        assert_eq!(is_bound, policy.wins == 0 && policy.regret_misses == 0, "{policy:?}");
    }
    // A tenth of three pages is a page.
    fs::create_dir(place.path("small")).unwrap();
    let made = "-q trace generate loop -n 50 --keys 3 -o small/three.bin";
    assert_eq!(run(&place, made).0, 0);
    let small = fleet(&place, "small --out small-out --policies lru,fifo");
    let pages: Vec<u64> = small.volumes[0].policies.iter().map(|of| of.pages).collect();
    assert_eq!((small.failures.len(), pages), (0, vec![1, 1]));
}
