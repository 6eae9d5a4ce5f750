//! Parameters of the users of `tools`, as they are written on a command line.

use nbuf::experiment::replay::tools::{PARAMETERS, Parameter, Parameters};

/// Parses `name=value`.
pub(super) fn setting(text: &str) -> Result<(String, u32), String> {
    let wrong = || "write name=value, such as think_ms=2000; --help lists the names".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.to_owned(), number(name, value)?))
}

/// Parses the value of a parameter, if the parameter can have it.
pub(super) fn number(name: &str, text: &str) -> Result<u32, String> {
    let wrong = |_| format!("{text} is no whole number from 0 to 4294967295");
    let value = text.parse().map_err(wrong)?;
    Parameters::DEFAULT.clone().set(name, value).map_err(|error| error.to_string())?;
    Ok(value)
}

/// Lists the parameters, for the help.
pub(super) fn help() -> String {
    let line = |parameter: &Parameter| {
        format!("  {}={}: {}\n", parameter.name, parameter.default, parameter.about)
    };
    PARAMETERS.iter().map(line).collect()
}
