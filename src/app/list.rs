//! A list whose rows keep their place while a person reads.
//!
//! Owns order, cursor and what arrived meanwhile. The cursor is an identity, never a position:
//! when fifty newer rows come in, it is still on the same record. Must not know what a row is.

use super::keymap::Motion;

/// A frozen order with a cursor on an identity.
#[derive(Debug, Clone)]
pub struct ListState<Id> {
    order: Vec<Id>,
    cursor: Option<Id>,
    arrived: usize,
    gone: bool,
}

impl<Id> Default for ListState<Id> {
    fn default() -> Self {
        Self { order: Vec::new(), cursor: None, arrived: 0, gone: false }
    }
}

/// Whether a person is reading the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Rows keep their place; new ones are announced.
    Yes,
    /// Rows are taken in and sorted.
    No,
}

impl<Id: Clone + PartialEq> ListState<Id> {
    /// Takes the rows there are now, in the wanted order.
    pub fn sync(&mut self, wanted: Vec<Id>, reading: Reading) {
        let place = self.position();
        if reading == Reading::No || self.order.is_empty() {
            self.arrived = 0;
            self.order = wanted;
        } else {
            self.order.retain(|id| wanted.contains(id));
            self.arrived = wanted.len().saturating_sub(self.order.len());
            if self.order.is_empty() {
                self.arrived = 0;
                self.order = wanted;
            }
        }
        let still = self.cursor.as_ref().is_some_and(|id| self.order.contains(id));
        if !still {
            self.gone = self.cursor.is_some();
            let last = self.order.len().saturating_sub(1);
            self.cursor = self.order.get(place.unwrap_or(0).min(last)).cloned();
        }
    }

    /// Rows in their order.
    pub fn order(&self) -> &[Id] {
        &self.order
    }

    /// The identity under the cursor.
    pub fn cursor(&self) -> Option<&Id> {
        self.cursor.as_ref()
    }

    /// Where the cursor is.
    pub fn position(&self) -> Option<usize> {
        let cursor = self.cursor.as_ref()?;
        self.order.iter().position(|id| id == cursor)
    }

    /// How many rows wait to be taken in.
    pub fn arrived(&self) -> usize {
        self.arrived
    }

    /// True once, after the row under the cursor left.
    pub fn take_gone(&mut self) -> bool {
        std::mem::take(&mut self.gone)
    }

    /// Puts the cursor on a row, if it is there.
    pub fn select(&mut self, id: &Id) {
        if self.order.contains(id) {
            self.cursor = Some(id.clone());
        }
    }

    /// Moves the cursor; `page` is how many rows are on screen.
    pub fn go(&mut self, motion: Motion, page: usize) {
        let last = self.order.len().saturating_sub(1);
        let to = moved(self.position().unwrap_or(0), motion, page, last);
        self.cursor = self.order.get(to).cloned();
    }
}

/// A position after a motion, between 0 and `last`.
pub fn moved(from: usize, motion: Motion, page: usize, last: usize) -> usize {
    let page = page.max(1);
    let half = (page / 2).max(1);
    match motion {
        Motion::Down => from.saturating_add(1),
        Motion::Up => from.saturating_sub(1),
        Motion::First => 0,
        Motion::Last => last,
        Motion::HalfDown => from.saturating_add(half),
        Motion::HalfUp => from.saturating_sub(half),
        Motion::PageDown => from.saturating_add(page),
        Motion::PageUp => from.saturating_sub(page),
    }
    .min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_place_and_new_ones_are_announced() {
        let mut list = ListState::default();
        list.sync(vec![1, 2, 3], Reading::Yes);
        list.select(&2);
        list.sync((1..=53).rev().collect(), Reading::Yes);
        assert_eq!((list.order(), list.cursor(), list.arrived()), (&[1, 2, 3][..], Some(&2), 50));
        list.sync((1..=53).rev().collect(), Reading::No);
        assert_eq!((list.cursor(), list.position(), list.arrived()), (Some(&2), Some(51), 0));
    }

    #[test]
    fn a_row_that_left_leaves_the_cursor_on_its_neighbour_and_says_so() {
        let mut list = ListState::default();
        list.sync(vec![1, 2, 3], Reading::Yes);
        list.select(&2);
        list.sync(vec![1, 3], Reading::Yes);
        assert_eq!(list.cursor(), Some(&3));
        assert!(list.take_gone());
        assert!(!list.take_gone());
        list.sync(vec![], Reading::Yes);
        assert_eq!(list.cursor(), None);
    }

    #[test]
    fn motions_stay_inside() {
        assert_eq!(moved(3, Motion::PageDown, 10, 5), 5);
        assert_eq!(moved(3, Motion::HalfUp, 10, 5), 0);
        assert_eq!(moved(0, Motion::Down, 0, 0), 0);
    }
}
