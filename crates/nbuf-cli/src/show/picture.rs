//! The curve of a workload as a picture: an SVG of 860 by 420 for a page or a README.
//!
//! It says what the terminal plot says and stands alone: no script, no font, nothing fetched. It
//! lies on a card of its own, light or dark as the reader's system is, so that the page around it
//! does not matter; line styles tell apart what colours do.

use nbuf::experiment::result::{Curve, Point, Recommend};
use nbuf::units::Bytes;

use super::axis::{CountAxis, SizeAxis, band_is_visible, marks};
use super::chart::{Drawing, Frame};
use super::markup::escape;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const FRAME: Frame =
    Frame { left: 76.0, right: 816.0, ground: 352.0, labels_top: 48.0, edge: 20.0, ticks: 10 };

const STYLE: &str = "\
.card{fill:#fff;stroke:#d0d7de}text{fill:#1f2328;font:13px system-ui,sans-serif}\
.title{font-size:15px;font-weight:600}.faint{fill:#59636e}.grid{stroke:#d0d7de;stroke-width:1}\
.axis{stroke:#818b98;stroke-width:1}.band{fill:#0969da;fill-opacity:.22}\
.edge{fill:none;stroke:#0969da;stroke-width:2;stroke-linejoin:round}\
.guess{stroke-dasharray:2 5}\
.mark{stroke:#818b98;stroke-width:1.5;stroke-dasharray:4 4}\
.knee{stroke:#bc4c00;stroke-width:2}text.knee{fill:#bc4c00;stroke:none;font-weight:600}\
.measured{fill:#1a7f37;stroke:#fff;stroke-width:1.5}\
@media(prefers-color-scheme:dark){.card{fill:#0d1117;stroke:#3d444d}text{fill:#f0f6fc}\
.faint{fill:#9198a1}.grid{stroke:#2a313c}.axis{stroke:#656c76}.band{fill:#4493f8}\
.edge{stroke:#4493f8}.mark{stroke:#9198a1}.knee{stroke:#f0883e}text.knee{fill:#f0883e}\
.measured{fill:#3fb950;stroke:#0d1117}}";

/// Draws `curve` under `title`, what is recommended of it, and what was measured: cache, fills.
pub(crate) fn svg(
    title: &str,
    curve: &Curve,
    recommend: Option<&Recommend>,
    verified: &[(Bytes, u64)],
) -> String {
    let marks = recommend.map_or_else(Vec::new, |recommend| marks(recommend, true));
    let shown = marks.iter().map(|mark| mark.cache_bytes);
    let sizes = SizeAxis::of(curve, shown.chain(verified.iter().map(|&(cache, _)| cache)));
    let fills = curve.points.iter().map(Point::fills_high);
    let counts = CountAxis::of(fills.chain(verified.iter().map(|&(_, fills)| fills)));
    let mut picture = Drawing::new(FRAME, &sizes, &counts);
    picture.curve(curve, &marks);
    for &(cache, fills) in verified {
        let (x, y) = (picture.x(cache.0 as f64), picture.y(fills as f64));
        picture.add(format_args!(r#"<circle class="measured" cx="{x:.1}" cy="{y:.1}" r="5.5"/>"#));
    }
    legend(&mut picture, band_is_visible(curve, &counts), !verified.is_empty());
    let title = escape(title);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
<title>{title}: page fills by cache size</title>
<style>{STYLE}</style>
<rect class="card" x=".5" y=".5" width="{}" height="{}" rx="8"/>
<text class="title" x="20" y="29">{title}</text>
{}</svg>
"#,
        WIDTH - 1.0,
        HEIGHT - 1.0,
        picture.body
    )
}

fn legend(picture: &mut Drawing<'_>, band: bool, measured: bool) {
    let y = FRAME.ground + 48.0;
    let mut x = FRAME.left;
    let top = y - 10.0;
    let (edges, text, wide) = if band {
        picture
            .add(format_args!(r#"<rect class="band" x="{x}" y="{top}" width="22" height="11"/>"#));
        ("h22m-22 11h22", "predicted, from LRU to two lists", 250.0)
    } else {
        ("m0 5.5h22", "predicted", 110.0)
    };
    picture.add(format_args!(
        r#"<path class="edge" d="M{x} {top}{edges}"/><text x="{}" y="{y}">{text}</text>"#,
        x + 30.0
    ));
    x += wide;
    if measured {
        picture.add(format_args!(
            r#"<circle class="measured" cx="{}" cy="{}" r="5.5"/><text x="{}" y="{y}">measured under that limit</text>"#,
            x + 6.0,
            y - 4.5,
            x + 18.0
        ));
    }
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::recommend::recommend;

    use super::*;
    use crate::show::sample;

    #[test]
    fn every_picture_is_whole_and_within_its_card() {
        let curves = [
            ("cliff", sample::cliff()),
            ("staircase", sample::staircase()),
            ("smooth", sample::smooth()),
            ("level", sample::level()),
            ("empty", Curve::default()),
        ];
        for (name, curve) in curves {
            let advice = recommend(&curve, &sample::MEMORY, Bytes(128 << 10)).unwrap();
            let verified = sample::cliff_verified();
            let verified = if name == "cliff" { verified.as_slice() } else { &[] };
            let drawn = svg("grep -r <word> src && true", &curve, Some(&advice), verified);
            assert!(drawn.contains("grep -r &lt;word&gt; src &amp;&amp; true"), "{name}");
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{name}: {drawn}");
            for mark in marks(&advice, true) {
                assert!(drawn.contains(&mark.label), "{name}: {}", mark.label);
            }
            // For a look at them all.
            if let Ok(folder) = std::env::var("NBUF_PICTURES") {
                std::fs::write(format!("{folder}/{name}.svg"), drawn).unwrap();
            }
        }
    }
}
