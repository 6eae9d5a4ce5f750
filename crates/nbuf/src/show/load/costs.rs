//! What the users of each class cost, and how many of them alone the machine carries, for people.

use nbuf::experiment::result::{LoadCost, LoadCurve, LoadDocument, LoadUse};

use super::super::table::{Table, number, text};
use super::super::text::clean;
use super::limits::amount;
use super::{conditions, seconds};

/// A row for each class under each condition; empty where there is one class.
pub(super) fn sheet(document: &LoadDocument) -> Table {
    let first = conditions(document);
    let is_priced = document.price.is_some();
    let is_mixed = document.steps.iter().any(|step| step.classes.len() > 1);
    let condition = |cost: &LoadCost| {
        let LoadCost { limit_bytes, table, cpus, .. } = *cost;
        first.cells_of(&LoadCurve { limit_bytes, table, cpus, knee: None })
    };
    let major = |used: &LoadUse| amount(used.major_faults as f64 / used.commands.max(1) as f64);
    Table::of("A command on average, by class", document.costs.iter().filter(|_| is_mixed))
        .columns(first.columns(), condition)
        .column(text("class"), |cost| clean(&cost.class))
        .column(number("commands").rank(2), |cost| cost.used.commands)
        .column(number("CPU"), |cost| seconds(cost.used.cpu_seconds_each))
        .column(number("major faults").rank(2), |cost| major(&cost.used))
        .column(number("fills").rank(1), |cost| amount(cost.used.fills_each))
        .column(number("disc operations").rank(1), |cost| {
            cost.used.disc_operations_each.map(amount)
        })
        .column(number("page-seconds"), |cost| cost.used.page_seconds_each.map(amount))
        .column_if(is_priced, number("1,000 cost"), |cost| cost.used.price_per_thousand.map(amount))
        .column_if(is_priced, number("user-hour"), |cost| cost.price_per_user_hour.map(amount))
        .column(number("alone"), |cost| cost.alone.map(u64::from))
        .done()
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::{LoadClass, LoadPrice};

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
