//! A format as the user names it: `csv:key=lbn,size=size`.

use std::fmt;
use std::str::FromStr;

use crate::units::as_text;

/// The name of a format and what goes with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// What stands before the colon.
    pub format: String,
    /// What stands behind it.
    pub pairs: Vec<(String, String)>,
}

/// Why a format cannot be read as was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// There is no such format.
    #[error("there is no format `{0}`: `nbuf trace formats` lists them")]
    NoFormat(String),
    /// A parameter is not `name=value`.
    #[error("`{0}` is no parameter: write NAME=VALUE, with commas between several")]
    NotPair(String),
    /// The format takes no such parameter.
    #[error("`{format}` has no parameter `{name}`: it takes {takes}")]
    Unknown {
        /// Which format.
        format: String,
        /// The parameter.
        name: String,
        /// What there is.
        takes: String,
    },
    /// A parameter has a value that it cannot have.
    #[error("`{name}` cannot be `{value}`: write {takes}")]
    Value {
        /// The parameter.
        name: String,
        /// Its value.
        value: String,
        /// What it can be.
        takes: String,
    },
    /// A parameter is missing.
    #[error("`{format}` needs {what}")]
    Missing {
        /// Which format.
        format: String,
        /// What it needs.
        what: String,
    },
    /// A column is not there.
    #[error("there is no column `{column}`: the columns are {}", found.join(", "))]
    NoColumn {
        /// The one that is missing.
        column: String,
        /// Those there are.
        found: Vec<String>,
    },
    /// The input does not begin as the format does.
    #[error("it is not {format}: it should begin with {wanted}")]
    Beginning {
        /// Which format.
        format: &'static str,
        /// How it begins.
        wanted: &'static str,
    },
}

impl FromStr for Parameters {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        let (format, rest) = text.split_once(':').unwrap_or((text, ""));
        if super::find(format).is_none() {
            return Err(ParameterError::NoFormat(format.to_owned()));
        }
        let mut pairs = Vec::new();
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| ParameterError::NotPair(pair.to_owned()))?;
            pairs.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self { format: format.to_owned(), pairs })
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format)?;
        for (at, (name, value)) in self.pairs.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

as_text!(Parameters);

impl Parameters {
    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Refuses parameters that the format does not take.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), ParameterError> {
        let Some((name, _)) = self.pairs.iter().find(|(name, _)| !known.contains(&name.as_str()))
        else {
            return Ok(());
        };
        let takes = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(ParameterError::Unknown { format: self.format.clone(), name: name.clone(), takes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_pairs() {
        let parameters: Parameters = "csv:key=lbn,size=size,".parse().unwrap();
        assert_eq!(parameters.format, "csv");
        assert_eq!((parameters.get("key"), parameters.get("size")), (Some("lbn"), Some("size")));
        assert_eq!(parameters.get("time"), None);
        assert_eq!("lirs".parse::<Parameters>().unwrap().pairs, []);
        let error = "liars".parse::<Parameters>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no format `liars`: `nbuf trace formats` lists them"
        );
        let error = "csv:key".parse::<Parameters>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`key` is no parameter: write NAME=VALUE, with commas between several"
        );
        let error = parameters.only(&["key"]).unwrap_err();
        assert_eq!(error.to_string(), "`csv` has no parameter `size`: it takes key");
    }
}
