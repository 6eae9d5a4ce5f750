//! The ready message after a command of an interactive shell: one line.

use nbuf::experiment::shell::Figures;
use nbuf::units::{count, grouped};

use super::seconds;

/// The line at a prompt.
pub(crate) fn session_line(of: &Figures) -> String {
    let time = |ns: u64| seconds(ns as f64 / 1e9);
    let mut parts = vec![format!("real {}", time(of.real_ns))];
    parts.push(match of.user_ns {
        Some(user) => {
            format!("CPU {} user, {} system", time(user), time(of.cpu_ns.saturating_sub(user)))
        }
        None => format!("CPU {}", time(of.cpu_ns)),
    });
    let (major, minor) = (grouped(of.faults_major), grouped(of.faults_minor));
    parts.push(format!("faults {major} major, {minor} minor"));
    parts.extend(of.fills.map(|fills| count(fills, "page filled", "pages filled")));
    parts.extend(of.device_read.map(|bytes| format!("disc {bytes} read")));
    match of.background_ns {
        Some(0) => {}
        Some(ns) => parts.push(format!("jobs in the background {} CPU more", time(ns))),
        None => parts.push("jobs in the background not seen".to_owned()),
    }
    if of.background_ended {
        let text = "a job in the background ended, the faults and disc of its whole life are in it";
        parts.push(text.to_owned());
    }
    format!("nbuf: {}", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use nbuf::units::Bytes;

    use super::*;

    #[test]
    fn the_line_has_what_is_known() {
        let of = Figures {
            real_ns: 1_004_000_000,
            cpu_ns: 400_000_000,
            user_ns: Some(390_000_000),
            faults_minor: 1234,
            device_read: Some(Bytes(8192)),
            fills: Some(2),
            background_ns: Some(70_000_000),
            ..Figures::default()
        };
        let none = Figures { background_ns: Some(0), ..of };
        assert!(!session_line(&none).contains("background"));
        expect!["nbuf: real 1.00 s; CPU 390 ms user, 10.0 ms system; faults 0 major, 1,234 minor; 2 pages filled; disc 8.00 KiB read; jobs in the background 70.0 ms CPU more"].assert_eq(&session_line(&of));
        let ordinary = Figures { real_ns: 5_000_000, background_ended: true, ..Figures::default() };
        expect!["nbuf: real 5.00 ms; CPU 0.00 ms; faults 0 major, 0 minor; jobs in the background not seen; a job in the background ended, the faults and disc of its whole life are in it"].assert_eq(&session_line(&ordinary));
    }
}
