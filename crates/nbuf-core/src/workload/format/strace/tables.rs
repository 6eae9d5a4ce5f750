//! Which descriptors a task has: threads share a table, and the child of a fork gets a copy.

use std::collections::HashMap;

use super::super::hash::Hashes;

/// Descriptors that are followed at once. Beyond them, the child of a fork starts with none.
const DESCRIPTORS_MAX: usize = 1 << 20;

pub(super) type Map<K, V> = HashMap<K, V, Hashes>;

/// The descriptors of all tasks, and the open files behind them by number.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// By descriptor, an open file.
    all: Vec<Map<u64, usize>>,
    table_of: Map<u32, usize>,
    /// The task that was looked up last, and its table.
    last: Option<(u32, usize)>,
    /// Tasks that are about to have a child.
    forking: Vec<u32>,
    descriptors: usize,
}

impl Tables {
    /// A task has begun to fork: a child may be seen before its parent knows it.
    pub(super) fn begin_fork(&mut self, task: u32) {
        self.forking.push(task);
    }

    /// A task is gone.
    pub(super) fn exit(&mut self, task: u32) {
        self.last = None;
        self.forking.retain(|forking| *forking != task);
        if let Some(table) = self.table_of.remove(&task)
            && !self.table_of.values().any(|other| *other == table)
        {
            self.descriptors -= self.all[table].len();
            self.all[table] = Map::default();
        }
    }

    /// A task has a child, or a thread that shares its table.
    pub(super) fn fork(&mut self, parent: u32, child: u32, is_shared: bool) {
        self.forking.retain(|forking| *forking != parent);
        let table = self.table(parent);
        if is_shared {
            self.last = None;
            self.table_of.insert(child, table);
        } else if !self.table_of.contains_key(&child) {
            let has_room = self.descriptors + self.all[table].len() < DESCRIPTORS_MAX;
            let copy = if has_room { self.all[table].clone() } else { Map::default() };
            self.new_table(child, copy);
        }
    }

    /// The open file of a descriptor.
    #[inline]
    pub(super) fn get(&mut self, task: u32, number: u64) -> Option<usize> {
        let table = self.table(task);
        self.all[table].get(&number).copied()
    }

    /// Gives a descriptor to a task.
    pub(super) fn insert(&mut self, task: u32, number: u64, open: usize) {
        let table = self.table(task);
        if self.all[table].insert(number, open).is_none() {
            self.descriptors += 1;
        }
    }

    /// Takes a descriptor from a task, if it has it.
    pub(super) fn remove(&mut self, task: u32, number: Option<u64>) {
        let table = self.table(task);
        if number.is_some_and(|number| self.all[table].remove(&number).is_some()) {
            self.descriptors -= 1;
        }
    }

    #[inline]
    fn table(&mut self, task: u32) -> usize {
        if let Some((last, table)) = self.last
            && last == task
        {
            return table;
        }
        let table = self.table_or_new(task);
        self.last = Some((task, table));
        table
    }

    /// Returns the table of a task. A task that was not seen before is the child of a task that
    /// forks now, if there is one.
    fn table_or_new(&mut self, task: u32) -> usize {
        if let Some(&table) = self.table_of.get(&task) {
            return table;
        }
        match self.forking.last() {
            Some(&parent) if parent != task => self.fork(parent, task, false),
            _ => self.new_table(task, Map::default()),
        }
        self.table_of[&task]
    }

    fn new_table(&mut self, task: u32, table: Map<u64, usize>) {
        self.descriptors += table.len();
        self.all.push(table);
        self.table_of.insert(task, self.all.len() - 1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_last_table_is_the_one_of_its_task(
            steps in proptest::collection::vec((0..6_u8, 0..4_u32, 0..4_u32, any::<bool>()), 0..60)
        ) {
            let (mut tables, mut searching) = (Tables::default(), Tables::default());
            for (open, (step, task, other, is_shared)) in steps.into_iter().enumerate() {
                let number = u64::from(other);
                for tables in [&mut tables, &mut searching] {
                    match step {
                        0 => tables.begin_fork(task),
                        1 => tables.exit(task),
                        2 => tables.fork(task, other, is_shared),
                        3 => tables.remove(task, Some(number)),
                        _ => tables.insert(task, number, open),
                    }
                }
                searching.last = None;
                prop_assert_eq!(tables.get(task, number), searching.get(task, number));
                searching.last = None;
                prop_assert_eq!(tables.get(other, number), searching.get(other, number));
                prop_assert_eq!(tables.descriptors, searching.descriptors);
                // Leaves the task of this step as the last.
                tables.get(task, 0);
                searching.get(task, 0);
                searching.last = None;
            }
        }
    }
}
