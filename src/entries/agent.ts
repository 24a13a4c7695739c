export { Agent, type AgentResult, type AgentStream } from '#agent/agent'
export type { AgentOptions, McpChoice, McpServer } from '#agent/agent-options'
export { type CompactionStrategy, dropOldest, summarizeOldest } from '#agent/conversation/compact'
export {
  type Conversation,
  conversationFiles,
  type ConversationFilesOptions,
  type ConversationInfo,
  type ConversationStore,
} from '#agent/conversation/store'
export {
  AgentError,
  AgentUsageError,
  ConversationError,
  ModelNotFoundError,
  PromptTemplateError,
  SubagentConfigError,
  SubagentDelegationError,
  SubagentError,
  SubagentNestingError,
  SubagentNotFoundError,
  SubagentTimeoutError,
  ToolNameError,
} from '#agent/errors'
export { type PromptTemplate, promptText } from '#agent/prompt-template'
export { type ModelProvider, resolveModel, type ResolveModelOptions } from '#agent/resolve-model'
export type { PermissionMode } from '#agent/approval/permission-mode'
export type { DelegateOptions, SubagentConfig, SubagentOverrides } from '#agent/subagents/config'
export type { SubagentParent } from '#agent/subagents/parent'
export {
  type DelegationHandle,
  type DelegationStatus,
  requireSuccess,
  type SubagentResult,
} from '#agent/subagents/delegation'
export {
  type Subagent,
  SubagentManager,
  type SubagentManagerOptions,
} from '#agent/subagents/manager'
export { tool, type ToolDefinition } from '#agent/tool'
export type {
  AgentEvent,
  AgentTool,
  Approval,
  ApprovalRequest,
  Approver,
  ModelObject,
  Permission,
  RunOptions,
  SchemaType,
  TokenUsage,
  ToolContext,
  WaitingCall,
} from '#agent/types'
export { type UsageReport } from '#agent/usage'
