export { afterCall } from './gate.ts'
export { answerJson, isDeepJson, isDeepValue } from './gate.ts'
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
export type { PlannedStep, StepStatus } from './plan.ts'
export { type GatePlan, planGate } from './plan.ts'
export { readWorkflows, type ReadWorkflowsOptions, type WorkflowFile } from './read-workflows.ts'
export {
  type GateOptions,
  type GateReport,
  type GateStep,
  type PrerequisiteCaller,
  type PrerequisiteResult,
  runGate,
} from './gate.ts'
export { forgetSessions } from './session.ts'
export { listSessions, type SessionSummary } from './session.ts'
export {
  type OpenSessionOptions,
  openSession,
  type SessionChange,
  type SessionReading,
  type SessionStore,
} from './session.ts'
export { type SessionPlace, sessionPlace } from './session.ts'
export { type Completion, completedCount, type SessionState } from './session-file.ts'
export { workflowTemplates, type WorkflowTemplate } from './templates.ts'
export { listLines, multipleLine, notInstalledLine, noWorkflowsText } from './messages.ts'
export { loadWorkflows, workflowFiles, workflowsPath } from './read-workflows.ts'
export { workflowTool } from './tool-names.ts'
