//! The command line: one definition, from which help, errors and completions come.

use clap::{CommandFactory, Parser};

use crate::command::Verb;
use crate::verbosity::{self, Verbosity};

const EXAMPLES: &str = "\
Examples:
  sudo nbuf size -- grep -r main /usr/include
  sudo nbuf record -o grep.parquet -- grep -r main /usr/include
  nbuf trace recover grep.parquet.log -o grep.parquet

Exit status:
  the command's; 128+n when signal n killed it; 0 for `size`
  1    fills of `size` were out of the predicted band
  2    usage error
  3    the command that `size` runs is not repeatable
  4    runs of `size` disagree on the fills, or none proves the size
  125  nbuf failed; standard error says why
  126  the command cannot be executed
  127  the command was not found";

const COMMON: &str = "Options of every command";

/// Find how much cache a program needs, and prove it by running the program.
#[derive(Debug, Parser)]
#[command(name = "nbuf", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = EXAMPLES)]
struct Cli {
    /// Print only errors and lost data on standard error
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = COMMON)]
    quiet: bool,
    /// Print each step on standard error
    #[arg(short, long, global = true, help_heading = COMMON)]
    verbose: bool,
    /// Under sudo, run the command and open files as root, not as the calling user
    #[arg(long, global = true, help_heading = COMMON)]
    as_root: bool,
    #[command(subcommand)]
    verb: Verb,
}

/// What was asked for, and whether as root; or help, the version, or what is wrong with the command line.
pub(crate) fn parse() -> Result<(Verb, bool), clap::Error> {
    let Cli { quiet, verbose, as_root, verb } = Cli::try_parse()?;
    verbosity::set(match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    });
    Ok((verb, as_root))
}

/// The definition itself, from which completions and manual pages are made.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_is_sound() {
        super::definition().debug_assert();
    }

    /// clap prints `{n}` as the end of a line, so that an example with it cannot be typed.
    #[test]
    fn no_help_has_what_is_printed_as_the_end_of_a_line() {
        let mut verbs = vec![super::definition()];
        let mut seen = 0;
        while let Some(verb) = verbs.pop() {
            verbs.extend(verb.get_subcommands().cloned());
            let own = [verb.get_about(), verb.get_long_about(), verb.get_before_help()];
            let after = [verb.get_after_help(), verb.get_after_long_help()];
            let of_options = verb.get_arguments().flat_map(|a| [a.get_help(), a.get_long_help()]);
            for text in own.into_iter().chain(after).chain(of_options).flatten() {
                assert!(!text.to_string().contains("{n}"), "{}: {text}", verb.get_name());
                seen += 1;
            }
        }
        assert!(seen > 100, "{seen} texts were looked at");
    }
}
