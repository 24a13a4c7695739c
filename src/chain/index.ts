export { agentExecutor, type AgentExecutorOptions, type StepContent } from './agent-executor.ts'
export { cancelRun } from './cancel-run.ts'
export { recordDecision, waitingGate } from './decide-gate.ts'
export { createDiskLookup, type DiskLookupOptions } from './disk-lookup.ts'
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
export type { ChainEvent, EventListener } from './events.ts'
export type { Executor, StepAnswer, StepRequest } from './executor.ts'
export { runChain } from './interpreter.ts'
export { sandboxForeseen, sandboxHint } from './sandbox-words.ts'
export type { Refusal, RunConfinement } from './script-executor.ts'
export { createJournalEngine, type JournalEngine } from './journal-engine.ts'
export type { JournalEngineOptions } from './journal-engine-options.ts'
export type { ChainLookup, SkillFacts, SkillReport, StepResolution } from './lookup.ts'
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
export { renderPlanMermaid } from './render-plan-mermaid.ts'
export { prunableRuns, type PruneChoice, removeRuns } from './prune-runs.ts'
export { planChanged } from './plan-changed.ts'
export { argumentsOf, keepsArguments, reusedResults } from './reuse.ts'
export { holdSecret } from './run-arguments.ts'
export { type RunLine, runLine, runLines } from './run-line.ts'
export { parsePolicySetting } from './policy-table.ts'
export {
  type AttemptResult,
  countSucceeded,
  decidingAttempt,
  lastAttempt,
  type RunResult,
  type RunStatus,
  type ShownRun,
  type StepResult,
  type StepResultStatus,
} from './result.ts'
export {
  type NewRun,
  readResult,
  type Resumption,
  resumeRun,
  type RunWorld,
  startRun,
} from './run-chain.ts'
export { renderReport, type ReportFormat, reportFormats } from './report/index.ts'
export type { RunJournal } from './run-journal.ts'
export { statusOfRun } from './run-status.ts'
export { whileRunning } from './while-running.ts'
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
export { type CheckedSkill, executionRefusal, trustFact } from './trust-check.ts'
export { skillDirectory } from './step-files.ts'
export { type WalkedStep, walkResult } from './walk-result.ts'
export { duration, stepDuration, timeOf } from './step-time.ts'
export { addOutputs, type ChainState, emptyState, type PreviousOutput } from './state.ts'
