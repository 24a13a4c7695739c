export { Agent, type AgentResult, type AgentStream } from './agent.ts'
export {
  AgentError,
  AgentUsageError,
  ModelNotFoundError,
  PromptTemplateError,
  ToolNameError,
} from './agent-errors.ts'
export type { AgentOptions } from './agent-options.ts'
export { modelExecutor, type ModelExecutorOptions } from './chain-executor.ts'
export {
  SubagentConfigError,
  SubagentDelegationError,
  SubagentError,
  SubagentNestingError,
  SubagentNotFoundError,
  SubagentTimeoutError,
} from './errors.ts'
export type {
  AgentEvent,
  AgentTool,
  Approval,
  ApprovalRequest,
  Approver,
  CallSettings,
  LoopOutcome,
  LoopRequest,
  Permission,
  RunStatus,
  TokenUsage,
  ToolContext,
  ToolOrigin,
  UsageEntry,
} from './model.ts'
export { requireBuiltIns } from './hands/hands.ts'
export type { McpChoice, McpServer } from './mcp-tools/server-choice.ts'
export { maxTurnsExceeded } from './loop/limits.ts'
export { runLoop } from './loop/run-loop.ts'
export { type CompactionStrategy, dropOldest } from './conversation/compact.ts'
export type { ConversationLimits } from './conversation/compactor.ts'
export {
  type ModelObject,
  type ModelProvider,
  resolveModel,
  type ResolveModelOptions,
} from './models/resolve-model.ts'
export {
  type PromptTemplate,
  type PromptText,
  promptText,
  type TemplateValue,
} from './prompt/template.ts'
export { type AgentSession, openSession, type RunOptions, type SessionOptions } from './session.ts'
export type { SessionPart } from './session-part.ts'
export { type AgentFileReading, readAgentFile } from './subagents/agent-file.ts'
export type { PermissionMode, SubagentConfig, SubagentOverrides } from './subagents/config.ts'
export type { DelegateOptions } from './subagents/delegate-options.ts'
export type { DelegationHandle, DelegationStatus } from './subagents/delegation.ts'
export { checkModels } from './subagents/check-models.ts'
export { checkNames } from './subagents/check-names.ts'
export { checkReferences, type DefinedAgent } from './subagents/check-references.ts'
export { checkTools, type KnownTools } from './subagents/check-tools.ts'
export {
  type AgentDiscovery,
  type AgentInfo,
  type AgentPlace,
  agentPlaces,
  discoverAgents,
  type DiscoverAgentsOptions,
  readAgentAt,
  type WithheldAgent,
} from './subagents/discover-agents.ts'
export { subagentNotFound } from './subagents/not-found.ts'
export { SubagentManager } from './subagents/manager.ts'
export type {
  Subagent,
  SubagentListing,
  SubagentManagerOptions,
} from './subagents/manager-types.ts'
export type { SubagentParent } from './subagents/parent.ts'
export { requireSuccess } from './subagents/require-success.ts'
export type { EndReason, SubagentResult } from './subagents/result.ts'
export { type SchemaType, tool, type ToolDefinition } from './tool.ts'
export { toWireNames, wireName, type WireNames } from './tool-names.ts'
export { createUsageLedger, type UsageLedger, type UsageReport } from './usage/ledger.ts'
