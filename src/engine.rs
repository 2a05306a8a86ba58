//! One keel: its kernels, one for each tree, by number, and the store of trees that are over. What a host (Node, a test) talks to.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::kernel::Kernel;
use crate::kernel::program::{KeelOptions, Program};
use crate::kernel::protocol::{Given, Input, Letter, Start};
use crate::kernel::value::{EffectId, panic_message};
use crate::kernel::wait::Moment;
use crate::query;
use crate::store::memory::MemoryStore;

/// One keel.
pub struct Engine {
    options: Rc<KeelOptions>,
    /// Trees of which the host has not heard the end.
    trees: BTreeMap<TreeId, Box<Kernel>>,
    next: TreeId,
    pub(crate) store: MemoryStore,
}

/// A tree as the host names it. Counted, so that what comes late finds no younger one.
pub type TreeId = u32;

/// The host sent what is not of the protocol.
#[derive(Debug, Error)]
#[error("the host broke the protocol: {0}")]
pub struct BrokenProtocol(#[from] serde_json::Error);

/// The kernel of a tree panicked outside of its turns. The tree is gone.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct Broken {
    /// What the panic said.
    pub message: String,
}

impl Engine {
    /// # Errors
    /// The options are not [`KeelOptions`].
    pub fn new(options: &str) -> Result<Self, BrokenProtocol> {
        let options: KeelOptions = serde_json::from_str(options)?;
        let store = MemoryStore::new(options.keep_trees);
        Ok(Self { options: Rc::new(options), trees: BTreeMap::new(), next: 0, store })
    }

    /// Opens a tree, with a kernel of its own; its commands wait there.
    ///
    /// # Errors
    /// The kernel broke down.
    pub fn start(&mut self, program: &Rc<Program>, start: Start, now_ms: f64) -> Result<TreeId, Broken> {
        let options = Rc::clone(&self.options);
        let kernel = guarded(|| Kernel::start(options, program, start, Moment::from_ms(now_ms)))?;
        // Numbers come round after four thousand million trees, some of which may still stand.
        while self.trees.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        self.trees.insert(id, Box::new(kernel));
        Ok(id)
    }

    /// Answers a command of a tree. What nobody waits for any longer is ignored, as is a tree that is over.
    ///
    /// # Errors
    /// The kernel broke down.
    pub fn answer(&mut self, tree: TreeId, id: EffectId, given: Given, now_ms: f64) -> Result<(), Broken> {
        self.tell(tree, |kernel| kernel.answer(id, given, Moment::from_ms(now_ms)))
    }

    /// Delivers what a command sends while it runs on the host.
    ///
    /// # Errors
    /// The kernel broke down.
    pub fn letter(&mut self, tree: TreeId, id: EffectId, letter: Letter, now_ms: f64) -> Result<(), Broken> {
        self.tell(tree, |kernel| kernel.letter(id, letter, Moment::from_ms(now_ms)))
    }

    /// # Errors
    /// The kernel broke down.
    pub fn input(&mut self, tree: TreeId, input: Input, now_ms: f64) -> Result<(), Broken> {
        self.tell(tree, |kernel| kernel.input(input, Moment::from_ms(now_ms)))
    }

    /// Ends a tree for a fault of the kernel or of the host: its turns end as `INTERNAL`, and nothing of it runs on.
    ///
    /// # Errors
    /// The kernel broke down over it.
    pub fn fault(&mut self, tree: TreeId, message: String) -> Result<(), Broken> {
        self.tell(tree, |kernel| kernel.fault(message))
    }

    /// The kernel of a tree, whose commands are to be taken.
    pub fn kernel(&self, tree: TreeId) -> Option<&Kernel> {
        self.trees.get(&tree).map(|kernel| &**kernel)
    }

    /// Every tree of which the host has not heard the end.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.trees.values().map(|kernel| &**kernel)
    }

    /// The host has performed all that a tree had to say, or gives it up: one that is over goes to the store. Until then its kernel
    /// answers what bodies send that do not know yet that they are cut off.
    pub fn release(&mut self, tree: TreeId) {
        let Some(kernel) = self.trees.remove(&tree) else { return };
        if kernel.is_over() {
            self.store.put(kernel.turns());
        }
        // Its guards may break down over what broke it.
        let _gone = guarded(|| drop(kernel));
    }

    /// Looks something up as of now, without changing anything; JSON text, `null` when it is not there. `tree`: the tree that is
    /// asked about, where it is not over.
    ///
    /// # Errors
    /// The text is not a query.
    pub fn query(&self, tree: Option<TreeId>, text: &str, now_ms: f64) -> Result<String, BrokenProtocol> {
        query::answer(self, tree, text, Moment::from_ms(now_ms))
    }

    fn tell(&mut self, tree: TreeId, tell: impl FnOnce(&Kernel)) -> Result<(), Broken> {
        let Some(kernel) = self.trees.get(&tree) else { return Ok(()) };
        guarded(|| tell(kernel))
    }
}

/// Text of the protocol in its type.
///
/// # Errors
/// It is something else.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, BrokenProtocol> {
    Ok(serde_json::from_str(text)?)
}

/// A panic is a fault of ours. It ends one tree, never its neighbours.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Broken> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| Broken { message: panic_message(&*panic) })
}
