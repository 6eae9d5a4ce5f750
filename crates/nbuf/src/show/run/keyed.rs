//! The meters of the processes, threads or files that took the most time.

use nbuf::experiment::result::{RunBy, RunMetersBy, RunMetersOf, RunSampleMeter};
use nbuf::units::{Nanos, grouped};

use super::super::table::{Table, number, text};
use super::super::text::{count, wrap};

/// What has rows, and the rows of each.
const SHOWN: usize = 10;
const ROWS: usize = 5;

/// One table of at most `width` columns.
pub(crate) fn keyed(of: &RunMetersBy, width: usize) -> String {
    let title = match of.by {
        RunBy::Process => "Process",
        RunBy::Thread => "Thread",
        RunBy::File => "File",
    };
    let columns = [text(title), number("count"), number("total"), number("mean").rank(1)];
    let mut rows = Vec::new();
    for one in of.each.iter().take(SHOWN) {
        let total = Nanos::from_seconds(one.total_seconds).to_string();
        rows.push([name(one), String::new(), total, String::new()]);
        let mut meters: Vec<&RunSampleMeter> =
            one.meters.iter().filter(|meter| meter.step_of.is_none()).collect();
        meters.sort_by(|a, b| b.total_seconds.total_cmp(&a.total_seconds));
        rows.extend(meters.into_iter().take(ROWS).map(|meter| {
            let mean = meter.total_seconds / meter.count.max(1) as f64;
            let time = |seconds| Nanos::from_seconds(seconds).to_string();
            let name = format!("- {}", meter.name);
            [name, grouped(meter.count), time(meter.total_seconds), time(mean)]
        }));
    }
    let mut out = Table::new(title, columns).with(rows).draw(width);
    let mut words = "A total is of system calls, page faults and interrupts.".to_owned();
    let rest = of.each.get(SHOWN..).unwrap_or_default();
    if !rest.is_empty() {
        let seconds: f64 = rest.iter().map(|one| one.total_seconds).sum();
        let (others, time) =
            (count(rest.len() as u64, "other", "others"), Nanos::from_seconds(seconds));
        words = format!("{others} took {time} together; --json has all. {words}");
    }
    if !of.others.is_empty() {
        words.push_str(" More than a thousand are one sum in --json.");
    }
    wrap(&mut out, &words, width);
    out
}

fn name(of: &RunMetersOf) -> String {
    match (&of.name, &of.device, of.number) {
        (Some(path), Some(_), _) => path.clone(),
        (None, Some(device), Some(inode)) => format!("inode {inode} on {device}"),
        (Some(name), None, Some(number)) => format!("{name} ({number})"),
        (None, None, Some(number)) => number.to_string(),
        _ => "no file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::show::tests::fit;

    #[test]
    fn each_has_its_largest_meters() {
        let meter = |name: &str, step_of: Option<&str>, total_seconds| RunSampleMeter {
            name: name.to_owned(),
            step_of: step_of.map(str::to_owned),
            count: 4,
            total_seconds,
            ..RunSampleMeter::default()
        };
        let one = |name: Option<&str>, device: Option<&str>, number| RunMetersOf {
            name: name.map(str::to_owned),
            device: device.map(str::to_owned),
            number,
            total_seconds: 0.003,
            meters: vec![
                meter("minor fault", None, 0.001),
                meter("device", Some("major fault"), 0.009),
                meter("read", None, 0.002),
            ],
        };
        let each = vec![
            one(Some("/srv/a"), Some("8:1"), Some(7)),
            one(None, Some("8:1"), Some(9)),
            one(None, None, None),
        ];
        let of = RunMetersBy { by: RunBy::File, each, others: Vec::new() };
        expect![[r#"
              File            count    total    mean
              /srv/a                 3.00 ms
              - read              4  2.00 ms  500 us
              - minor fault       4  1.00 ms  250 us
              inode 9 on 8:1         3.00 ms
              - read              4  2.00 ms  500 us
              - minor fault       4  1.00 ms  250 us
              no file                3.00 ms
              - read              4  2.00 ms  500 us
              - minor fault       4  1.00 ms  250 us
              A total is of system calls, page faults and interrupts.
        "#]]
        .assert_eq(&keyed(&of, 80).replace("\n  ", "\n").replacen("  ", "", 1));
        assert_eq!(name(&one(Some("cat"), None, Some(7))), "cat (7)");
        fit([40, 60, 120], |width| keyed(&of, width));
    }
}
