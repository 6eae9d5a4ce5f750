//! The live display of `nbuf watch`: what is chosen on it, and how it is drawn.

mod pages;
pub(crate) mod parts;
mod view;

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

pub(crate) use view::View;

/// Intervals that are kept, for the strips and to go back.
const KEPT: usize = 600;
/// The least that the display fits on.
const WIDTH_MIN: u16 = 60;
const HEIGHT_MIN: u16 = 12;

/// A key that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Quit,
    Help,
    Next,
    Previous,
    Back,
    Forward,
    Up,
    Down,
    Pause,
    Save,
    /// It means nothing, and ends the help as any key does.
    Other,
}

/// What a key makes the program do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Nothing,
    Quit,
    Save,
}

/// Which interval is shown when another comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The last.
    Follows,
    /// The same as before.
    Paused,
    /// The last of a recording, until a key goes back.
    Replay,
}

/// What is on the screen.
#[derive(Debug)]
pub(crate) struct Screen<V> {
    seen: VecDeque<V>,
    /// The number of its page.
    page: usize,
    /// How many intervals before the last one is shown.
    back: usize,
    /// The first line of the page that is shown.
    top: u16,
    mode: Mode,
    shows_help: bool,
    message: Option<String>,
    has_colour: bool,
}

impl<V: View> Screen<V> {
    pub(crate) fn new(has_colour: bool, is_replay: bool) -> Self {
        Self {
            seen: VecDeque::new(),
            page: 0,
            back: 0,
            top: 0,
            mode: if is_replay { Mode::Replay } else { Mode::Follows },
            shows_help: false,
            message: None,
            has_colour,
        }
    }

    /// Takes an interval. A display that is paused stays where it is.
    pub(crate) fn take(&mut self, interval: V) {
        self.seen.push_back(interval);
        if self.mode == Mode::Paused {
            self.back += 1;
        }
        if self.seen.len() > KEPT && self.mode != Mode::Replay {
            self.seen.pop_front();
        }
        self.back = self.back.min(self.seen.len() - 1);
    }

    /// The interval that is shown, and those before it.
    pub(crate) fn shown(&self) -> Vec<&V> {
        self.seen.iter().take(self.seen.len() - self.back).collect()
    }

    /// Says something at the foot until the next key.
    pub(crate) fn say(&mut self, message: String) {
        self.message = Some(message);
    }

    pub(crate) fn key(&mut self, key: Key) -> Action {
        self.message = None;
        if self.shows_help && key != Key::Quit {
            self.shows_help = false;
            return Action::Nothing;
        }
        match key {
            Key::Quit => return Action::Quit,
            Key::Save => return Action::Save,
            Key::Other => {}
            Key::Help => self.shows_help = true,
            Key::Next => (self.page, self.top) = ((self.page + 1) % V::PAGES.len(), 0),
            Key::Previous => {
                (self.page, self.top) = ((self.page + V::PAGES.len() - 1) % V::PAGES.len(), 0);
            }
            Key::Up => self.top = self.top.saturating_sub(1),
            Key::Down => self.top = self.top.saturating_add(1),
            Key::Back => {
                self.pause();
                self.back = (self.back + 1).min(self.seen.len().saturating_sub(1));
            }
            Key::Forward => self.back = self.back.saturating_sub(1),
            Key::Pause if self.mode == Mode::Paused => {
                (self.mode, self.back) = (Mode::Follows, 0);
            }
            Key::Pause => self.pause(),
        }
        Action::Nothing
    }

    fn pause(&mut self) {
        if self.mode == Mode::Follows {
            self.mode = Mode::Paused;
        }
    }

    /// Draws all.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        if area.width < WIDTH_MIN || area.height < HEIGHT_MIN {
            let text = format!("too small: {WIDTH_MIN}x{HEIGHT_MIN} is needed; q ends");
            return frame.render_widget(Paragraph::new(text), area);
        }
        let rows = [Constraint::Length(2), Constraint::Min(1), Constraint::Length(1)];
        let [head, body, foot] = Layout::vertical(rows).areas(area);
        frame.render_widget(Paragraph::new(self.head(usize::from(head.width))), head);
        frame.render_widget(Paragraph::new(self.foot()), foot);
        let lines = if self.shows_help {
            help::<V>()
        } else {
            V::lines(&self.shown(), self.page, usize::from(body.width), self.has_colour)
        };
        let last = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_sub(body.height);
        self.top = self.top.min(last);
        frame.render_widget(Paragraph::new(lines).scroll((self.top, 0)), body);
    }

    /// The time, the cost, and the names of the pages.
    fn head(&self, width: usize) -> Vec<Line<'static>> {
        let shown = self.shown();
        let Some(now) = shown.last() else {
            return vec![Line::from("nbuf watch: the first interval is under way")];
        };
        let left = format!("nbuf watch  {}", now.head());
        let state = match self.mode {
            Mode::Replay => format!("  replay {} of {}", shown.len(), self.seen.len()),
            Mode::Paused => format!("  paused, {} back", self.back),
            Mode::Follows => String::new(),
        };
        let names = V::PAGES.iter().enumerate().map(|(page, name)| {
            let style = if page == self.page {
                Style::new().add_modifier(Modifier::REVERSED)
            } else {
                Style::new()
            };
            Span::styled(format!(" {name} "), style)
        });
        let cost = now.cost();
        let used: usize = V::PAGES.iter().map(|name| name.len() + 2).sum();
        let gap = " ".repeat(width.saturating_sub(used + cost.chars().count()));
        let mut second: Vec<Span<'static>> = names.collect();
        second.push(Span::raw(gap + &cost));
        vec![Line::from(left + &state), Line::from(second)]
    }

    fn foot(&self) -> Line<'static> {
        if let Some(message) = &self.message {
            return Line::from(message.clone());
        }
        let style = if self.has_colour { Style::new().fg(Color::DarkGray) } else { Style::new() };
        Line::styled("q quit  ? help  tab page  p pause  s save  arrows: time, lines", style)
    }
}

/// What the keys do, and what words mean.
fn help<V: View>() -> Vec<Line<'static>> {
    let keys = [
        "q, Ctrl-C     end",
        "?             this help; any key leaves it",
        "tab           the next page; shift-tab: the one before",
        "left, right   an interval back, an interval on",
        "up, down      scroll",
        "p             pause, and go on; the watch goes on meanwhile",
        "s             save what is shown as a page, nbuf-watch-TIME.html",
        "",
    ];
    keys.iter().chain(V::WORDS).map(|&line| Line::from(line)).collect()
}

#[cfg(test)]
mod tests;
