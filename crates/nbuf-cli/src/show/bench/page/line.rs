//! The lines of times: what was measured, and what a + b x block says, both axes in equal ratios.

use std::fmt::Write as _;

use nbuf::experiment::result::{BenchDocument, BenchModel, ModelPoint};
use nbuf::units::Bytes;

use super::super::super::curve::page::sheet::{Look, Sheet, frames};
use super::super::super::markup::escape;

/// Places of a line that is drawn.
const STEPS: u32 = 60;

/// Ends of the axes, as logarithms.
struct Axes {
    blocks: (f64, f64),
    times: (f64, f64),
}

impl Axes {
    fn of(models: &[BenchModel]) -> Option<Self> {
        let points = || models.iter().flat_map(|model| &model.points);
        let ends = |of: fn(&ModelPoint) -> f64| {
            let low = points().map(of).fold(f64::INFINITY, f64::min);
            let high = points().map(of).fold(f64::NEG_INFINITY, f64::max);
            (low < high).then_some((low.log2(), high.log2()))
        };
        Some(Self {
            blocks: ends(|point| point.block_bytes as f64)?,
            times: ends(|point| point.measured_ns)?,
        })
    }

    fn place(&self, block: f64, ns: f64) -> (f64, f64) {
        let on = |ends: (f64, f64), value: f64| {
            ((value.log2() - ends.0) / (ends.1 - ends.0)).clamp(0.0, 1.0)
        };
        (on(self.blocks, block), on(self.times, ns))
    }
}

pub(super) fn section(document: &BenchDocument) -> String {
    let models = &document.models;
    let Some(axes) = Axes::of(models) else { return String::new() };
    let mut out = String::from("<figure>\n");
    for frame in frames(440.0, 380.0) {
        let mut sheet = Sheet::new(frame, &[]);
        sheet.upright("time of an operation", &time_ticks(&axes));
        sheet.level("block", &block_ticks(&axes, frame.ticks));
        for (number, model) in models.iter().enumerate() {
            draw(&mut sheet, &axes, model, Look::of(number));
        }
        out.push_str(&sheet.svg("time of an operation against its block", None));
    }
    let keys = models.iter().enumerate().map(|(number, model)| {
        let name = format!("{} {}, {}", model.path, model.direction, model.state.name());
        Look::of(number).key(&escape(&name))
    });
    let _ = writeln!(out, "<ul class=\"legend\">{}</ul>", keys.collect::<String>());
    out.push_str(
        "<figcaption>Shapes were measured, lines are a + b x block; a red ring lies more than 15 % off \
         its line.</figcaption>\n",
    );
    out + "</figure>\n"
}

fn draw(sheet: &mut Sheet, axes: &Axes, model: &BenchModel, look: Look) {
    let (low, high) = axes.blocks;
    let places: Vec<(f64, f64)> = (0..=STEPS)
        .map(|step| {
            let block = (low + (high - low) * f64::from(step) / f64::from(STEPS)).exp2();
            axes.place(block, model.base_ns + model.byte_ns * block)
        })
        .collect();
    sheet.line(&look.line(), look.dash, &places);
    for point in &model.points {
        let (x, y) = axes.place(point.block_bytes as f64, point.measured_ns);
        let (x, y) = (sheet.x(x), sheet.y(y));
        let shape = look.shape(x, y);
        sheet.add(format_args!("{shape}"));
        if point.is_odd() {
            sheet.add(format_args!("<circle class=\"odd\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\"/>"));
        }
    }
}

/// Powers of ten.
fn time_ticks(axes: &Axes) -> Vec<(f64, String)> {
    (0..10)
        .map(|power| 10_f64.powi(power))
        .filter(|ns| (axes.times.0..=axes.times.1).contains(&ns.log2()))
        .map(|ns| (axes.place(1.0, ns).1, tick(ns)))
        .collect()
}

/// A power of ten in the unit that it is the least of: `1 us` and not `1000 ns`.
fn tick(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    let unit = units.into_iter().find(|(unit, _)| ns >= *unit).unwrap_or((1.0, "ns"));
    format!("{:.0} {}", ns / unit.0, unit.1)
}

/// Powers of two, as many as fit.
fn block_ticks(axes: &Axes, most: usize) -> Vec<(f64, String)> {
    let step = if most > 6 { 2 } else { 5 };
    (0..=30_u32)
        .step_by(step)
        .filter(|power| (axes.blocks.0..=axes.blocks.1).contains(&f64::from(*power)))
        .map(|power| {
            let bytes = Bytes(1 << power);
            let name = bytes.to_string().replace(".00", "").replace(".0", "");
            (axes.place(bytes.0 as f64, 1.0).0, name)
        })
        .collect()
}
