//! Response against users, for people.

mod causes;
mod charts;
mod classes;
mod conditions;
mod costs;
mod history;
mod limits;
mod page;

use nbuf::experiment::result::{
    LoadBottleneck, LoadCarried, LoadCurve, LoadDocument, LoadHistory, LoadKnee, LoadLabel,
    LoadStep, LoadTimes,
};

use nbuf::units::count;

use super::run::seconds;
use super::table::{Table, number, text};
use super::text::{clean, rate, wrap_each};
pub(crate) use charts::pictures;
use conditions::conditions;
pub(crate) use page::page;

fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!("{:.0} %", share * 100.0))
}

fn label(label: LoadLabel) -> &'static str {
    match label {
        LoadLabel::NoQueue => "no queue",
        LoadLabel::CpuBound => "CPU bound",
        LoadLabel::DiscBound => "disc bound",
        LoadLabel::InBalance => "in balance",
        LoadLabel::WaitsElsewhere => "waits elsewhere",
        LoadLabel::CoreBound => "core bound",
        LoadLabel::LockBound => "lock bound",
        LoadLabel::TableBound => "table bound",
        LoadLabel::NoAnswer => "no answer",
    }
}

fn sheet(document: &LoadDocument) -> Table {
    let first = conditions(document);
    let has_table = document.steps.iter().any(|step| step.table.is_some());
    let given = |value: Option<f64>| value.map_or_else(String::new, seconds);
    let time = |step: &LoadStep, of: fn(&LoadTimes) -> f64| given(step.response.as_ref().map(of));
    Table::of("Response against users", &document.steps)
        .columns(first.columns(), |step| first.cells(step))
        .column(number("users"), |step| step.users.to_string())
        .column(number("per second"), |step| rate(step.throughput_per_second))
        .column(number("response"), |step| time(step, |times| times.mean_seconds))
        .column(number("p50").rank(1), |step| time(step, |times| times.p50_seconds))
        .column(number("p90").rank(1), |step| time(step, |times| times.p90_seconds))
        .column(number("p99"), |step| time(step, |times| times.p99_seconds))
        .column(number("service").rank(2), |step| given(step.service.map(|it| it.mean_seconds)))
        .column_if(has_table, number("place"), |step| given(step.place_seconds))
        .column(number("CPU each").rank(1), |step| given(step.cpu_seconds_per_interaction))
        .column(number("CPU busy"), |step| percent(step.processors_busy))
        .column(number("disc busy").rank(1), |step| percent(step.disc_busy))
        .column(text("bound"), |step| answered(step, label(step.label)))
        .done()
}

/// How lines name a step.
fn name(document: &LoadDocument, step: &LoadStep) -> String {
    let plural = if step.users == 1 { "" } else { "s" };
    let users = format!("{} user{plural}", step.users);
    let condition = conditions(document).name(&conditions::of_step(step));
    if condition.is_empty() { users } else { format!("{users}, {condition}") }
}

fn answered(step: &LoadStep, label: &'static str) -> &'static str {
    if step.interactions == 0 { "no answer" } else { label }
}

/// The answer: the knee, or the last step.
fn answer(document: &LoadDocument) -> String {
    let Some(last) = document.steps.last() else { return "nothing was measured".to_owned() };
    match &document.knee {
        Some(knee) if document.thinks => knee_line(knee, last.users),
        _ if last.interactions == 0 => {
            format!("{}: no interaction was answered", count(last.users.into(), "user", "users"))
        }
        _ => format!(
            "{}: {} interactions a second",
            count(last.users.into(), "user", "users"),
            rate(last.throughput_per_second)
        ),
    }
}

/// The answer, for each condition if there are several, and what limits give.
fn answers(document: &LoadDocument) -> Vec<String> {
    let most = document.steps.iter().map(|step| step.users).max().unwrap_or(0);
    let names = conditions(document);
    let line = |curve: &LoadCurve| {
        Some(format!("{}: {}", names.name(curve), knee_line(curve.knee.as_ref()?, most)))
    };
    let are_several = document.curves.len() > 1 && document.thinks;
    let curves = document.curves.iter().filter(|_| are_several);
    let mut lines: Vec<String> = curves.filter_map(line).collect();
    if lines.is_empty() {
        lines.push(answer(document));
    }
    lines.extend(limits::cheapest(document));
    lines.extend(limits::working_set(document));
    lines
}

fn knee_line(knee: &LoadKnee, most: u32) -> String {
    let bottleneck = match knee.bottleneck {
        LoadBottleneck::Processors => "of the processors",
        LoadBottleneck::Disc => "of the disc",
        LoadBottleneck::Elsewhere => "by the highest throughput",
        LoadBottleneck::Table => "of a place in the system table",
    };
    let beyond = if knee.users > f64::from(most) { ", more than were tried" } else { "" };
    let class = |one: &LoadCarried| format!("{} {}", clean(&one.name), one.users);
    let classes = match &knee.classes[..] {
        [] | [_] => String::new(),
        all => format!("; by class: {}", all.iter().map(class).collect::<Vec<_>>().join(", ")),
    };
    let times = [knee.think_seconds, knee.demands_seconds, knee.demand_max_seconds];
    let [think, demands, largest] = times.map(seconds);
    format!(
        "Queues begin at N* = {:.1} users{beyond}: (think time {think} + demands {demands}) / largest demand {largest} \
         {bottleneck}{classes}",
        knee.users
    )
}

/// What the figures are, and what spoils them.
fn notes(document: &LoadDocument) -> Vec<String> {
    let mut notes = vec![format!(
        "response: from the intended beginning to the answer, with mean and percentiles; service: from the \
         actual beginning; busy: of the whole machine; seed {}",
        document.seed
    )];
    notes.extend(document.notes.iter().map(ToString::to_string));
    if !document.is_complete {
        notes.push("interrupted: not all steps were made to their end".to_owned());
    }
    notes
}

/// The whole report.
pub(crate) fn table(
    document: &LoadDocument,
    runs: &[LoadHistory],
    width: usize,
    colour: bool,
) -> String {
    let mut out = String::new();
    out += &sheet(document).draw(width);
    let more = [classes::sheet(document), costs::sheet(document), causes::sheet(document)];
    let more = more.into_iter().filter(|table| !table.is_empty());
    for table in more.chain(limits::tables(document)) {
        let parts = ["\n", table.caption(), ":\n", &table.draw(width)];
        out.extend(parts);
    }
    let plots = charts::plots(document, width, colour);
    out += if out.contains("\n\n") || !plots.is_empty() { "\n" } else { "" };
    out += &plots;
    wrap_each(&mut out, answers(document).into_iter().chain(causes::lines(document)), width);
    wrap_each(&mut out, notes(document), width);
    let history = history::sheet(runs);
    if !history.is_empty() {
        let parts = ["\n", history.caption(), ":\n", &history.draw(width)];
        out.extend(parts);
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use nbuf::experiment::result::{LoadClass, LoadLimit, LoadPrice, LoadUse};
    use nbuf::units::Bytes;

    use super::*;
    use crate::show::tests::fit;

    pub(crate) fn document() -> LoadDocument {
        let times = |mean: f64| LoadTimes {
            mean_seconds: mean,
            p50_seconds: mean / 2.0,
            p90_seconds: 2.0 * mean,
            p99_seconds: 4.0 * mean,
            max_seconds: 5.0 * mean,
        };
        let step = |users: u32, response: f64, label| LoadStep {
            users,
            interactions: 100,
            throughput_per_second: f64::from(users) * 0.9,
            response: Some(times(response)),
            service: Some(times(response / 1.1)),
            cpu_seconds_per_interaction: Some(0.012),
            processors_busy: Some(0.1 * f64::from(users)),
            disc_busy: Some(0.01),
            label,
            ..LoadStep::default()
        };
        LoadDocument {
            seed: 7,
            thinks: true,
            steps: vec![step(1, 0.1, LoadLabel::NoQueue), step(8, 0.4, LoadLabel::WaitsElsewhere)],
            knee: Some(LoadKnee {
                users: 5.5,
                bottleneck: LoadBottleneck::Elsewhere,
                demand_max_seconds: 0.2,
                demands_seconds: 0.1,
                think_seconds: 1.0,
                classes: Vec::new(),
            }),
            ..LoadDocument::default()
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_number_of_users() {
        let shown = table(&document(), &[], 100, false);
        let rows: Vec<Vec<&str>> =
            shown.lines().take(3).map(|line| line.split_whitespace().collect()).collect();
        assert!(rows[0].starts_with(&["users", "per", "second", "response"]), "{shown}");
        assert!(rows[1].starts_with(&["1", "0.90", "100", "ms"]), "{shown}");
        assert!(rows[2].ends_with(&["waits", "elsewhere"]), "{shown}");
        assert!(shown.contains("Queues begin at N* = 5.5 users: "), "{shown}");
        // The picture is on the terminal, too, with the knee.
        assert!(shown.contains("response by users\n") && shown.contains(" N*\n"), "{shown}");
        assert!(table(&LoadDocument::default(), &[], 40, false).contains("nothing was measured"));
    }

    /// Two limits; the smaller one is the cheaper one, and has more faults.
    pub(crate) fn limited() -> LoadDocument {
        let used = |page_seconds, fills: u64| LoadUse {
            commands: 100,
            major_faults: fills,
            fills,
            fills_each: fills as f64 / 100.0,
            seconds_between_faults: Some(1.2 / fills as f64),
            seconds_between_fills: Some(1.2 / fills as f64),
            cpu_seconds_each: 0.012,
            page_seconds_each: Some(page_seconds),
            disc_operations_each: Some(fills as f64 / 1000.0),
            price_per_thousand: Some(page_seconds),
            ..LoadUse::default()
        };
        let limit = |mib: u64, used, is_cheapest| LoadLimit {
            limit_bytes: Bytes(mib << 20),
            used: Some(used),
            is_cheapest,
            ..LoadLimit::default()
        };
        let base = document();
        let limits =
            vec![limit(256, used(900.0, 10), false), limit(64, used(200.0, 900_000), true)];
        let under = |limit: &LoadLimit| {
            let steps = base.steps.clone().into_iter();
            let of = |step| LoadStep { limit_bytes: Some(limit.limit_bytes), ..step };
            steps.map(of).map(|step| LoadStep { used: limit.used, ..step }).collect()
        };
        let steps = limits.iter().flat_map(|limit| -> Vec<LoadStep> { under(limit) }).collect();
        let curve = |limit: &LoadLimit| LoadCurve {
            limit_bytes: Some(limit.limit_bytes),
            knee: base.knee.clone(),
            ..LoadCurve::default()
        };
        let curves = limits.iter().map(curve).collect();
        LoadDocument { limits, steps, curves, price: Some(LoadPrice::default()), ..base }
    }

    #[test]
    fn limits_have_their_tables_charts_and_the_cheapest() {
        fit([60, 80, 140], |width| table(&limited(), &[], width, false));
        let shown = table(&limited(), &[], 140, false);
        for text in [
            "mean response by users, a line for each memory limit",
            "running time between page faults by memory limit",
            "cost of a command by memory limit",
            "1,000 commands cost least under 64.0 MiB: 200; the least fills are under 256 MiB",
            "1,000 cost",
            "N* 256 MiB",
            "N* 64.0 MiB",
            "response, 8 users",
        ] {
            assert!(shown.contains(text), "no {text}:\n{shown}");
        }
        let drawn = page(&limited(), &[]);
        let elements = super::super::page::tests::well_formed(&drawn);
        assert_eq!(elements.iter().filter(|name| *name == "figure").count(), 3, "{elements:?}");
    }

    #[test]
    fn each_class_has_its_users_and_its_response() {
        let mut document = document();
        let class = |name: &str, users, mean_seconds| LoadClass {
            name: name.to_owned(),
            users,
            response: Some(LoadTimes { mean_seconds, ..LoadTimes::default() }),
            ..LoadClass::default()
        };
        let carried = |name: &str, users| LoadCarried { name: name.to_owned(), users };
        document.knee.as_mut().unwrap().classes = vec![carried("heavy", 2), carried("li\x1b", 3)];
        document.steps[1].classes = vec![class("heavy", 3, 0.7), class("li\x1b", 5, 0.2)];
        let shown = table(&document, &[], 100, false);
        assert!(shown.contains("by class: heavy 2, li? 3"), "{shown}");
        let rows: Vec<Vec<&str>> =
            shown.lines().map(|line| line.split_whitespace().collect()).collect();
        for row in [["8", "heavy", "3"], ["8", "li?", "5"]] {
            assert!(rows.iter().any(|words| words.starts_with(&row)), "{shown}");
        }
        assert!(shown.contains("700 ms") && shown.contains("200 ms"), "{shown}");
        assert!(page(&document, &[]).contains("Users and response of each class"));
        // One class is all users.
        document.steps[1].classes.pop();
        assert!(!table(&document, &[], 100, false).contains("of each class"));
    }

    #[test]
    fn the_response_over_memory_is_of_users_whom_all_limits_answer() {
        let mut document = limited();
        let [.., one, eight] = &mut document.steps[..] else { panic!("two limits of two steps") };
        // Under 64 MiB one user waits, and eight have no answer.
        one.response = Some(LoadTimes { mean_seconds: 0.3, ..LoadTimes::default() });
        eight.response = None;
        let shown = table(&document, &[], 140, false);
        assert!(shown.contains("least disc operations, response, 1 user"), "{shown}");
    }

    #[test]
    fn the_page_has_the_curve() {
        let run = LoadHistory {
            label: Some("larger pages".to_owned()),
            knee_users: Some(5.5),
            ..LoadHistory::default()
        };
        let runs = [LoadHistory::default(), run];
        let shown = table(&document(), &runs, 60, false);
        assert!(shown.contains("Steps:") && shown.contains("larger pages"), "{shown}");
        let drawn = page(&document(), &runs);
        assert!(drawn.contains("larger pages"), "{drawn}");
        let elements = super::super::page::tests::well_formed(&drawn);
        assert!(elements.iter().any(|name| name == "svg"), "{elements:?}");
        super::super::page::tests::well_formed(&page(&LoadDocument::default(), &[]));
    }
}
