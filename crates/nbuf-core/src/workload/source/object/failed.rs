//! Why there is no answer of a store, in a line.

use object_store::Error;

use super::ObjectError;

/// The longest text of a client's error, and as much for its cause.
const ERROR_BYTES: usize = 300;

/// Why a store gave no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// It was not waited for any longer.
    Cancelled,
    /// What the client says.
    Failed(Error),
}

impl Unanswered {
    /// The error of this object.
    pub(super) fn of(self, name: &str) -> ObjectError {
        match self {
            Self::Cancelled => ObjectError::Cancelled(name.to_owned()),
            Self::Failed(error) => failed(name, &error),
        }
    }

    /// The error of this object, if credentials were asked for.
    pub(super) fn of_credentials(self, name: &str, remedy: &'static str) -> ObjectError {
        match self {
            Self::Cancelled => self.of(name),
            Self::Failed(error) => {
                let why = cut(&cause(&error));
                ObjectError::NoCredentials { name: name.to_owned(), why, remedy }
            }
        }
    }
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A client's error as one of ours.
pub(super) fn failed(name: &str, error: &Error) -> ObjectError {
    let name = name.to_owned();
    match error {
        Error::NotFound { .. } => ObjectError::Absent(name),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            ObjectError::Refused(name)
        }
        Error::Precondition { .. } => ObjectError::Replaced(name),
        error => {
            let why = line(error);
            // Listings have no kinds of errors.
            match ["403 Forbidden", "404 Not Found"].map(|status| why.contains(status)) {
                [true, _] => ObjectError::Refused(name),
                [_, true] => ObjectError::Absent(name),
                _ => ObjectError::Store { name, why },
            }
        }
    }
}

/// An error and its last cause in a line; answers of servers are pages of XML.
fn line(error: &Error) -> String {
    let mut text = error.to_string();
    let cause = cause(error);
    if !text.contains(&cause) {
        text.truncate(text.floor_char_boundary(ERROR_BYTES));
        text = format!("{text}: {cause}");
    }
    cut(&text)
}

/// The last cause of an error.
fn cause(error: &Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}

/// A text in a line that is not too long.
fn cut(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    text.truncate(text.floor_char_boundary(2 * ERROR_BYTES));
    text
}
