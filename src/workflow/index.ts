export { afterCall } from './after-call.ts'
export { answerJson, isDeepJson, isDeepValue } from './answer-json.ts'
export type { CallLogEntry, CallLogReading, LoggedCall } from './call-log.ts'
export { checkWorkflows } from './check-workflows.ts'
export {
  checkDefinition,
  checkDefinitionText,
  definitionText,
  type EditedFile,
  editWorkflows,
  type WorkflowEdit,
} from './edit-workflows.ts'
export {
  SessionNotFoundError,
  WorkflowExistsError,
  WorkflowInvalidError,
  WorkflowNotConfirmedError,
  WorkflowNotFoundError,
  WorkflowPrerequisiteError,
} from './errors.ts'
export { type MatchReason, matchWorkflows, type NotInstalled, type WorkflowMatch } from './match.ts'
export type {
  GatedCall,
  JsonObject,
  Prerequisite,
  ScopeValues,
  WorkflowDefinition,
  WorkflowMode,
  WorkflowReading,
  WorkflowTool,
  WorkflowTriggers,
} from './model.ts'
export { workflowModes } from './model.ts'
export type { PlannedStep, StepStatus } from './plan-step.ts'
export { type GatePlan, planGate } from './plan.ts'
export { readWorkflows, type ReadWorkflowsOptions, type WorkflowFile } from './read-workflows.ts'
export {
  type GateOptions,
  type GateReport,
  type GateStep,
  type PrerequisiteCaller,
  type PrerequisiteResult,
  runGate,
} from './run-gate.ts'
export { forgetSessions } from './forget-sessions.ts'
export { listSessions, type SessionSummary } from './list-sessions.ts'
export {
  type OpenSessionOptions,
  openSession,
  type SessionChange,
  type SessionReading,
  type SessionStore,
} from './session.ts'
export { type SessionPlace, sessionPlace } from './session-place.ts'
export { type Completion, completedCount, type SessionState } from './session-state.ts'
export { workflowTemplates, type WorkflowTemplate } from './templates.ts'
export { listLines, multipleLine, notInstalledLine, noWorkflowsText } from './texts.ts'
export { loadWorkflows, workflowFiles, workflowsPath } from './workflow-files.ts'
export { workflowTool } from './workflow-tool.ts'
