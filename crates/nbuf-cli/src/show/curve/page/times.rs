//! Windows of time: the hits of each at some sizes, and where its knee lies.

use nbuf::experiment::result::{CurveWindow, PolicyCurve};

use super::super::super::markup::escape;
use super::super::family::{Family, at, three_sizes};
use super::super::parts::Starts;
use super::super::scale::Scale;
use super::super::shares::Shares;
use super::super::words::{moment, three_digits};
use super::sheet::{Look, Mark, Sheet, frames};

/// Steps of ticks, in tens.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// Both charts of a curve that has windows.
pub(super) fn section(family: &Family<'_>, curve: &PolicyCurve) -> String {
    if curve.windows.len() < 2 {
        return String::new();
    }
    let across = Across::of(curve);
    let Some(scale) = Scale::of(family) else { return String::new() };
    hits(family, curve, &across) + &knees(family, curve, &across, &scale)
}

/// The axis of time: where each window begins and ends, from 0 to 1.
struct Across {
    edges: Vec<f64>,
    name: String,
    /// The end, in the unit of the ticks.
    longest: f64,
}

impl Across {
    /// The last window is as long as those
    /// before it are on average.
    fn of(curve: &PolicyCurve) -> Self {
        let Starts { unit, numbers: starts } = Starts::of(curve);
        let last = starts.last().copied().unwrap_or(0.0);
        let longest = last + last / (starts.len().max(2) - 1) as f64;
        let edges = starts.into_iter().chain([longest]).map(|start| start / longest).collect();
        let first = curve.windows.first().and_then(|window| moment(window.from_ns));
        let name = match (unit, first) {
            (Some(unit), Some(first)) => format!("{unit} from {first}"),
            (Some(unit), None) => unit.to_owned(),
            (None, _) => "windows".to_owned(),
        };
        Self { edges, name, longest }
    }

    fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let decades = (-3..20).map(|n| 10_f64.powi(n));
        let mut steps = decades.flat_map(|ten| STEPS.map(|step| step * ten));
        let fits = |step: &f64| (self.longest / step).floor() < most as f64;
        let step = steps.find(fits).unwrap_or(self.longest);
        let times = (0..).map(|n| f64::from(n) * step).take_while(|&time| time <= self.longest);
        let text = |time: f64| match three_digits(time) {
            long if long.contains('.') => {
                long.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            whole => whole,
        };
        times.map(|time| (time / self.longest, text(time))).collect()
    }

    /// Level stretches, one for each window that has a value, joined where windows follow.
    fn steps(
        &self,
        windows: &[CurveWindow],
        value: impl Fn(&CurveWindow) -> Option<f64>,
    ) -> Vec<Vec<(f64, f64)>> {
        let mut lines: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
        for (window, edges) in windows.iter().zip(self.edges.windows(2)) {
            match (value(window), lines.last_mut()) {
                (Some(value), Some(line)) => line.extend([(edges[0], value), (edges[1], value)]),
                _ => lines.push(Vec::new()),
            }
        }
        lines.retain(|line| !line.is_empty());
        lines
    }
}

/// Hits over time, at the three sizes.
fn hits(family: &Family<'_>, curve: &PolicyCurve, across: &Across) -> String {
    let sizes = three_sizes(curve);
    let share = |window: &CurveWindow, pages: u64| {
        let point = at(&window.points, pages).filter(|point| point.accesses > 0)?;
        Some(point.hit_ratio())
    };
    let seen = sizes.iter().flat_map(|&pages| curve.windows.iter().map(move |w| (w, pages)));
    let shares = Shares::of(seen.filter_map(|(window, pages)| share(window, pages)), 3);
    let mut out = String::from("<figure>\n");
    for frame in frames(280.0, 260.0) {
        let mut sheet = Sheet::new(frame, &[]);
        let ticks: Vec<_> =
            shares.ticks().into_iter().map(|(at, text)| (at, format!("{text} %"))).collect();
        sheet.upright("hits", &ticks);
        sheet.level(&across.name, &across.ticks(frame.ticks));
        for (number, &pages) in sizes.iter().enumerate() {
            let value =
                |window: &CurveWindow| share(window, pages).map(|share| shares.position(share));
            draw(&mut sheet, Look::of(number), &across.steps(&curve.windows, value));
        }
        out.push_str(&sheet.svg("hits over time", None));
    }
    let keys = sizes.iter().enumerate().map(|(number, &pages)| {
        Look::of(number).key(&format!("with {}", escape(&family.unit.full(pages))))
    });
    out + &format!("<ul class=\"legend\">{}</ul></figure>\n", keys.collect::<String>())
}

/// A line of steps, with a shape in the middle of some of them.
fn draw(sheet: &mut Sheet, look: Look, lines: &[Vec<(f64, f64)>]) {
    const SHAPES: usize = 12;
    let stretches: Vec<(f64, f64)> = lines
        .iter()
        .flat_map(|line| {
            line.chunks_exact(2).map(|ends| (f64::midpoint(ends[0].0, ends[1].0), ends[0].1))
        })
        .collect();
    for line in lines {
        sheet.line(&look.line(), look.dash, line);
    }
    for &(x, y) in stretches.iter().step_by(stretches.len().div_ceil(SHAPES).max(1)) {
        let shape = look.shape(sheet.x(x), sheet.y(y));
        sheet.add(format_args!("{shape}"));
    }
}

/// The knee of each window, and that of the whole as a line.
fn knees(family: &Family<'_>, curve: &PolicyCurve, across: &Across, scale: &Scale) -> String {
    let own = curve.windows.iter().filter_map(|window| window.corners).map(|c| c.knee_pages);
    let scale = scale.around(own.clone().chain(curve.corners.map(|c| c.knee_pages)));
    let knee = |window: &CurveWindow| {
        let corners = window.corners?;
        Some(scale.position(corners.knee_pages as f64))
    };
    if own.count() < 2 {
        return String::new();
    }
    let mut out = String::from("<figure>\n");
    for frame in frames(260.0, 240.0) {
        let mut sheet = Sheet::new(frame, &[] as &[Mark]);
        sheet.upright("knee", &scale.ticks(5));
        sheet.level(&across.name, &across.ticks(frame.ticks));
        if let Some(corners) = curve.corners {
            let (y, right) = (sheet.y(scale.position(corners.knee_pages as f64)), frame.right);
            let left = frame.left;
            sheet.add(format_args!(r#"<path class="knee" d="M{left} {y:.1}H{right}"/>"#));
        }
        draw(&mut sheet, Look::of(0), &across.steps(&curve.windows, knee));
        out.push_str(&sheet.svg("knee over time", None));
    }
    let whole = curve.corners.map(|corners| {
        let name = format!("knee of the whole, {}", escape(&family.unit.brief(corners.knee_pages)));
        super::sheet::key("<path class=\"knee\" d=\"M0 6h30\"/>", &name)
    });
    let own = Look::of(0).key("knee of each window; gaps have none");
    out + &format!("<ul class=\"legend\">{own}{}</ul></figure>\n", whole.unwrap_or_default())
}
