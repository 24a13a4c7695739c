export { checkOverlap } from './check-overlap.ts'
export { checkTriggers, type TriggerCheck } from './check.ts'
export type { CheckedSkill } from './check.ts'
export { explainPrompt, type SkillExplanation, type TriggerVerdict } from './explain.ts'
export {
  exportTriggers,
  routingMarkers,
  scriptPath,
  type TriggerExport,
  withoutExport,
} from './export-triggers.ts'
export { fixTriggers, type TriggerFix } from './rewrite-pattern.ts'
export {
  type DeferredReference,
  type InjectedReference,
  type Injection,
  type InjectionOptions,
  planInjection,
  renderInjection,
} from './inject.ts'
export { type BlockMarkers, findBlock, removeBlock, writeBlock } from './export-triggers.ts'
export { matchPrompt, type PromptMatching, type TriggerMatch, type TriggerSkill } from './match.ts'
export type { NearMiss, NearMissCause } from './explain.ts'
export type { PatternProblem } from './parse-pattern.ts'
export {
  compilePattern,
  longestPattern,
  type Pattern,
  type PatternMatch,
  type PatternReading,
} from './pattern.ts'
export type { PortabilityNote } from './portability.ts'
export { type PortableReading, readPortableTriggers } from './read-triggers.ts'
export { type PromptCase, readPromptCases } from './prompt-cases.ts'
export { maxTargetBytes, readTarget, type TargetReader, type TargetReading } from './inject.ts'
export { readTriggers, type TriggerReading } from './read-triggers.ts'
export { portableRewrite } from './rewrite-pattern.ts'
export { scriptOrigin, scriptText } from './export-triggers.ts'
export { tierZeroBlock, tierZeroFiles, tierZeroLine, tierZeroMarkers } from './tier-zero.ts'
export { tokenReport, type TokenReport } from './tier-zero.ts'
export { triggerRules } from './check.ts'
