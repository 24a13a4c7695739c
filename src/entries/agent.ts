export { Agent, type AgentResult, type AgentStream } from '../agent/agent.ts'
export type { AgentOptions, McpChoice, McpServer } from '../agent/agent-options.ts'
export {
  type CompactionStrategy,
  dropOldest,
  summarizeOldest,
} from '../agent/conversation/compact.ts'
export {
  type Conversation,
  conversationFiles,
  type ConversationFilesOptions,
  type ConversationInfo,
  type ConversationStore,
} from '../agent/conversation/store.ts'
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
} from '../agent/errors.ts'
export { type PromptTemplate, promptText } from '../agent/prompt-template.ts'
export {
  type ModelProvider,
  resolveModel,
  type ResolveModelOptions,
} from '../agent/resolve-model.ts'
export type {
  DelegateOptions,
  PermissionMode,
  SubagentConfig,
  SubagentOverrides,
  SubagentParent,
} from '../agent/subagents/config.ts'
export {
  type DelegationHandle,
  type DelegationStatus,
  requireSuccess,
  type SubagentResult,
} from '../agent/subagents/delegation.ts'
export {
  type Subagent,
  SubagentManager,
  type SubagentManagerOptions,
} from '../agent/subagents/manager.ts'
export { type SchemaType, tool, type ToolDefinition } from '../agent/tool.ts'
export type {
  AgentEvent,
  AgentTool,
  Approval,
  ApprovalRequest,
  Approver,
  ModelObject,
  Permission,
  RunOptions,
  TokenUsage,
  ToolContext,
  WaitingCall,
} from '../agent/types.ts'
export { type UsageReport } from '../agent/usage.ts'
