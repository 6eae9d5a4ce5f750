//! The terminal while `nbuf watch` displays on it: taken, asked for keys, and given back.
//!
//! Invariant: it is given back on every way out but `SIGKILL`: at the end, by a signal that the experiment takes,
//! by an error, and by a panic.

use std::fs::File;
use std::io::{self, IsTerminal, Stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use nbuf::experiment::output::Readers;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::output::write_new;
use crate::show::watch::screen::{Action, Key, Screen, View};

/// A terminal that displays.
pub(super) struct Live<V> {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    screen: Screen<V>,
    /// Where keys come from.
    keys: OwnedFd,
}

/// A change of the size of the window is seen after this time at the latest.
const LOOK: Duration = Duration::from_millis(200);

impl<V: View> Live<V> {
    /// Takes the terminal.
    pub(super) fn begin(has_colour: bool, is_replay: bool) -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        let keys = keys()?;
        enable_raw_mode()?;
        let taken = execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match taken {
            Ok(terminal) => Ok(Self { terminal, screen: Screen::new(has_colour, is_replay), keys }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Shows another interval.
    pub(super) fn take(&mut self, interval: V) -> io::Result<()> {
        self.screen.take(interval);
        self.draw()
    }

    /// Draws what is shown.
    pub(super) fn draw(&mut self) -> io::Result<()> {
        self.terminal.draw(|frame| self.screen.draw(frame)).map(drop)
    }

    /// Obeys the keys that come within this time. Whether to go on: not where the terminal is gone.
    pub(super) fn obey(&mut self, within: Duration) -> io::Result<bool> {
        let mut rest = within;
        loop {
            let look = rest.min(LOOK);
            if !self.is_open(look)? {
                return Ok(false);
            }
            if event::poll(Duration::ZERO)? {
                return self.obey_what_came();
            }
            rest -= look;
            if rest.is_zero() {
                return Ok(true);
            }
        }
    }

    /// Waits for a key within this time. Whether the terminal is still there: the library that reads keys would read
    /// the end of it for ever, and see no signal.
    fn is_open(&self, within: Duration) -> io::Result<bool> {
        let mut waiting = [PollFd::new(&self.keys, PollFlags::IN)];
        let within = Timespec::try_from(within).ok();
        match poll(&mut waiting, within.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(!waiting[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL))
    }

    fn obey_what_came(&mut self) -> io::Result<bool> {
        let mut has_changed = false;
        while event::poll(Duration::ZERO)? {
            has_changed = true;
            let Event::Key(key) = event::read()? else { continue };
            let Some(key) = meaning(&key) else { continue };
            match self.screen.key(key) {
                Action::Quit => return Ok(false),
                Action::Save => {
                    let message = self.save();
                    self.screen.say(message);
                }
                Action::Nothing => {}
            }
        }
        if has_changed {
            self.draw()?;
        }
        Ok(true)
    }

    /// Saves a page of what is shown, and says where it is.
    fn save(&self) -> String {
        let shown = self.screen.shown();
        let Some(now) = shown.last() else {
            return "no interval to save yet".to_owned();
        };
        let name = PathBuf::from(format!("nbuf-watch-{}.html", now.stamp()));
        if name.exists() {
            return format!("saved before, as {}", name.display());
        }
        let text = V::html(&shown);
        let write = |mut file: &File| io::Write::write_all(&mut file, text.as_bytes());
        match write_new(&name, "--record", Readers::Owner, write) {
            Ok(()) => format!("saved as {}", name.display()),
            // The rest of the words are about an option, and there is none.
            Err(error) => format!("not saved in this directory: {}", error.root_cause()),
        }
    }
}

impl<V> Drop for Live<V> {
    fn drop(&mut self) {
        give_back();
    }
}

/// The terminal that keys are read from: standard input, or the one of the session.
fn keys() -> io::Result<OwnedFd> {
    let input = io::stdin();
    if input.is_terminal() {
        return input.as_fd().try_clone_to_owned();
    }
    File::open("/dev/tty").map(Into::into)
}

/// Harmless a second time. What fails here has no other place to be said.
fn give_back() {
    let _ = execute!(io::stdout(), LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
}

fn meaning(key: &KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if is_control => Key::Quit,
        KeyCode::Char('q') => Key::Quit,
        KeyCode::Char('?' | 'h') => Key::Help,
        KeyCode::Tab => Key::Next,
        KeyCode::BackTab => Key::Previous,
        KeyCode::Left => Key::Back,
        KeyCode::Right => Key::Forward,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Char('p') => Key::Pause,
        KeyCode::Char('s') => Key::Save,
        _ => Key::Other,
    })
}
