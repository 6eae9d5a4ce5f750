//! Why an object cannot be read, and what to do about it.

use std::error::Error;
use std::io;

/// Why an object cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// This build has no clients of object stores.
    #[error(
        "{0} is in an object store, and this program reads none: read it with nbuf in Python, or build the program with \
         `cargo build --release --features object-stores`"
    )]
    NotBuilt(String),
    /// It is no name of an object.
    #[error("{name} names no object ({why}): write s3://BUCKET/KEY")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The environment has no credentials, or settings that contradict each other.
    #[error(
        "cannot reach the store of {name}: {source}; look at {}, and at the variables that docs/fleet.md lists",
        variables(.name)
    )]
    Settings {
        /// The object.
        name: String,
        /// What the client says.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Neither the environment nor the cloud has credentials.
    #[error("there are no credentials to read {name} (the cloud gives none: {why}): set {remedy}")]
    NoCredentials {
        /// The object.
        name: String,
        /// Why the cloud gives none.
        why: String,
        /// What to set instead.
        remedy: &'static str,
    },
    /// A signal came before it was read.
    #[error("interrupted before {0} was read: nbuf removed what it had copied")]
    Cancelled(String),
    /// There is no such object.
    #[error("there is no object {0}: look at its name, and end the name of a folder with /")]
    Absent(String),
    /// It may not be read with these credentials.
    #[error(
        "{0} may not be read with the credentials of this environment: give others, or ask its owner"
    )]
    Refused(String),
    /// It was written again while it was read.
    #[error("{0} was replaced while it was read: start again")]
    Replaced(String),
    /// The store does not answer, or with an error.
    #[error("cannot read {name}: {why}; docs/fleet.md lists the variables that name a store")]
    Store {
        /// The object.
        name: String,
        /// What the client says, in a line.
        why: String,
    },
    /// The temporary file cannot be made or written.
    #[error("cannot keep {name} in {}: {source}; set TMPDIR to a directory with room", std::env::temp_dir().display())]
    Temporary {
        /// The object.
        name: String,
        /// What the system says.
        source: io::Error,
    },
}

/// The variables that a store needs first, by the name of an object.
fn variables(name: &str) -> &'static str {
    match name.split_once("://") {
        Some(("s3", _)) => "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION",
        Some(("gs", _)) => "GOOGLE_SERVICE_ACCOUNT",
        _ => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    }
}

/// For a reader: its user finds it again, and so does not take it for damaged bytes.
impl From<ObjectError> for io::Error {
    fn from(error: ObjectError) -> Self {
        Self::other(error)
    }
}
