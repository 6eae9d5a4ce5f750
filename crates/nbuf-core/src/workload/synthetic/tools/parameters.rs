//! What the users do, in numbers: one list, from which come the fields, their documentation, what may be
//! set, and the help.
//!
//! "Fitted" says that the paper has no such number, and that this one was chosen so that the hit rates,
//! the misses and the share of the management space of its section 3.2 come out.

use std::ops::RangeInclusive;

/// One of the numbers.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, which is the name of the field.
    pub name: &'static str,
    /// What it is, and where it comes from.
    pub about: &'static str,
    /// What it is unless it is set.
    pub default: u32,
    /// What it may be.
    pub range: RangeInclusive<u32>,
    field: fn(&mut Parameters) -> &mut u32,
}

/// A number could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// There is none of this name.
    #[error("{name} is no parameter of the tools; there are {known}", known = known())]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// It would make no sense.
    #[error("{name} must be from {from} to {to}, not {value}")]
    OutOfRange {
        /// Which.
        name: &'static str,
        /// The least it may be.
        from: u32,
        /// The most.
        to: u32,
        /// What was asked for.
        value: u32,
    },
}

fn known() -> String {
    PARAMETERS.each_ref().map(|parameter| parameter.name).join(", ")
}

macro_rules! parameters {
    ($count:literal: $($name:ident = $default:literal in $from:literal..=$to:literal: $about:literal,)*) => {
        /// The numbers; see [`PARAMETERS`] for what they may be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Parameters {
            /// Where chance begins.
            pub seed: u64,
            $(#[doc = $about] pub $name: u32,)*
        }

        impl Parameters {
            /// What the users do by default.
            pub const DEFAULT: Self = Self { seed: 42, $($name: $default,)* };
        }

        /// Everything that can be set but the seed, in the order in which it is shown.
        pub const PARAMETERS: [Parameter; $count] = [$(Parameter {
            name: stringify!($name),
            about: $about,
            default: $default,
            range: $from..=$to,
            field: |parameters| &mut parameters.$name,
        },)*];
    };
}

parameters! { 21:
    users = 5 in 1..=1000: "people at terminals (the paper: 5 or 6, and 1 to 3 while it measured)",
    commands = 40 in 1..=1_000_000: "commands that each of them types",
    think_ms = 10_000 in 0..=3_600_000: "thinking before a command, on average (fitted)",
    compute_us = 8_000 in 0..=60_000_000:
        "computing before a request (fitted to section 0: under 30 % of the processor at 5 or 6 users)",
    names = 2 in 1..=8:
        "simple names in the path of a file of the user's own; each costs two accesses (section 0)",
    other_names = 3 in 1..=8: "simple names in the path of a file elsewhere",
    links = 4 in 0..=64:
        "linked sectors of a file that opening it reads; with two or three names 8 or 10 accesses (section 0)",
    search_directories = 3 in 0..=64:
        "directories in the search path behind the user's own; two accesses each (fitted)",
    directory_sectors = 3 in 1..=1000: "sectors over which the names of a directory are spread (fitted)",
    ar_sectors = 5 in 0..=42: "sectors of :AR, which the shell writes and each tool reads (section 0: 4 to 6)",
    va_sectors = 6 in 0..=42: "sectors of :VA, which each tool reads (section 0: 4 to 6)",
    path_sectors = 6 in 0..=42: "sectors of the file with the search path (section 0: 4 to 6)",
    work_sectors = 12 in 0..=42: "sectors of the file that a user works at (the static average, section 1)",
    other_sectors = 16 in 0..=42: "sectors of a file that was not read for long (fitted)",
    pipe_sectors = 5 in 0..=42: "sectors of a pipe (section 0: 4 to 6)",
    other_percent = 100 in 0..=100: "commands of a hundred that read such a file (fitted)",
    pipe_percent = 20 in 0..=100: "commands of a hundred that are two tools and a pipe (fitted)",
    update_percent = 30 in 0..=100: "commands of a hundred that write :VA again (fitted)",
    tools = 24 in 1..=10_000: "tools that are used (fitted)",
    program_sectors = 157 in 0..=65_535: "sectors of a program, loaded by one read: 40 kB (section 1)",
    core_sectors = 512 in 0..=65_535:
        "sectors of the shell that a spawn writes and reads: 64K words (section 3.3)",
}

impl Parameters {
    /// Sets one of them by its name.
    pub fn set(&mut self, name: &str, value: u32) -> Result<(), ParameterError> {
        let parameter = PARAMETERS
            .into_iter()
            .find(|parameter| parameter.name == name)
            .ok_or_else(|| ParameterError::Unknown { name: name.to_owned() })?;
        if !parameter.range.contains(&value) {
            let (from, to) = (*parameter.range.start(), *parameter.range.end());
            return Err(ParameterError::OutOfRange { name: parameter.name, from, to, value });
        }
        *(parameter.field)(self) = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_set_by_its_name_and_by_no_other() {
        for parameter in PARAMETERS {
            let mut set = Parameters::DEFAULT;
            let (from, to) = (*parameter.range.start(), *parameter.range.end());
            assert!(parameter.range.contains(&parameter.default), "{parameter:?}");
            for value in [from, to] {
                assert_eq!(set.set(parameter.name, value), Ok(()));
                assert_eq!(*(parameter.field)(&mut set), value);
            }
            assert!(set.set(parameter.name, to + 1).is_err());
            *(parameter.field)(&mut set) = parameter.default;
            assert_eq!(set, Parameters::DEFAULT);
        }
        let refused = Parameters::DEFAULT.clone().set("user", 1).unwrap_err().to_string();
        assert!(
            refused.starts_with("user is no parameter of the tools; there are users, commands")
        );
    }
}
