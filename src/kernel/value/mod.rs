//! What everything is made of: JSON text, texts, ids, usage. Uses nothing of the kernel.

mod id;
mod json;
mod panic_message;
pub mod text;
mod usage;

pub use self::id::{CallId, CallIds, EffectId, KeptId, Ticket, TurnId, TurnKey};
pub use self::json::Json;
pub use self::panic_message::panic_message;
pub use self::text::Text;
pub use self::usage::Usage;
