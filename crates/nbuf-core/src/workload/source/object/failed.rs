//! A client's errors in a line.

use object_store::Error;

use super::ObjectError;

/// The longest text of a client's error, and as much for its cause.
const ERROR_BYTES: usize = 300;

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
    let mut last: &dyn std::error::Error = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let cause = last.to_string();
    if !text.contains(&cause) {
        text.truncate(text.floor_char_boundary(ERROR_BYTES));
        text = format!("{text}: {cause}");
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    text.truncate(text.floor_char_boundary(2 * ERROR_BYTES));
    text
}
