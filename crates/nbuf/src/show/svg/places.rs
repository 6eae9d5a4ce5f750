//! Pictures that are read with a pointer and with keys: their places, as the script has them.

use super::super::markup::escape;

/// A box of a picture: left, top, width and height. A line is a box without a width.
pub(in crate::show) type Frame = [f64; 4];

/// A picture of a class and a size. `data` has more attributes; one of them has the places.
pub(in crate::show) fn readable(
    class: &str,
    [width, height]: [f64; 2],
    title: &str,
    data: &str,
    body: &str,
) -> String {
    let title = escape(title);
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{title}\"{data}>\n{body}<path class=\"cursor\" d=\"\"/></svg>"
    )
}

/// The boxes of each place. A place stands for a row of the table behind the picture.
pub(super) fn rows(places: &[Vec<Frame>]) -> String {
    let frame = |[x, y, width, height]: &Frame| format!("{x:.1},{y:.1},{width:.1},{height:.1}");
    let place = |frames: &Vec<Frame>| frames.iter().map(frame).collect::<Vec<_>>().join(";");
    let places: Vec<String> = places.iter().map(place).collect();
    format!(" data-at=\"{}\"", places.join(" "))
}

/// Places with texts of their own, each a box.
pub(super) fn texts(title: &str, places: impl IntoIterator<Item = (Frame, String)>) -> String {
    let (frames, says): (Vec<_>, Vec<_>) =
        places.into_iter().map(|(frame, says)| (vec![frame], format!("{title}: {says}"))).unzip();
    rows(&frames) + &lines("says", &says)
}

/// An attribute with a line for each text.
pub(in crate::show) fn lines(name: &str, texts: &[impl AsRef<str>]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| escape(text.as_ref())).collect();
    format!(" data-{name}=\"{}\"", texts.join("\n"))
}
