//! Issues that come from elsewhere: a Standard Schema on the host's side, or a single finding. Bounded like our own.

use serde::{Deserialize, Deserializer};

use super::issue::Issues;

use crate::kernel::value::Text;

impl Issues {
    /// One issue of the whole value.
    #[must_use]
    pub fn whole(message: &str) -> Self {
        Self::at("", message)
    }

    /// One issue at a JSON Pointer.
    #[must_use]
    pub fn at(path: &str, message: &str) -> Self {
        let mut issues = Self::default();
        issues.push(path, message);
        issues
    }
}

impl<'de> Deserialize<'de> for Issues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Given {
            path: Text,
            message: Text,
        }
        let given = Vec::<Given>::deserialize(deserializer)?;
        let mut issues = Self::default();
        for Given { path, message } in given {
            issues.push(&path.0, &message.0);
        }
        Ok(issues)
    }
}
