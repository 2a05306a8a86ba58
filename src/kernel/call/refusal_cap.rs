//! A calling call gets at most 8 nested calls refused; every later one is refused without being looked at, so that a tool
//! cannot loop on refusals that cost no budget. Admissions queue for what is left of the 8: valid fan-outs wait a
//! moment, and are never refused for coming at once.

use std::cell::Cell;

use tokio::sync::{Semaphore, SemaphorePermit};

const REFUSALS_MAX: u32 = 8;

/// The places are what is left of the 8, first come first served; a refusal keeps the place of its admission.
pub struct RefusalCap {
    places: Semaphore,
    refused: Cell<u32>,
    /// Refusals that came after their admission, while no place was free to keep.
    owed: Cell<u32>,
}

/// An admission under way. Dropped without a verdict, it counts for nothing.
pub struct Admission<'a> {
    cap: &'a RefusalCap,
    place: Option<SemaphorePermit<'a>>,
}

impl Default for RefusalCap {
    fn default() -> Self {
        Self { places: Semaphore::new(REFUSALS_MAX as usize), refused: Cell::default(), owed: Cell::default() }
    }
}

impl RefusalCap {
    /// Waits until an admission may begin; `None` when the cap is reached.
    pub async fn admit(&self) -> Option<Admission<'_>> {
        let place = self.places.acquire().await.ok()?;
        Some(Admission { cap: self, place: Some(place) })
    }

    /// Counts a refusal that came after the admission.
    pub fn refuse(&self) {
        if self.places.forget_permits(1) == 0 {
            self.owed.set(self.owed.get() + 1);
        }
        self.count();
    }

    fn count(&self) {
        self.refused.set(self.refused.get() + 1);
        if self.refused.get() >= REFUSALS_MAX {
            self.places.close();
        }
    }
}

impl Admission<'_> {
    pub fn refused(mut self) {
        if let Some(place) = self.place.take() {
            place.forget();
        }
        self.cap.count();
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        let owed = self.cap.owed.get();
        if owed > 0
            && let Some(place) = self.place.take()
        {
            self.cap.owed.set(owed - 1);
            place.forget();
        }
    }
}
