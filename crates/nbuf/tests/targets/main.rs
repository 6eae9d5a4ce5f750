//! Awkward targets: each is run without nbuf, and recorded as root and as a user, by tracepoints and by
//! system calls. Output and status are the same, but where the table says otherwise; nothing is left.

#[expect(dead_code, reason = "each test file uses a part of it")]
#[path = "../support/mod.rs"]
mod support;

mod document;
mod more_rows;
mod rows;
mod stage;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rows::{Mode, Row};
use stage::Stage;
use support::{Need, requires, skip};

const NEEDS: [Need; 3] = [Need::Tracepoints, Need::Nobody, Need::Program("cc")];

/// Rows run two at a time, each on a stage of its own: most of the time they wait.
const STAGES: u32 = 2;

fn compare(rows: &[Row]) {
    let Some(_lock) = requires(&NEEDS) else { return };
    let stages: Option<Vec<Stage>> = (0..STAGES).map(Stage::new).collect();
    let Some(stages) = stages else {
        return skip("no place on a disc that others can walk to");
    };
    let mut runs = Vec::new();
    for row in rows {
        if let Some(reason) = row.needs.iter().find_map(|need| support::missing(*need)) {
            skip(&format!("{}: {reason}", row.name));
            continue;
        }
        runs.extend(row.variants.iter().map(|variant| (row, variant)));
    }
    let (next, problems) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |stage: &Stage| {
        while let Some((row, variant)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = differences(stage, row, variant);
            problems.lock().unwrap().extend(found);
        }
    };
    // Without a group of its own a stage knows its processes by a word that all have.
    let at_once = if stages.iter().all(Stage::has_group) { stages.len() } else { 1 };
    std::thread::scope(|scope| {
        let work = &work;
        stages[..at_once].iter().for_each(|stage| drop(scope.spawn(move || work(stage))));
    });
    let problems = problems.into_inner().unwrap();
    let said = problems.join("\n");
    assert!(
        problems.is_empty(),
        "{} differences in {} targets:\n{said}",
        problems.len(),
        runs.len()
    );
}

/// What is not as it should be.
fn differences(stage: &Stage, row: &Row, variant: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for user in [false, true] {
        if user && row.root_only {
            continue;
        }
        let bare = stage.bare(row, variant, user);
        problems.extend(bare.left.iter().map(|left| format!("{} bare: {left}", row.name)));
        for mode in Mode::ALL.into_iter().filter(|mode| mode.is_user() == user) {
            let mut want = bare.clone();
            for differs in row.differs.iter().filter(|differs| differs.modes.contains(&mode)) {
                want.output = differs.output.map_or(want.output, Into::into);
                want.status = differs.status.unwrap_or(want.status);
            }
            let seen = stage.recorded(row, variant, mode);
            problems.extend(seen.left.iter().map(|left| format!("{} {mode:?}: {left}", row.name)));
            if (&seen.output, seen.status) != (&want.output, want.status) {
                problems.push(format!(
                    "{} {variant} {mode:?}:\n  want {} {:?}\n  seen {} {:?}\n  {}",
                    row.name, want.status, want.output, seen.status, seen.output, seen.errors
                ));
            }
        }
    }
    problems
}

#[test]
fn processes_are_as_without_nbuf() {
    compare(&rows::processes());
}

#[test]
fn signals_are_as_without_nbuf() {
    compare(&rows::signals());
}

#[test]
fn starts_are_as_without_nbuf() {
    compare(&more_rows::starts());
}

#[test]
fn rights_are_as_without_nbuf() {
    compare(&more_rows::rights());
}

#[test]
fn calls_are_as_without_nbuf() {
    compare(&more_rows::calls());
}

#[test]
fn the_document_has_the_table() {
    let all = [
        rows::processes(),
        rows::signals(),
        more_rows::starts(),
        more_rows::rights(),
        more_rows::calls(),
    ];
    let all = all.concat();
    assert!(all.len() >= 50, "{}", all.len());
    document::check(&all);
}
