//! The command line: one definition, from which help, errors and completions come.

use clap::Parser;

use crate::command::Verb;

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
    #[command(subcommand)]
    verb: Verb,
}

/// What was asked for; or help, the version, or what is wrong with the command line.
pub(crate) fn parse() -> Result<Verb, clap::Error> {
    Cli::try_parse().map(|cli| cli.verb)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        super::Cli::command().debug_assert();
    }
}
