//! The script of a load: who the users are, what they do, and how long they think.
//!
//! A script is TOML, described in docs/load.md. Reading it opens no file and never panics; an error has
//! its line and column, and says what was probably meant.
//!
//! ```
//! use nbuf::experiment::load::Script;
//!
//! let script = Script::parse("[[class]]\nname = 'shell'\ncommand = [{ run = ['true'] }]\n")?;
//! assert_eq!(script.classes[0].name, "shell");
//! let error = Script::parse("[[class]]\nnome = 'shell'\n").unwrap_err();
//! assert_eq!((error.line, error.column), (2, 1));
//! assert!(error.what.contains("did you mean `name`?"), "{error}");
//! # Ok::<(), nbuf::experiment::load::ScriptError>(())
//! ```

mod read;
mod section;

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The users of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Seeds every choice and every think time.
    pub seed: u64,
    /// The classes, in the order of the file.
    pub classes: Vec<Class>,
    /// Programs that run while users act, below the same limits.
    #[serde(default)]
    pub servers: Vec<Server>,
}

/// A program that serves the commands of users. It runs from before the first step under a condition to after the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The program and its arguments. It must stay in the foreground, and end by `SIGTERM`.
    pub run: Vec<String>,
    /// A command that succeeds once the server can be asked; it is repeated until then.
    pub ready: Vec<String>,
}

/// Users who do the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Its name, which no other class has.
    pub name: String,
    /// The share of the users that is in it, relative to the shares of the other classes.
    pub share: f64,
    /// How long a user thinks before each action; for closed arrivals.
    pub think: Think,
    /// When actions begin.
    pub arrivals: Arrivals,
    /// What a user does, one at a time.
    pub actions: Vec<Action>,
}

/// When actions begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// When the user has thought, after the answer to the action before.
    #[default]
    Closed,
    /// At times that do not depend on answers: independent arrivals, at this rate for the whole class.
    Open {
        /// Arrivals in a second, on average.
        rate_per_second: f64,
    },
}

/// A distribution of think times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Think {
    /// Always the same.
    Fixed {
        /// The time.
        seconds: f64,
    },
    /// Without memory.
    Exponential {
        /// The mean.
        mean_seconds: f64,
    },
    /// Mostly short, sometimes long.
    Lognormal {
        /// The mean.
        mean_seconds: f64,
        /// The standard deviation.
        deviation_seconds: f64,
    },
    /// Drawn from those of a file, each as often as any other.
    Recorded {
        /// The file, with one duration a line.
        file: String,
        /// Its times; [`Script::parse`] opens no file, and leaves them out.
        seconds: Vec<f64>,
    },
}

impl Default for Think {
    fn default() -> Self {
        Self::Fixed { seconds: 0.0 }
    }
}

/// One thing that a user does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// What it is.
    pub what: What,
    /// How often it is chosen, relative to the weights of the other actions.
    pub weight: f64,
}

/// What a user does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// Runs a command to the end of its last process.
    Command {
        /// The program and its arguments.
        run: Vec<String>,
    },
    /// Sends a request over HTTP/1.1 and reads the whole answer.
    Request {
        /// The address, which begins with `http://`.
        get: String,
        /// When the request has failed.
        timeout: Duration,
    },
}

impl What {
    /// As a person would write it.
    pub fn name(&self) -> String {
        match self {
            Self::Command { run } => run.join(" "),
            Self::Request { get, .. } => format!("GET {get}"),
        }
    }
}

/// The error in a text that is no script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters from 1.
    pub column: usize,
    /// The error, and how to correct it.
    pub what: String,
}

impl Script {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        read::script(text)
    }

    /// Whether a class runs commands.
    pub fn has_commands(&self) -> bool {
        let mut actions = self.classes.iter().flat_map(|class| &class.actions);
        actions.any(|action| matches!(action.what, What::Command { .. }))
    }

    /// Whether a class sends requests, whose work is done by processes that nbuf did not start.
    pub fn has_requests(&self) -> bool {
        let mut actions = self.classes.iter().flat_map(|class| &class.actions);
        actions.any(|action| matches!(action.what, What::Request { .. }))
    }
}

#[cfg(test)]
mod tests;
