//! placeholder
pub(crate) fn explain(error: nbuf::workload::record::Error) -> anyhow::Error {
    error.into()
}
