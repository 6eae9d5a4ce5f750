//! A load as a page: response against users, and the table.

use nbuf::experiment::result::{LoadDocument, LoadHistory, LoadStep, LoadTimes};

use super::super::chart::{Chart, Line, Look, Mark};
use super::super::page::{Answer, Mood, Page, Part, sentence};
use super::super::scale::Axis;
use super::{answers, causes, charts, classes, conditions, costs, history, limits, notes, sheet};

/// What the words of the page mean.
const WORDS: &str = "\
place: the wait until the system table admits a user, which is part of the response
table bound: users wait for a place in the system table, and not for anything behind it
true idle: the share of processors that were idle while no task waited for a disc
disc idle: the share of processors that were idle while tasks waited for a disc
CPU wait: a command could run, and waited for a processor
lock: a command waited for another thread or program: a lock, a pipe or a socket
between faults: processor time of commands from one page fault with I/O to the next
core bound: memory is too small: pages are read again that reclaim took
lock bound: commands wait for locks, pipes or sockets
in balance: processors and a disc are busy alike
major faults: page faults of a command that needed a disc
fills: pages that a command read from discs, by call or by fault
page-seconds: pages of 4 KiB that all commands held, over time, for each command
response: from the intended beginning of an interaction to its answer
service: from the actual beginning of an interaction to its answer
CPU each: processor time of a command and its descendants
alone: N* if all users were of this class
user-hour: the price of a user of the class for an hour
N*: the number of users from which queues cannot be avoided
waits elsewhere: no processor and no disc is busy, and yet the response rose";

/// The whole page.
pub(crate) fn page(document: &LoadDocument, runs: &[LoadHistory]) -> String {
    let mood = if document.is_complete { Mood::Good } else { Mood::Open };
    let answers = answers(document).into_iter().map(|line| Answer::new(mood, line + "."));
    let classes = [classes::sheet(document), costs::sheet(document)];
    let lines = Some(causes::lines(document)).filter(|lines| !lines.is_empty());
    let why = Part::table(causes::sheet(document));
    Page::new("load", "Response against users", WORDS)
        .title("nbuf load")
        .answers(answers)
        .sections([measured(document)])
        .section("Classes", classes.into_iter().filter_map(Part::table))
        .section("Why response rose", why.into_iter().chain(lines.map(Part::List)))
        .section("Steps", Part::table(history::sheet(runs)))
        .section("How it was measured", Part::notes(notes(document)))
        .html()
}

/// What was measured: under limits the figures over memory, too.
fn measured(document: &LoadDocument) -> (String, Vec<Part>) {
    if !conditions(document).is_empty() {
        // Several charts follow each other: each says what it shows, and has its table.
        let said = |chart: Chart| Chart { caption: sentence(&chart.title), ..chart };
        let charts: Vec<Part> =
            charts::all(document).into_iter().map(said).map(Part::Chart).collect();
        let tables = if charts.is_empty() {
            [sheet(document)].into_iter().chain(limits::tables(document)).collect()
        } else {
            limits::steps(document).into_iter().collect::<Vec<_>>()
        };
        let parts = charts.into_iter().chain(tables.into_iter().filter_map(Part::table)).collect();
        return (format!("Users by {}", conditions(document).kind()), parts);
    }
    let chart = alone(document).map(Part::Chart);
    let parts = chart.or_else(|| Part::table(sheet(document))).into_iter().collect();
    ("Response against users".to_owned(), parts)
}

/// Response against users, where there are no conditions and two answers or more.
pub(super) fn alone(document: &LoadDocument) -> Option<Chart> {
    let answered = document.steps.iter().filter(|step| step.response.is_some());
    let steps: Vec<&LoadStep> = answered.collect();
    (steps.len() > 1 && conditions(document).is_empty()).then(|| chart(document, &steps))
}

fn chart(document: &LoadDocument, measured: &[&LoadStep]) -> Chart {
    let points = |of: fn(&LoadTimes) -> f64| -> Vec<(f64, f64)> {
        let point = |step: &&LoadStep| Some((f64::from(step.users), of(step.response.as_ref()?)));
        measured.iter().filter_map(point).collect()
    };
    let x = Axis::counts("users", measured.iter().map(|step| step.users.into()));
    let highest = measured.iter().filter_map(|step| step.response).map(|times| times.p90_seconds);
    let y = Axis::seconds("seconds", highest);
    let mut chart = Chart::new("response by users", x, y);
    chart.lines = vec![
        Line::new("mean", Look::Nth(0), points(|times| times.mean_seconds)),
        Line::new("p90", Look::Nth(1), points(|times| times.p90_seconds)),
    ];
    let knee = document.knee.as_ref().filter(|knee| document.thinks && chart.x.has(knee.users));
    let mark = knee.map(|knee| Mark { x: knee.users, label: "N*".to_owned(), is_chosen: true });
    chart.marks = mark.into_iter().collect();
    chart.at = document.steps.iter().map(|step| f64::from(step.users)).collect();
    chart.table = sheet(document);
    chart
}
