//! Middleware as definitions tell of it: which stages somebody has hooks for.

use serde::{Deserialize, Serialize};

/// Which stages somebody has a hook for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "one flag per stage, as the host reports them")]
pub struct HookFlags {
    pub before_model: bool,
    pub after_model: bool,
    pub before_tool: bool,
    pub after_tool: bool,
    pub check_nested_tool: bool,
    pub observe_nested_result: bool,
    pub wrap_tool: bool,
    /// Some wrap layer is not safe to run concurrently.
    pub serial: bool,
}

impl HookFlags {
    pub fn and(self, more: Self) -> Self {
        Self {
            before_model: self.before_model || more.before_model,
            after_model: self.after_model || more.after_model,
            before_tool: self.before_tool || more.before_tool,
            after_tool: self.after_tool || more.after_tool,
            check_nested_tool: self.check_nested_tool || more.check_nested_tool,
            observe_nested_result: self.observe_nested_result || more.observe_nested_result,
            wrap_tool: self.wrap_tool || more.wrap_tool,
            serial: self.serial || more.serial,
        }
    }

    pub fn has(self, stage: Stage) -> bool {
        match stage {
            Stage::BeforeModel => self.before_model,
            Stage::AfterModel => self.after_model,
            Stage::BeforeTool => self.before_tool,
            Stage::AfterTool => self.after_tool,
            Stage::CheckNestedTool => self.check_nested_tool,
            Stage::ObserveNestedResult => self.observe_nested_result,
        }
    }
}

/// A stage of the middleware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    BeforeModel,
    AfterModel,
    BeforeTool,
    AfterTool,
    CheckNestedTool,
    ObserveNestedResult,
}
