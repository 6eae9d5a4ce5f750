//! A chart that stands alone: no script, no font, nothing fetched.
//!
//! It is on a card of its own, light or dark as the reader's system is, so that the page around it
//! does not matter.

use super::super::chart::Chart;
use super::super::markup::escape;
use super::legend::keys;
use super::{CHARACTER, Sheet};

/// A chart that stands alone, under a title, in a style.
pub(in crate::show) fn picture(chart: &Chart, title: &str, style: &str) -> String {
    const HEAD: f64 = 44.0;
    let mut sheet = Sheet::of(chart, 860.0, 380.0, 10);
    let mut left = sheet.left;
    for key in keys(chart) {
        let y = sheet.ground() + 38.0;
        let (drawn, name) = (key.drawn, escape(key.name));
        sheet.add(format_args!(
            "<g transform=\"translate({left:.0} {y:.0})\">{drawn}<text x=\"38\" y=\"10\">{name}</text></g>"
        ));
        left += 66.0 + CHARACTER * name.chars().count() as f64;
    }
    let (width, height) = (sheet.width, sheet.height + HEAD);
    let (name, title) = (escape(&chart.title), escape(title));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}: {name}</title>\n\
         <style>{style}</style>\n\
         <rect class=\"card\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n\
         <text class=\"title\" x=\"20\" y=\"29\">{title}</text>\n\
         <g transform=\"translate(0 {HEAD})\">\n{}</g></svg>\n",
        width - 1.0,
        height - 1.0,
        sheet.body
    )
}
