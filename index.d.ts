/**
 * The public types of keel-native, by topic. Each symbol is documented where it is declared.
 *
 * Codes such as NT-14 or D-6 name the rule that a behaviour comes from; the tests are named after the same rules.
 */

// Schemas
export type {
  AnySchema,
  Awaitable,
  InferInput,
  InferOutput,
  Json,
  JsonSchema,
  Schema,
  StandardIssue,
  StandardResult,
  StandardSchemaV1,
} from "./types/schema.js";

// Parts
export { definePart } from "./types/part.js";
export type { Deliverable, Part, PartOptions, PartOutput, PartValue } from "./types/part.js";

// Tools
export { defineTool, toolError, toolResult } from "./types/tool.js";
export type {
  Concurrency,
  InjectedArgument,
  Tool,
  ToolControl,
  ToolEffects,
  ToolExposure,
  ToolOptions,
  ToolReply,
  ToolResult,
  ToolResultOptions,
  ToolReturn,
  ToolValue,
} from "./types/tool.js";
export type { BudgetLeft, CallOptions, ProgressUpdate, ToolContext, TurnContext } from "./types/context.js";
export type { Access, AccessRule, Identity } from "./types/access.js";

// Agents and sources
export { defineAgent, defineSource } from "./types/agent.js";
export type { Agent, AgentOptions, Source, SourceOptions } from "./types/agent.js";
export type { Budget, Limits, ToolTimeout, TreeLimits } from "./types/limits.js";

// Middleware, the host's gates, the effect ledger
export {
  defineMiddleware,
  humanApproval,
  planMode,
  repeatGuard,
  toolAllowlist,
  toolPolicy,
} from "./types/middleware.js";
export type {
  HookCall,
  HookContext,
  HumanApprovalOptions,
  Middleware,
  MiddlewareHooks,
  MiddlewareOptions,
  NextCall,
  NextLayer,
  PlanModeOptions,
  RunMode,
  SideEffect,
  StepReply,
  ToolPolicy,
  ToolPolicyOptions,
  Verdict,
} from "./types/middleware.js";
export type {
  Approval,
  Authorization,
  AuthorizeRequest,
  Decision,
  Injected,
  Security,
  Workspace,
} from "./types/security.js";
export { memoryLedger } from "./types/ledger.js";
export type { Ledger, LedgerEnd, LedgerRow, LedgerStart, MemoryLedger } from "./types/ledger.js";

// Delegation
export { asTool } from "./types/delegation.js";
export type {
  AsToolOptions,
  BriefSchema,
  DelegationDeliverable,
  DelegationFailure,
  DelegationResult,
  DelegationText,
  Forward,
} from "./types/delegation.js";

// Models and messages
export type {
  AiSdkModel,
  AssistantContent,
  AssistantMessage,
  ContentPart,
  FileContent,
  FinishReason,
  FinishReasonGiven,
  GenerateOptions,
  LanguageModel,
  Model,
  ModelMessage,
  ModelOptions,
  ModelReply,
  ModelReplyDelta,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelUsage,
  ProviderOptions,
  ReasoningContent,
  SystemMessage,
  TextContent,
  ToolCallContent,
  ToolChoice,
  ToolMessage,
  ToolResultContent,
  UserMessage,
} from "./types/model.js";

// Running turns, and their records
export { createKeel, run, stream } from "./types/keel.js";
export type {
  Capture,
  Keel,
  KeelOptions,
  PayloadKind,
  RecordFilter,
  RecordPage,
  Records,
  RecordTree,
  StopOptions,
  TurnInput,
} from "./types/keel.js";
export type {
  BudgetRecord,
  BudgetUsed,
  Completed,
  CompletedResult,
  Failed,
  FinalOutcome,
  Outcome,
  Pending,
  ResumeOptions,
  RunOptions,
  Stopped,
  SubmitRecord,
  Suspended,
  TurnRecord,
  TurnResult,
  TurnStatus,
  Usage,
} from "./types/turn.js";
export type { Clock } from "./types/clock.js";
export type { TurnStream } from "./types/stream.js";

// Events
export type {
  CallFields,
  EventBase,
  EventError,
  EventOf,
  KeelEvent,
  KeelEventFields,
  NestedCallsMetadata,
  NestedCallSummary,
  StepFields,
} from "./types/event.js";

// Errors
export { KeelError } from "./types/error.js";
export type {
  CallCode,
  Cause,
  CauseCode,
  CauseFields,
  ChildFailedCause,
  ModelErrorCause,
  OwnCause,
  DefinitionCode,
  ErrorCode,
  Issue,
  KeelErrorOptions,
} from "./types/error.js";
