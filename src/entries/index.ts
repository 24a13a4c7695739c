export type { Diagnostic, Severity } from '../core/diagnostic.ts'
export { type Runtime, systemRuntime } from '../core/runtime.ts'
export { SkillrailError, StateFileError, UsageError } from '../core/errors.ts'
export type {
  AllowedTool,
  ChainDeclaration,
  ChainPolicy,
  JsonValue,
  SkillDocument,
  SkillFields,
  SkillReading,
  TriggerDeclaration,
} from '../skill/model.ts'
export { estimateTokens, renderCatalog, wrapSkillContent } from '../skill/catalog.ts'
export { findReferences } from '../skill/references.ts'
export { fixSkill } from '../skill/fix.ts'
export { frontmatterJsonSchema } from '../skill/schema.ts'
export { parseSkill } from '../skill/parse.ts'
export { serializeSkill } from '../skill/serialize.ts'
export {
  SkillConflictError,
  SkillError,
  SkillInvocationError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
} from '../skill/errors.ts'
export { substituteArguments } from '../skill/arguments.ts'
export {
  type ValidateOptions,
  validateReference,
  validateSkill,
  type Validation,
} from '../skill/validate.ts'
export { SkillNotTrustedError } from '../trust/decide.ts'
export type { SkillScope, TrustLevel } from '../trust/model.ts'
export type { Activation, InvocationSource } from '../library/activation.ts'
export type { Discovery, ResourceTree, Skill, SkillInfo } from '../library/model.ts'
export { discoverSkills, type DiscoverOptions } from '../library/discover.ts'
export { findSkill, type FindSkillOptions } from '../library/find-skill.ts'
export type { SkillDefinition, SkillTool } from '../library/registry.ts'
export { SkillManager, type SkillManagerOptions } from '../library/manager.ts'
export type { SkillWatcher } from '../library/watch.ts'
export { ChainError, ChainPlanError, RunNotFoundError } from '../chain/errors.ts'
export type { ChainEvent, Engine, RunResult, StepResult } from '../chain/engine.ts'
export { createJournalEngine } from '../chain/journal-engine.ts'
export type { Executor } from '../chain/executor.ts'
export type { Plan } from '../chain/plan-model.ts'
export { planRun } from '../chain/plan.ts'
export { runChain } from '../chain/interpreter.ts'
