//! The words of a drafted script.

use std::fmt::Write as _;

use super::{Action, Class, Summary, Unit};

/// A script with more of them is not read by anyone.
const ACTIONS: usize = 20;

pub(super) fn script(classes: &[(Class, Summary)], unit: Unit, server: &str) -> String {
    let sum = |of: fn(&Summary) -> usize| classes.iter().map(|(_, one)| of(one)).sum::<usize>();
    let (turns, users) = (sum(|one| one.turns), sum(|one| one.users));
    let mut out =
        format!("# A draft from {turns} lines of {users} users. Read it before you run it.\n");
    if let [(_, heavy), (_, light)] = classes {
        let unit = match unit {
            Unit::Bytes => "bytes of its answer",
            Unit::Seconds => "seconds of its answer",
        };
        let (heavy, light) = (amount(heavy.cost), amount(light.cost));
        let _ = writeln!(
            out,
            "# A request of heavy users costs {heavy} {unit}, of light users {light}."
        );
    }
    for (name, summary) in classes {
        class(&mut out, *name, summary, server);
    }
    out
}

/// Three digits of a cost.
fn amount(cost: f64) -> String {
    if cost >= 100.0 { format!("{cost:.0}") } else { format!("{cost:.3}") }
}

fn class(out: &mut String, name: Class, summary: &Summary, server: &str) {
    let Summary { users, others, rate_per_second, think, actions, .. } = summary;
    let left: u64 = actions.iter().skip(ACTIONS).map(|(_, count)| count).sum();
    let name = match name {
        Class::All => "users",
        Class::Heavy => "heavy",
        Class::Light => "light",
    };
    *out += "\n";
    if *others > 0 {
        let _ =
            writeln!(out, "# {others} lines are left out: they write, failed, or have parameters.");
    }
    if left > 0 {
        let kinds = actions.len() - ACTIONS;
        let _ = writeln!(out, "# {left} lines of {kinds} rarer kinds are left out.");
    }
    if actions.is_empty() {
        let _ = writeln!(out, "# The {users} users of the class {name} do nothing else.");
        return;
    }
    let _ = writeln!(out, "[[class]]\nname = \"{name}\"\nshare = {users}");
    if let Some((mean, deviation, pauses)) = think {
        let _ = writeln!(out, "# From {pauses} pauses of up to half an hour.");
        let _ = writeln!(
            out,
            "think = {{ kind = \"lognormal\", mean_seconds = {mean:.3}, deviation_seconds = {deviation:.3} }}"
        );
    }
    if let Some(rate) = rate_per_second {
        let _ = writeln!(out, "# For open arrivals instead of `think`:");
        let _ = writeln!(out, "# arrivals = \"open\"\n# rate_per_second = {:.3}", rate.max(1e-3));
    }
    for (action, count) in actions.iter().take(ACTIONS) {
        match action {
            Action::Get(path) => {
                let address = quoted(&format!("{}{path}", server.trim_end_matches('/')));
                let _ = writeln!(out, "\n[[class.request]]\nget = {address}\nweight = {count}");
            }
            Action::Query(query) => {
                let query = quoted(query);
                let _ = writeln!(
                    out,
                    "\n[[class.command]]\nrun = [\"psql\", \"-X\", \"-q\", \"-c\", {query}]\nweight = {count}"
                );
            }
        }
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}
