//! What the users of each class cost, and how many of them alone the machine carries, for people.

use nbuf::experiment::result::{LoadCost, LoadCurve, LoadDocument};

use super::super::table::{Cell, Table, number, text};
use super::super::text::{clean, grouped};
use super::limits::amount;
use super::{conditions, seconds};

/// A row for each class under each condition; empty where there is one class.
pub(super) fn sheet(document: &LoadDocument) -> Table {
    let first = conditions(document);
    let is_priced = document.price.is_some();
    let columns = [
        text("class"),
        number("commands").rank(2),
        number("CPU"),
        number("major faults").rank(2),
        number("fills").rank(1),
        number("disc operations").rank(1),
        number("page-seconds"),
    ];
    let prices = [number("1,000 cost"), number("user-hour")];
    let columns = first.columns().chain(columns).chain(prices.into_iter().filter(|_| is_priced));
    let columns = columns.chain([number("alone")]);
    let row = |cost: &LoadCost| -> Vec<Cell> {
        let given = |value: Option<f64>| value.map_or_else(String::new, amount);
        let LoadCost { limit_bytes, table, cpus, .. } = *cost;
        let condition = LoadCurve { limit_bytes, table, cpus, knee: None };
        let used = &cost.used;
        let commands = used.commands.max(1) as f64;
        let cells = [
            clean(&cost.class),
            grouped(used.commands),
            seconds(used.cpu_seconds_each),
            amount(used.major_faults as f64 / commands),
            amount(used.fills_each),
            given(used.disc_operations_each),
            given(used.page_seconds_each),
        ];
        let prices = [given(used.price_per_thousand), given(cost.price_per_user_hour)];
        let alone = cost.alone.map_or_else(String::new, |users| grouped(users.into()));
        let cells = first.cells_of(&condition).into_iter().chain(cells);
        let cells = cells.chain(prices.into_iter().filter(|_| is_priced)).chain([alone]);
        cells.map(Cell::from).collect()
    };
    let is_mixed = document.steps.iter().any(|step| step.classes.len() > 1);
    let rows = document.costs.iter().filter(|_| is_mixed).map(row);
    Table::new("A command on average, by class", columns).with(rows)
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::{LoadClass, LoadPrice, LoadUse};

    use super::super::tests::limited;
    use super::*;

    #[test]
    fn each_class_has_its_cost_under_each_limit() {
        let mut document = limited();
        assert!(sheet(&document).is_empty());
        for step in &mut document.steps {
            step.classes = vec![LoadClass::default(), LoadClass::default()];
        }
        let cost = |class: &str, limit: &LoadCurve, alone| LoadCost {
            limit_bytes: limit.limit_bytes,
            class: class.to_owned(),
            used: LoadUse {
                commands: 10,
                cpu_seconds_each: 0.25,
                page_seconds_each: Some(1234.0),
                price_per_thousand: Some(0.5),
                ..LoadUse::default()
            },
            price_per_user_hour: Some(0.75),
            alone,
            ..LoadCost::default()
        };
        let curves = document.curves.clone();
        document.costs = curves
            .iter()
            .flat_map(|limit| [cost("heavy", limit, Some(8)), cost("li\x1bght", limit, None)])
            .collect();
        document.price = Some(LoadPrice::default());
        let shown = sheet(&document).draw(140);
        let rows: Vec<Vec<&str>> =
            shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(rows[0].ends_with(&["1,000", "cost", "user-hour", "alone"]), "{shown}");
        assert!(rows[1].starts_with(&["256", "MiB", "heavy", "10"]), "{shown}");
        assert!(rows[1].ends_with(&["1,234", "0.50", "0.75", "8"]), "{shown}");
        assert!(rows[4].starts_with(&["64.0", "MiB", "li?ght"]), "{shown}");
        assert!(rows[4].ends_with(&["1,234", "0.50", "0.75"]), "{shown}");
        let all = super::super::table(&document, &[], 140, false);
        assert!(all.contains("A command on average, by class:\n"), "{all}");
        assert!(super::super::page(&document, &[]).contains("A command on average, by class"));
    }
}
