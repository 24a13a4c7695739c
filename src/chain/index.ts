export { agentExecutor, type AgentExecutorOptions, type StepContent } from './agent-executor.ts'
export { cancelRun } from './decisions.ts'
export { recordDecision, waitingGate } from './decisions.ts'
export { createDiskLookup, type DiskLookupOptions } from './lookup.ts'
export type {
  CancelledStep,
  ChainCall,
  ChainResult,
  Ended,
  Engine,
  FinishedOutcome,
  Outcome,
  Running,
  SuspendedOutcome,
  Suspension,
  TaskCall,
} from './engine.ts'
export {
  ApprovalRefusedError,
  ChainError,
  ChainPlanError,
  RunBusyError,
  RunNotFoundError,
  RunStateError,
  runNotFound,
} from './errors.ts'
export type { ChainEvent, EventListener } from './engine.ts'
export type { Executor, StepAnswer, StepRequest } from './executor.ts'
export { runChain } from './interpreter.ts'
export { sandboxForeseen, sandboxHint } from './render-plan.ts'
export type { Refusal, RunConfinement } from './script-executor.ts'
export { createJournalEngine, type JournalEngine } from './journal-engine.ts'
export type { JournalEngineOptions } from './journal-core.ts'
export type { ChainLookup, SkillFacts, SkillReport } from './lookup.ts'
export type { StepResolution } from './resolve.ts'
export { type InstructionExecutor, planJson, type PlanOptions, planRun } from './plan.ts'
export {
  allSteps,
  confinedSteps,
  isChain,
  type Plan,
  type PlannedChain,
  type PlannedStep,
  type PlannedTask,
  type PlanReading,
  type TaskExecutor,
} from './plan-model.ts'
export { renderPlan } from './render-plan.ts'
export { renderPlanMermaid } from './render-plan.ts'
export { prunableRuns, type PruneChoice, removeRuns } from './run-store.ts'
export { planChanged } from './plan-changed.ts'
export { reusedResults } from './reuse.ts'
export { argumentsOf, keepsArguments } from './run-arguments.ts'
export { holdSecret } from './run-arguments.ts'
export { type RunLine, runLine, runLines } from './run-line.ts'
export { parsePolicySetting } from './policy.ts'
export { lastAttempt, type ShownRun } from './result.ts'
export { countSucceeded, decidingAttempt } from './step-result.ts'
export {
  type AttemptResult,
  type RunResult,
  type RunStatus,
  type StepResult,
  type StepResultStatus,
} from './engine.ts'
export {
  type NewRun,
  readResult,
  type Resumption,
  resumeRun,
  type RunWorld,
  startRun,
} from './run-chain.ts'
export { renderReport, type ReportFormat, reportFormats } from './report/reports.ts'
export type { RunJournal } from './run-journal.ts'
export { statusOfRun } from './result.ts'
export { whileRunning } from './attempt.ts'
export { openRunStore, type RunStore } from './run-store.ts'
export {
  continueStepper,
  drive,
  type HandedStep,
  reportStep,
  startStepper,
  stepperAnswer,
  type StepperAnswer,
} from './stepper.ts'
export {
  firstFailed,
  renderTimeline,
  saidOf,
  saidOfFailure,
  statusMarks,
  type StyleText,
  type TimelineOptions,
} from './timeline.ts'
export { type CheckedSkill, executionRefusal, trustFact } from './lookup.ts'
export { skillDirectory } from './script-executor.ts'
export { type WalkedStep, walkResult } from './result.ts'
export { duration, stepDuration, timeOf } from './timeline.ts'
export { addOutputs, type ChainState, emptyState, type PreviousOutput } from './state.ts'
