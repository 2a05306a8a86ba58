//! What a turn, or a whole tree, has spent. Steps and tool calls are reserved before they start, so they are never overspent;
//! tokens and cost are known afterwards and are checked before each model call (D-6).

use std::cell::Cell;
use std::rc::Rc;

use crate::kernel::program::{Budget, TreeCeilings};
use crate::kernel::value::Usage;

/// What a turn has spent.
#[derive(Debug, Default)]
pub struct Meter {
    steps: Cell<u32>,
    tool_calls: Cell<u32>,
    nested_calls: Cell<u32>,
}

impl Meter {
    /// Takes one step; false when the grant is spent.
    pub fn reserve_step(&self, budget: &Budget) -> bool {
        reserve(&self.steps, budget.steps_max())
    }

    pub fn release_step(&self) {
        self.steps.set(self.steps.get().saturating_sub(1));
    }

    /// Takes one call from the pool that model-issued and nested calls share.
    pub fn reserve_call(&self, budget: &Budget, nested: bool) -> bool {
        if self.tool_calls.get() + self.nested_calls.get() >= budget.tool_calls_max() {
            return false;
        }
        let counter = self.counter(nested);
        counter.set(counter.get() + 1);
        true
    }

    pub fn release_call(&self, nested: bool) {
        let counter = self.counter(nested);
        counter.set(counter.get().saturating_sub(1));
    }

    fn counter(&self, nested: bool) -> &Cell<u32> {
        if nested { &self.nested_calls } else { &self.tool_calls }
    }

    pub fn steps(&self) -> u32 {
        self.steps.get()
    }

    pub fn tool_calls(&self) -> u32 {
        self.tool_calls.get()
    }

    pub fn nested_calls(&self) -> u32 {
        self.nested_calls.get()
    }
}

fn reserve(spent: &Cell<u32>, max: u32) -> bool {
    if spent.get() >= max {
        return false;
    }
    spent.set(spent.get() + 1);
    true
}

/// A ceiling over a turn and all below it, charged by every turn of that tree (NT-25).
#[derive(Debug)]
pub struct TreeMeter {
    ceilings: TreeCeilings,
    /// The ceiling around this one; both bind.
    outer: Option<Rc<TreeMeter>>,
    steps: Cell<u32>,
    tool_calls: Cell<u32>,
    tokens: Cell<f64>,
    cost_usd: Cell<f64>,
}

impl TreeMeter {
    pub fn new(ceilings: TreeCeilings, outer: Option<Rc<Self>>) -> Self {
        Self {
            ceilings,
            outer,
            steps: Cell::default(),
            tool_calls: Cell::default(),
            tokens: Cell::default(),
            cost_usd: Cell::default(),
        }
    }

    /// A ceiling of its own inside the one around it, or that one alone.
    pub fn within(ceilings: Option<TreeCeilings>, outer: Option<Rc<Self>>) -> Option<Rc<Self>> {
        match ceilings {
            Some(ceilings) => Some(Rc::new(Self::new(ceilings, outer))),
            None => outer,
        }
    }

    /// Takes a step from this ceiling and all around it, or from none.
    ///
    /// # Errors
    /// Names the ceiling that is spent.
    pub fn reserve_step(&self) -> Result<(), TreeLimit> {
        if let Some(tokens) = self.ceilings.tokens.filter(|max| self.tokens.get() >= *max) {
            return Err(TreeLimit { what: "tokens", max: tokens });
        }
        if let Some(cost) = self.ceilings.cost_usd.filter(|max| self.cost_usd.get() >= *max) {
            return Err(TreeLimit { what: "costUsd", max: cost });
        }
        let max = self.ceilings.steps.unwrap_or(u32::MAX);
        if !reserve(&self.steps, max) {
            return Err(TreeLimit { what: "steps", max: max.into() });
        }
        let around = self.outer.as_ref().map_or(Ok(()), |outer| outer.reserve_step());
        if around.is_err() {
            self.steps.set(self.steps.get() - 1);
        }
        around
    }

    /// Takes a tool call from this ceiling and all around it, or from none.
    ///
    /// # Errors
    /// Names the ceiling that is spent.
    pub fn reserve_tool_call(&self) -> Result<(), TreeLimit> {
        let max = self.ceilings.tool_calls.unwrap_or(u32::MAX);
        if !reserve(&self.tool_calls, max) {
            return Err(TreeLimit { what: "toolCalls", max: max.into() });
        }
        let around = self.outer.as_ref().map_or(Ok(()), |outer| outer.reserve_tool_call());
        if around.is_err() {
            self.tool_calls.set(self.tool_calls.get() - 1);
        }
        around
    }

    pub fn release_tool_call(&self) {
        self.tool_calls.set(self.tool_calls.get().saturating_sub(1));
        if let Some(outer) = &self.outer {
            outer.release_tool_call();
        }
    }

    pub fn charge(&self, usage: &Usage) {
        self.tokens.set(self.tokens.get() + usage.total_tokens);
        self.cost_usd.set(self.cost_usd.get() + usage.cost_usd.unwrap_or(0.0));
        if let Some(outer) = &self.outer {
            outer.charge(usage);
        }
    }
}

/// A spent ceiling of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeLimit {
    pub what: &'static str,
    pub max: f64,
}
