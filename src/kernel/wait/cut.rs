//! What cuts work off before it is done: a stop, a deadline, or a caller that ended.

use thiserror::Error;

use crate::kernel::program::Ceiling;
use crate::kernel::value::Json;

/// Why something was cut off.
#[derive(Clone, Debug, Error)]
pub enum Cut {
    #[error("the turn was stopped")]
    Stopped { reason: Json },
    #[error("the turn ran out of time")]
    OutOfTime { ceiling: Ceiling },
    #[error("the calling turn ended")]
    CallerEnded,
    #[error("the call ran longer than {max_ms} ms")]
    ToolTimeout { max_ms: f64 },
    #[error("the model sent nothing for {max_ms} ms")]
    ModelTimeout { max_ms: f64 },
    #[error("the hook ran longer than {max_ms} ms")]
    HookTimeout { max_ms: f64 },
    /// A fault of the kernel or of its host: nothing of the tree goes on.
    #[error("{message}")]
    Fault { message: String },
}

impl Cut {
    /// The code of the error with which a signal is aborted and a dropped call is answered (D-12).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stopped { .. } => "CANCELLED",
            Self::OutOfTime { .. }
            | Self::ToolTimeout { .. }
            | Self::ModelTimeout { .. }
            | Self::HookTimeout { .. } => "TIMEOUT",
            Self::CallerEnded => "TOOL_FAILED",
            Self::Fault { .. } => "INTERNAL",
        }
    }
}
