export {
  type Diagnostic,
  type Severity,
  SkillrailError,
  StateFileError,
  UsageError,
} from '#core/errors'
export { SettingsError } from '#core/settings-error'
export type { JsonValue } from '#core/json'
export { type Runtime, systemRuntime } from '#core/runtime'
export type {
  AllowedTool,
  ChainDeclaration,
  ChainPolicy,
  SkillDocument,
  SkillFields,
  SkillReading,
  TriggerDeclaration,
} from '#skill/model'
export { renderCatalog } from '#skill/catalog'
export { parseSkill } from '#skill/parse'
export {
  SkillConflictError,
  SkillError,
  SkillInvocationError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
} from '#skill/errors'
export {
  type ValidateOptions,
  validateReference,
  validateSkill,
  type Validation,
} from '#skill/validate'
export { SkillNotTrustedError } from '#trust/skill-trust'
export type { SkillScope, TrustLevel } from '#trust/model'
export type { Activation, InvocationSource } from '#library/activation'
export type { Discovery, ResourceTree, Skill, SkillInfo } from '#library/model'
export {
  defineSkill,
  type SkillDefinition,
  SkillManager,
  type SkillManagerOptions,
  type SkillTool,
} from '#library/manager'
