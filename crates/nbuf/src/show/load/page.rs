//! A load as a page: response against users, and the table.

use nbuf::experiment::result::{LoadDocument, LoadStep, LoadTimes};

use super::super::chart::{Chart, Line, Look, Mark};
use super::super::page::{Answer, Mood, Page, Part};
use super::super::scale::Axis;
use super::{answer, notes, sheet};

/// What the words of the page mean.
const WORDS: [(&str, &str); 5] = [
    ("response", "from the intended beginning of an interaction to its answer"),
    ("service", "from the actual beginning of an interaction to its answer"),
    ("CPU each", "processor time of a command and its descendants"),
    ("N*", "the number of users from which queues cannot be avoided"),
    ("waits elsewhere", "no processor and no disc is busy, and yet the response rose"),
];

/// The whole page.
pub(crate) fn page(document: &LoadDocument) -> String {
    let measured: Vec<&LoadStep> =
        document.steps.iter().filter(|step| step.response.is_some()).collect();
    let part = if measured.len() > 1 {
        vec![Part::Chart(chart(document, &measured))]
    } else {
        Part::table(sheet(document)).into_iter().collect()
    };
    let sections = vec![
        ("Response against users".to_owned(), part),
        ("How it was measured".to_owned(), Part::notes(notes(document)).collect()),
    ];
    let mood = if document.is_complete { Mood::Good } else { Mood::Open };
    Page {
        verb: "load",
        title: "nbuf load".to_owned(),
        heading: "Response against users".to_owned(),
        answers: vec![Answer::new(mood, answer(document) + ".")],
        tiles: Vec::new(),
        lead: Vec::new(),
        sections,
        words: &WORDS,
    }
    .html()
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
    let knee = document.knee.filter(|knee| document.thinks && chart.x.has(knee.users));
    chart.marks = knee
        .map(|knee| Mark { x: knee.users, label: "N*".to_owned(), is_chosen: true })
        .into_iter()
        .collect();
    chart.at = measured.iter().map(|step| f64::from(step.users)).collect();
    chart.table = sheet(document);
    chart
}
