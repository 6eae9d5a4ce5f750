//! A heat map: counts in rows and columns, as shades on a terminal and as a map on a page.
//!
//! A place is as strong as the cube root of its count. On a narrow terminal, columns next to each other
//! become one.

use std::fmt::Write as _;

use super::page::{Map, Spot};
use super::scale::whole;
use super::table::Table;
use super::text::{grouped, wrap};

/// Strengths that a reader can distinguish, from nothing up.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// Names down the left of a page, at the most.
const SIDES: usize = 8;

/// Counts in rows, from the top, each with its name and a count for each column.
#[derive(Clone, Debug)]
pub(super) struct Heat {
    pub(super) title: String,
    pub(super) rows: Vec<(String, Vec<u64>)>,
    /// What is at the first and the last column.
    pub(super) ends: [String; 2],
    /// The names of all columns.
    pub(super) columns: Vec<String>,
    pub(super) caption: String,
    pub(super) table: Table,
}

impl Heat {
    /// Lines of at most `width` columns.
    pub(super) fn draw(&self, width: usize) -> String {
        let names = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let room = width.saturating_sub(names + 4).max(1);
        let columns = self.rows.iter().map(|(_, counts)| counts.len()).max().unwrap_or(0);
        let together = columns.div_ceil(room).max(1);
        let rows: Vec<Vec<u64>> = self
            .rows
            .iter()
            .map(|(_, counts)| counts.chunks(together).map(|some| some.iter().sum()).collect())
            .collect();
        let most = rows.iter().flatten().copied().max().unwrap_or(0);
        let mut out = String::new();
        wrap(&mut out, &self.title, width);
        for ((name, _), counts) in self.rows.iter().zip(&rows) {
            let shades = counts.iter().map(|&count| SHADES[strength(count, most)]);
            let shades: String = shades.collect();
            out += format!("  {name:>names$} │{shades}").trim_end();
            out.push('\n');
        }
        let wide = rows.first().map_or(0, Vec::len);
        let [first, last] = &self.ends;
        let gap = wide.saturating_sub(first.chars().count() + last.chars().count()).max(1);
        let _ = writeln!(out, "  {:names$} └{}", "", "─".repeat(wide));
        let end = format!("  {:names$}  {first}{}{last}", "", " ".repeat(gap));
        out += &end.chars().take(width).collect::<String>();
        out.push('\n');
        let scale = limits(most).into_iter();
        let scale: Vec<String> =
            scale.map(|(at, most)| format!("{} to {}", SHADES[at], grouped(most))).collect();
        wrap(&mut out, &format!("accesses in a place: {}", scale.join(", ")), width);
        out
    }

    /// The same for a page.
    pub(super) fn map(&self) -> Map {
        let most = self.rows.iter().flat_map(|(_, counts)| counts).copied().max().unwrap_or(0);
        let spot = |&count: &u64| -> Spot {
            let strength = strength(count, most);
            (strength > 0).then_some((0, strength as u64, count))
        };
        let scale = limits(most).into_iter().map(|(_, most)| grouped(most)).collect::<Vec<_>>();
        let scale = format!(
            "From weak to strong, a place has at the most these accesses: {}.",
            scale.join("; ")
        );
        Map {
            title: self.title.clone(),
            columns: self.columns.clone(),
            rows: self.rows.iter().map(|(name, _)| name.clone()).collect(),
            spots: self.rows.iter().flat_map(|(_, counts)| counts).map(spot).collect(),
            unit: "accesses",
            kinds: vec!["accesses"],
            sides: SIDES,
            ends: self.ends.to_vec(),
            caption: format!("{} {scale}", self.caption),
            table: self.table.clone(),
            ..Map::default()
        }
    }
}

/// From 0 for nothing to 4 for the most.
fn strength(count: u64, most: u64) -> usize {
    if count == 0 {
        return 0;
    }
    let share = (count as f64 / most.max(1) as f64).cbrt();
    usize::try_from(whole((share * 4.0).ceil())).unwrap_or(4).clamp(1, 4)
}

/// The most accesses of each strength, without those that no count has.
fn limits(most: u64) -> Vec<(usize, u64)> {
    let limit = |strength: usize| whole((most as f64 * (strength as f64 / 4.0).powi(3)).floor());
    let all = (1..=4).map(|strength| (strength, limit(strength)));
    all.filter(|&(strength, most)| most > limit(strength - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heat(columns: u64) -> Heat {
        let row = |name: &str, of: fn(u64) -> u64| {
            (name.to_owned(), (0..columns).map(of).collect::<Vec<u64>>())
        };
        Heat {
            title: "a map".to_owned(),
            rows: vec![row("128", |at| at * at), row("first use", |at| u64::from(at == 0))],
            ends: ["0 s".to_owned(), "9 s".to_owned()],
            columns: (0..columns).map(|second| second.to_string()).collect(),
            caption: String::new(),
            table: Table::default(),
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_every_count_is_seen() {
        for width in 20..100 {
            let drawn = heat(64).draw(width);
            for line in drawn.lines() {
                assert!(line.chars().count() <= width, "{width}:\n{drawn}");
            }
            assert!(drawn.contains("first use │░"), "{drawn}");
        }
        let wide = heat(64).draw(80);
        let row = wide.lines().find(|line| line.contains("128 │")).unwrap();
        assert_eq!(row.chars().skip_while(|&c| c != '│').skip(2).filter(|&c| c == ' ').count(), 0);
    }

    #[test]
    fn strengths_go_from_nothing_to_the_most() {
        assert_eq!([0, 1, 1000].map(|count| strength(count, 1000)), [0, 1, 4]);
        assert_eq!(strength(1, 1), 4);
        assert!((1..1000).all(|count| strength(count, 1000) <= strength(count + 1, 1000)));
        let map = heat(3).map();
        assert_eq!((map.columns.len(), map.spots.len(), map.spots[0]), (3, 6, None));
    }
}
