//! Values with stable numbers; the number of a value that was taken is used again.

/// A set of values, each by its number.
#[derive(Debug)]
pub(in crate::cache) struct Slab<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Keeps a value and returns its number.
    pub(in crate::cache) fn insert(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.values[number as usize] = Some(value);
            return number;
        }
        self.values.push(Some(value));
        u32::try_from(self.values.len() - 1).expect("fewer than 2^32 requests at once")
    }

    /// The value of this number, if there is one.
    pub(in crate::cache) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.values.get_mut(number as usize)?.as_mut()
    }

    /// The value of this number, if there is one.
    pub(in crate::cache) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)?.as_ref()
    }

    /// Takes a value out.
    pub(in crate::cache) fn take(&mut self, number: u32) -> Option<T> {
        let value = self.values.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(value)
    }

    /// How many values there are.
    pub(in crate::cache) fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// All values.
    pub(in crate::cache) fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter().flatten()
    }

    /// All values, to be changed.
    pub(in crate::cache) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut().flatten()
    }
}
