//! The warnings of a document of the nbuf experiment: data, and their words.
//!
//! In JSON a warning is its words. The reader of a document gets a [`Warning::Text`]. No code looks at
//! the words.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kernel::KernelError;

/// A warning for the reader of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The words of a document.
    Text(String),
    /// A signal came before all samples of a kernel were made.
    Interrupted {
        /// The number of buffers of the kernel.
        nbuf: u16,
    },
    /// The kernel is unknown, so its calls cannot be counted.
    UnknownKernel {
        /// The number of buffers of the kernel.
        nbuf: u16,
        /// The reason.
        error: KernelError,
    },
}

impl Display for Warning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Interrupted { nbuf } => write!(f, "ended before nbuf {nbuf} was done"),
            Self::UnknownKernel { nbuf, error } => {
                write!(f, "nbuf {nbuf}: {error}: only discs are counted")
            }
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Warning {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::Text)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Warning {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Warning".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "What a reader must know before a figure is believed, in words."
        })
    }
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::document::{read, write};

    use super::super::result::SweepDocument;
    use super::*;

    #[test]
    fn a_document_keeps_the_words_of_its_warnings() {
        let error = KernelError::NoSymbol("bufaloc");
        let warnings =
            vec![Warning::Interrupted { nbuf: 3 }, Warning::UnknownKernel { nbuf: 6, error }];
        let want = [
            "ended before nbuf 3 was done",
            "nbuf 6: the kernel has no symbol `bufaloc`: only discs are counted",
        ];
        let schema = SweepDocument::SCHEMA.to_owned();
        let document = SweepDocument { schema, warnings, ..SweepDocument::default() };
        let found: SweepDocument = read(write(&document).unwrap().as_bytes()).unwrap();
        assert_eq!(found.warnings, want.map(|words| Warning::Text(words.to_owned())));
    }
}
