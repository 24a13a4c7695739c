export type { AdviceInput } from './advice.ts'
export { formatAllowedTools, parseAllowedTools } from './allowed-tools.ts'
export {
  applyArguments,
  quoteArgument,
  splitArguments,
  substituteArguments,
  type Substitution,
} from './arguments.ts'
export {
  type Catalog,
  type CatalogEntry,
  type CatalogFormat,
  type CatalogOptions,
  renderCatalog,
} from './catalog.ts'
export { besideChain, defaultChainPolicy, policyKeys } from './declarations.ts'
export { editFrontmatter, type FrontmatterEdits } from './edit.ts'
export {
  SkillConflictError,
  SkillError,
  SkillInvocationError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
} from './errors.ts'
export { type FieldDefinition, fieldTable } from './field-table.ts'
export { type FieldsReading, readFields } from './fields.ts'
export { type FixChange, fixSkill, type SkillFix } from './fix.ts'
export { type FrontmatterSplit, splitFrontmatter } from './parse.ts'
export type {
  AllowedTool,
  ChainDeclaration,
  ChainPolicy,
  EarlyExit,
  JsonValue,
  RetryUntil,
  SkillDocument,
  SkillFields,
  SkillFile,
  SkillFiles,
  SkillReading,
  TriggerDeclaration,
  ValidationProfile,
} from './model.ts'
export { type FrontmatterReading, parseSkill, readFrontmatter } from './parse.ts'
export { readYaml } from './read-yaml.ts'
export { findReferences, type SkillReference } from './references.ts'
export { type RuleDefinition, validationRules } from './rules.ts'
export { frontmatterJsonSchema } from './schema.ts'
export { serializeSkill, type SkillSource } from './serialize.ts'
export { newSkillText } from './serialize.ts'
export { estimateTokens } from './catalog.ts'
export {
  misplacedPolicy,
  type ValidateOptions,
  validateSkill,
  type Validation,
} from './validate.ts'
export { alreadyActiveNote, type SkillContent, wrapSkillContent } from './catalog.ts'
export { yamlToJson } from './read-yaml.ts'
export type {
  YamlEntry,
  YamlList,
  YamlMap,
  YamlNode,
  YamlReading,
  YamlScalar,
} from './read-yaml.ts'
