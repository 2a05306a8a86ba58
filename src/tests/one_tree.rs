//! An engine with one tree, speaking text: what the script and the simulation drive.

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::{Broken, Engine, TreeId, read};
use crate::kernel::Kernel;
use crate::kernel::program::Program;
use crate::kernel::protocol::{Given, Input, Letter};
use crate::kernel::value::EffectId;
use crate::kernel::wait::Live;

/// A tree in an engine that others may share. Each call returns the commands that follow, as a JSON array.
pub struct OneTree {
    engine: Rc<RefCell<Engine>>,
    tree: Option<TreeId>,
}

impl OneTree {
    /// In an engine of its own.
    pub fn new(options: &str) -> Self {
        Self::within(&Rc::new(RefCell::new(Engine::new(options).expect("the options follow the protocol"))))
    }

    pub fn within(engine: &Rc<RefCell<Engine>>) -> Self {
        Self { engine: Rc::clone(engine), tree: None }
    }

    pub fn start(&mut self, program: &Rc<Program>, text: &str, now_ms: f64) -> Option<String> {
        self.try_start(program, text, now_ms).expect("the kernel starts")
    }

    /// # Errors
    /// The kernel breaks down.
    pub fn try_start(&mut self, program: &Rc<Program>, text: &str, now_ms: f64) -> Result<Option<String>, Broken> {
        let start = read(text).expect("the start follows the protocol");
        self.tree = Some(self.engine.borrow_mut().start(program, start, now_ms)?);
        Ok(self.take())
    }

    pub fn answer(&mut self, id: u32, text: String, now_ms: f64) -> Option<String> {
        self.give(id, Given::Text(text), now_ms)
    }

    pub fn give(&mut self, id: u32, given: Given, now_ms: f64) -> Option<String> {
        let tree = self.tree?;
        self.engine.borrow_mut().answer(tree, EffectId(id), given, now_ms).expect("the kernel holds");
        self.take()
    }

    pub fn letter(&mut self, id: u32, text: &str, now_ms: f64) -> Option<String> {
        let letter: Letter = read(text).expect("the letter follows the protocol");
        self.send(id, letter, now_ms)
    }

    pub fn send(&mut self, id: u32, letter: Letter, now_ms: f64) -> Option<String> {
        let tree = self.tree?;
        self.engine.borrow_mut().letter(tree, EffectId(id), letter, now_ms).expect("the kernel holds");
        self.take()
    }

    pub fn input(&mut self, text: &str, now_ms: f64) -> Option<String> {
        let input: Input = read(text).expect("the input follows the protocol");
        let tree = self.tree?;
        self.engine.borrow_mut().input(tree, input, now_ms).expect("the kernel holds");
        self.take()
    }

    pub fn fault(&mut self, message: &str) -> Option<String> {
        let tree = self.tree?;
        self.engine.borrow_mut().fault(tree, message.to_owned()).expect("the kernel holds");
        self.take()
    }

    /// The host has performed the last command.
    pub fn release(&mut self) {
        let Some(tree) = self.tree.take() else { return };
        self.engine.borrow_mut().release(tree);
    }

    pub fn query(&self, text: &str, now_ms: f64) -> String {
        self.engine.borrow().query(self.tree, text, now_ms).expect("the query follows the protocol")
    }

    /// What the kernel holds on to.
    pub fn live(&self) -> Live {
        let engine = self.engine.borrow();
        self.tree.and_then(|tree| engine.kernel(tree).map(Kernel::live)).unwrap_or_default()
    }

    /// How many turns were looked at for whether they stand still.
    pub fn looks(&self) -> u32 {
        let engine = self.engine.borrow();
        self.tree.and_then(|tree| engine.kernel(tree).map(Kernel::looks)).unwrap_or_default()
    }

    fn take(&self) -> Option<String> {
        let tree = self.tree?;
        let engine = self.engine.borrow();
        let kernel = engine.kernel(tree)?;
        kernel.commands().clear();
        kernel.commands().take_texts();
        kernel.take_text()
    }
}
