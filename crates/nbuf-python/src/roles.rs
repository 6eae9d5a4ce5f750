//! What each column of a table is for, by the caller's words and by its name.

use arrow_schema::{DataType, Schema};

use crate::columns::{is_number, is_time, is_whole};

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Key,
    Size,
    Offset,
    Length,
    Op,
    Time,
    Object,
    Task,
    Ttl,
    Cost,
}

/// The roles of columns, as `columns=` names them, and the names that they are known by.
const ROLES: [(Role, &str, &[&str]); 10] = [
    (Role::Key, "key", &["key", "page", "block"]),
    (Role::Size, "size", &["size"]),
    (Role::Offset, "offset", &["offset_bytes", "offset"]),
    (Role::Length, "length", &["length_bytes", "length"]),
    (Role::Op, "op", &["op"]),
    (Role::Time, "time", &["time_ns", "time"]),
    (Role::Object, "file", &["file", "object", "volume"]),
    (Role::Task, "task", &["task"]),
    (Role::Ttl, "ttl", &["ttl"]),
    (Role::Cost, "cost", &["cost"]),
];

/// The columns of a table, by their role.
pub(crate) fn find(
    schema: &Schema,
    named: &[(String, String)],
) -> Result<Vec<(Role, usize)>, String> {
    let mut columns = Vec::new();
    for (role, column) in named {
        let Some(&(role, ..)) = ROLES.iter().find(|(_, name, _)| name == role) else {
            let roles: Vec<&str> = ROLES.iter().map(|&(_, name, _)| name).collect();
            let roles = roles.join(", ");
            return Err(format!("columns= has no role `{role}`: write one of {roles}"));
        };
        let index = schema.index_of(column).map_err(|_| missing(schema, column))?;
        columns.push((role, index));
    }
    let has = |columns: &[(Role, usize)], role| columns.iter().any(|&(other, _)| other == role);
    let is_placed = has(&columns, Role::Key) || has(&columns, Role::Offset);
    for (role, _, names) in ROLES {
        let is_place = matches!(role, Role::Key | Role::Offset);
        let is_free = columns.iter().all(|&(other, _)| other != role) && !(is_place && is_placed);
        let found = names.iter().find_map(|name| schema.index_of(name).ok());
        let found = found.filter(|index| columns.iter().all(|&(_, other)| other != *index));
        // Where there are bytes, `page` or `block` is something else.
        let is_bytes = role == Role::Key && schema.index_of("offset_bytes").is_ok();
        // What no caller has named, and nothing needs, may be of any type.
        let fits = |index: &usize| is_usable(role, schema.field(*index).data_type());
        if let Some(index) = found.filter(fits).filter(|_| is_free && !is_bytes) {
            columns.push((role, index));
        }
    }
    // pandas adds the index of rows that were chosen.
    let mut own = (0..schema.fields().len())
        .filter(|&index| !schema.field(index).name().starts_with("__index_level_"));
    if let (true, Some(only), None) = (columns.is_empty(), own.next(), own.next()) {
        columns.push((Role::Key, only));
    }
    Ok(columns)
}

/// Whether a column that has only the name of a role is taken for it.
fn is_usable(role: Role, kind: &DataType) -> bool {
    match role {
        Role::Time => is_time(kind),
        Role::Task => is_whole(kind),
        Role::Ttl | Role::Cost => is_number(kind),
        _ => true,
    }
}

/// That a column is missing.
pub(crate) fn missing(schema: &Schema, what: &str) -> String {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let names = names.join(", ");
    format!(
        "there is no column {what} among {names}: name it, such as columns={{\"key\": \"lbn\"}}"
    )
}
