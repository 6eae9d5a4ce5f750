//! A value for every page, by its dense number; pages never spoken of have the default.

use crate::sys::prefetch::prefetch;

/// Grows as pages appear. Reading beyond the end is the default value, so that no caller has to know
/// how many pages there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Table<T>(Vec<T>);

impl<T: Copy + Default> Table<T> {
    /// What is kept for a page.
    #[inline]
    pub(super) fn get(&self, page: u32) -> T {
        self.0.get(page as usize).copied().unwrap_or_default()
    }

    /// The place of a page, to change it.
    #[inline]
    pub(super) fn at(&mut self, page: u32) -> &mut T {
        let index = page as usize;
        if index >= self.0.len() {
            self.grow(index);
        }
        &mut self.0[index]
    }

    /// Starts to load what is kept for a page.
    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        prefetch(&self.0, page as usize);
    }

    /// The pages whose value is not the default one, with it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, T)> + '_
    where
        T: PartialEq,
    {
        (0..).zip(self.0.iter().copied()).filter(|&(_, value)| value != T::default())
    }

    /// Another table, of what `change` makes of each value; for checks.
    pub(super) fn map(&self, change: impl Fn(T) -> T) -> Self {
        Self(self.0.iter().map(|&value| change(value)).collect())
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.0.resize(index + 1, T::default());
    }
}
