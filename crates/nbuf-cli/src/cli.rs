//! The command line: one definition, from which help, errors and completions come.

use clap::{CommandFactory, Parser};

use crate::command::Verb;
use crate::voice::{self, Voice};

const EXAMPLES: &str = "\
Examples:
  sudo nbuf size -- grep -r main /usr/include
  sudo nbuf record -o grep.parquet -- grep -r main /usr/include
  nbuf trace recover grep.parquet.log -o grep.parquet

Exit status:
  that of the command, 128+n when signal n ended it; of `size`, 0
  1    `size` made a prediction that did not hold
  2    the command line makes no sense
  125  nbuf itself failed, and says why on standard error
  126  the command cannot be executed
  127  the command was not found";

/// How much cache a real program needs, proved by running it.
#[derive(Debug, Parser)]
#[command(name = "nbuf", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = EXAMPLES)]
struct Cli {
    /// Say nothing on standard error but failures and losses
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say on standard error what is done, step by step
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Under sudo, work as root instead of as the user who called it: the command and all that is
    /// named here
    #[arg(long, global = true)]
    as_root: bool,
    #[command(subcommand)]
    verb: Verb,
}

/// What was asked for, and whether as root; or help, the version, or what is wrong with the command line.
pub(crate) fn parse() -> Result<(Verb, bool), clap::Error> {
    let Cli { quiet, verbose, as_root, verb } = Cli::try_parse()?;
    voice::set(match (quiet, verbose) {
        (true, _) => Voice::Quiet,
        (false, true) => Voice::Verbose,
        (false, false) => Voice::Plain,
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
