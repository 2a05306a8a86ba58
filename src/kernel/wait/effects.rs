//! Commands that wait for an answer, by their ids. An id names a place and how often the place has been taken, so a late answer
//! reaches no younger command.

use std::rc::Rc;
use std::task::Waker;

use crate::kernel::protocol::{Given, Letter};
use crate::kernel::value::EffectId;

/// How many bits of an id name the place: more commands than that never wait at once.
const PLACE_BITS: u32 = 20;
/// Ids are whole numbers on both sides.
const ID_MAX: u32 = i32::MAX as u32;

#[derive(Default)]
pub struct Effects {
    places: Vec<Place>,
    free: Vec<u32>,
    waiting: usize,
}

#[derive(Default)]
struct Place {
    /// The id with which it is taken, or was last.
    id: u32,
    state: State,
    receiver: Option<Rc<dyn Receiver>>,
}

#[derive(Default)]
enum State {
    #[default]
    Free,
    Waiting(Option<Waker>),
    Answered(Given),
}

/// What reads the letters of a command while it runs on the host.
pub trait Receiver {
    fn receive(&self, letter: Letter);

    /// The idempotency key of the call, where the command runs a body.
    fn idempotency_key(&self) -> Option<String> {
        None
    }
}

impl Effects {
    pub fn open(&mut self) -> EffectId {
        let index = self.free.pop().unwrap_or_else(|| {
            let index = u32::try_from(self.places.len()).expect("memory ends first");
            self.places.push(Place { id: index, ..Place::default() });
            index
        });
        let place = &mut self.places[index as usize];
        place.state = State::Waiting(None);
        self.waiting += 1;
        EffectId(place.id)
    }

    /// Delivers an answer; one that nobody waits for any longer is dropped.
    pub fn answer(&mut self, id: EffectId, given: Given) {
        let Some(place) = self.place(id) else { return };
        if let State::Waiting(waker) = &mut place.state {
            let waker = waker.take();
            place.state = State::Answered(given);
            self.waiting -= 1;
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// The answer, once it is there.
    pub fn poll(&mut self, id: EffectId, waker: &Waker) -> Option<Given> {
        let place = self.place(id).expect("whoever waits for it holds its place");
        match &mut place.state {
            State::Waiting(waiting) => {
                match waiting {
                    Some(waiting) => waiting.clone_from(waker),
                    None => *waiting = Some(waker.clone()),
                }
                None
            }
            State::Answered(_) => {
                let State::Answered(given) = std::mem::take(&mut place.state) else { unreachable!("it was answered") };
                Some(given)
            }
            State::Free => panic!("an answer is taken once"),
        }
    }

    /// Nobody holds the id any longer. Tells whether it still waits, and hands over its receiver, to be dropped when nobody looks
    /// here.
    pub fn close(&mut self, id: EffectId) -> (bool, Option<Rc<dyn Receiver>>) {
        let Some(place) = self.place(id) else { return (false, None) };
        let waits = matches!(place.state, State::Waiting(_));
        let receiver = place.receiver.take();
        place.state = State::Free;
        place.id = (place.id + (1 << PLACE_BITS)) & ID_MAX;
        self.waiting -= usize::from(waits);
        self.free.push(index(id));
        (waits, receiver)
    }

    pub fn set_receiver(&mut self, id: EffectId, receiver: Rc<dyn Receiver>) {
        if let Some(place) = self.place(id) {
            place.receiver = Some(receiver);
        }
    }

    /// Returned, so that it is dropped when nobody looks here.
    pub fn take_receiver(&mut self, id: EffectId) -> Option<Rc<dyn Receiver>> {
        self.place(id)?.receiver.take()
    }

    pub fn receiver(&self, id: EffectId) -> Option<Rc<dyn Receiver>> {
        let place = self.places.get(index(id) as usize).filter(|place| place.id == id.0)?;
        place.receiver.clone()
    }

    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    #[cfg(test)]
    pub fn receivers(&self) -> usize {
        self.places.iter().filter(|place| place.receiver.is_some()).count()
    }

    fn place(&mut self, id: EffectId) -> Option<&mut Place> {
        self.places.get_mut(index(id) as usize).filter(|place| place.id == id.0)
    }
}

fn index(id: EffectId) -> u32 {
    id.0 & ((1 << PLACE_BITS) - 1)
}
