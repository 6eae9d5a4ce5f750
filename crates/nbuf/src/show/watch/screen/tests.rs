//! The screen on terminals that hold their characters in memory.

use nbuf::experiment::result::{FigureStep, WatchDocument};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::tests::sample;
use super::*;

fn drawn(screen: &mut Screen<WatchDocument>, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| screen.draw(frame)).unwrap();
    terminal.backend().to_string()
}

fn screen(intervals: u64) -> Screen<WatchDocument> {
    let mut screen = Screen::new(false, false);
    for number in 1..=intervals {
        let mut seen = WatchDocument { number, ..sample() };
        let times = seen.faults.between.as_mut().unwrap();
        times.steps = vec![FigureStep { from: 1e-6, to: 2e-6, count: 5 }];
        screen.take(seen);
    }
    screen
}

#[test]
fn each_page_shows_its_figures_and_all_show_the_cost() {
    let mut screen = screen(3);
    for (page, words) in [
        ("Processors", ["multiprogramming idle", "pressure"]),
        ("Faults", ["major a second", "between two"]),
        ("Cache", ["evictions a second", "500 of 1,000"]),
        ("Discs", ["requests a second", "vda 5 % busy"]),
    ] {
        for (width, height) in [(80, 24), (200, 60), (60, 12)] {
            let text = drawn(&mut screen, width, height);
            assert!(text.contains(page) && text.contains("own cost 0.6 %"), "{text}");
            assert!(text.contains(words[0]), "{text}");
            assert!(height < 24 || text.contains(words[1]), "{text}");
            assert!(!text.contains('\u{1b}'));
        }
        screen.key(Key::Next);
    }
    assert!(drawn(&mut screen, 80, 24).contains("true idle"));
}

#[test]
fn the_states_of_processes_have_strips_over_time() {
    let mut screen = Screen::new(false, false);
    for (running, disc) in [(1, 0), (8, 2), (4, 4)] {
        let mut seen = sample();
        (seen.states.running, seen.states.disc) = (running, disc);
        screen.take(seen);
    }
    let text = drawn(&mut screen, 80, 24);
    let row = |name: &str| text.lines().find(|line| line.contains(name)).expect(name).to_owned();
    // The last interval is at the right, and the highest one is full.
    assert!(row("processes running").contains("4.00") && row("processes running").contains("▁█▄"));
    assert!(
        row("processes at a disc").contains("4.00") && row("processes at a disc").contains(" ▄█")
    );
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    assert!(drawn(&mut screen(1), 59, 24).contains("too small"));
    assert!(drawn(&mut screen(1), 80, 11).contains("60x12 is needed"));
    assert!(drawn(&mut screen(0), 80, 24).contains("under way"));
}

#[test]
fn a_pause_holds_what_is_shown_and_arrows_go_through_time() {
    let mut screen = screen(3);
    let shown =
        |screen: &Screen<WatchDocument>| screen.shown().last().map(|interval| interval.number);
    assert_eq!(screen.key(Key::Pause), Action::Nothing);
    screen.take(WatchDocument { number: 4, ..sample() });
    assert_eq!(shown(&screen), Some(3));
    screen.key(Key::Back);
    assert_eq!(shown(&screen), Some(2));
    for _ in 0..5 {
        screen.key(Key::Back);
    }
    assert_eq!(shown(&screen), Some(1));
    screen.key(Key::Forward);
    assert_eq!(shown(&screen), Some(2));
    screen.key(Key::Pause);
    assert_eq!(shown(&screen), Some(4));
    screen.key(Key::Help);
    assert!(drawn(&mut screen, 80, 24).contains("Ctrl-C"));
    // The key that leaves the help does nothing else.
    assert_eq!(screen.key(Key::Save), Action::Nothing);
    assert_eq!(screen.key(Key::Save), Action::Save);
    assert_eq!(screen.key(Key::Quit), Action::Quit);
}

#[test]
fn only_so_much_is_kept() {
    let screen = screen(KEPT as u64 + 7);
    assert_eq!(screen.shown().len(), KEPT);
}
