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
export { renderCatalog } from '../skill/catalog.ts'
export { parseSkill } from '../skill/parse.ts'
export {
  SkillConflictError,
  SkillError,
  SkillInvocationError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
} from '../skill/errors.ts'
export {
  type ValidateOptions,
  validateReference,
  validateSkill,
  type Validation,
} from '../skill/validate.ts'
export { SkillNotTrustedError } from '../trust/skill-trust.ts'
export type { SkillScope, TrustLevel } from '../trust/model.ts'
export type { Activation, InvocationSource } from '../library/activation.ts'
export type { Discovery, ResourceTree, Skill, SkillInfo } from '../library/model.ts'
export {
  defineSkill,
  type SkillDefinition,
  SkillManager,
  type SkillManagerOptions,
  type SkillTool,
} from '../library/manager.ts'
