//! What a group of rows is given: where its rows go.

use super::machine;
use super::row::{Goal, Measured, Row, Samples, Unit};

/// The rows of one group, in the order in which they were measured.
pub struct Bench {
    group: &'static str,
    pub rows: Vec<Row>,
}

impl Bench {
    pub fn new(group: &'static str) -> Self {
        Self { group, rows: Vec::new() }
    }

    /// Ours beside something else; the goal is their ratio.
    pub fn beside(&mut self, what: &str, beside: &str, goal: Goal, (ours, theirs): (Samples, Samples)) {
        self.push(what, Measured::Beside { beside: beside.into(), ours, theirs }, goal);
    }

    /// A value of its own.
    pub fn alone(&mut self, what: &str, unit: Unit, goal: Goal, ours: Samples) {
        self.push(what, Measured::Alone { unit, ours }, goal);
    }

    /// A time at two sizes; the goal is the exponent of its growth.
    pub fn growth(&mut self, what: &str, with: &str, goal: Goal, small: (usize, Samples), large: (usize, Samples)) {
        self.growth_of(Unit::Seconds, what, with, goal, small, large);
    }

    /// The same of something that is no time.
    pub fn growth_of(
        &mut self,
        unit: Unit,
        what: &str,
        with: &str,
        goal: Goal,
        small: (usize, Samples),
        large: (usize, Samples),
    ) {
        self.push(what, Measured::Growth { with: with.into(), unit, small, large }, goal);
    }

    fn push(&mut self, what: &str, measured: Measured, goal: Goal) {
        let row = Row { what: what.into(), measured, goal, load: machine::load() };
        eprintln!("{}", row.line(self.group));
        self.rows.push(row);
    }
}
