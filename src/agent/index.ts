export { Agent, type AgentResult, type AgentStream } from './agent.ts'
export type { AgentOptions } from './agent-options.ts'
export { requireBuiltIns } from './built-in-tools/built-in-tools.ts'
export { modelExecutor } from './chain-executor.ts'
export {
  type CompactionStrategy,
  type ConversationLimits,
  dropOldest,
} from './conversation/compact.ts'
export {
  AgentError,
  AgentUsageError,
  ModelNotFoundError,
  PromptTemplateError,
  SubagentConfigError,
  SubagentDelegationError,
  SubagentError,
  SubagentNestingError,
  SubagentNotFoundError,
  SubagentTimeoutError,
  ToolNameError,
} from './errors.ts'
export { maxTurnsExceeded, runLoop } from './loop/run-loop.ts'
export type { McpChoice, McpServer } from './mcp-tools/servers.ts'
export {
  type PromptTemplate,
  type PromptText,
  promptText,
  type TemplateValue,
} from './prompt-template.ts'
export {
  type ModelObject,
  type ModelProvider,
  resolveModel,
  type ResolveModelOptions,
} from './resolve-model.ts'
export {
  type AgentSession,
  openSession,
  type RunOptions,
  type SessionOptions,
  type SessionPart,
} from './session.ts'
export { readAgentFile } from './subagents/agent-file.ts'
export { checkModels, checkNames, checkReferences, checkTools } from './subagents/check-agents.ts'
export type {
  DelegateOptions,
  PermissionMode,
  SubagentConfig,
  SubagentOverrides,
} from './subagents/config.ts'
export {
  type DelegationHandle,
  type DelegationStatus,
  type EndReason,
  requireSuccess,
  type SubagentResult,
} from './subagents/delegation.ts'
export {
  type AgentDiscovery,
  type AgentInfo,
  agentPlaces,
  discoverAgents,
  type DiscoverAgentsOptions,
  readAgentAt,
  subagentNotFound,
} from './subagents/discover-agents.ts'
export {
  type Subagent,
  type SubagentListing,
  SubagentManager,
  type SubagentManagerOptions,
} from './subagents/manager.ts'
export type { SubagentParent } from './subagents/parent.ts'
export { type SchemaType, tool, type ToolDefinition, toWireNames, wireName } from './tool.ts'
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
} from './types.ts'
export { createUsageLedger, type UsageLedger, type UsageReport } from './usage.ts'
