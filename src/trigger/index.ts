export { checkOverlap } from './check-overlap.ts'
export { checkTriggers, type TriggerCheck } from './check.ts'
export type { CheckedSkill } from './checked-skill.ts'
export { explainPrompt, type SkillExplanation, type TriggerVerdict } from './explain.ts'
export {
  exportTriggers,
  routingMarkers,
  scriptPath,
  type TriggerExport,
  withoutExport,
} from './export-triggers.ts'
export { fixTriggers, type TriggerFix } from './fix-triggers.ts'
export {
  type DeferredReference,
  type InjectedReference,
  type Injection,
  type InjectionOptions,
  planInjection,
  renderInjection,
} from './inject.ts'
export { type BlockMarkers, findBlock, removeBlock, writeBlock } from './marked-block.ts'
export {
  matchPrompt,
  planMatches,
  type PromptMatching,
  type TriggerMatch,
  type TriggerSkill,
} from './match.ts'
export type { NearMiss, NearMissCause } from './near-miss.ts'
export type { PatternPlan } from './pattern-plan.ts'
export type { PatternProblem } from './pattern-problem.ts'
export {
  compilePattern,
  longestPattern,
  type Pattern,
  type PatternMatch,
  type PatternReading,
  testerOf,
} from './pattern.ts'
export type { PortabilityNote } from './portability.ts'
export { type PortableReading, readPortableTriggers } from './portable-triggers.ts'
export { type PromptCase, readPromptCases } from './prompt-cases.ts'
export { promptText, type PromptText } from './prompt-text.ts'
export { maxTargetBytes, readTarget, type TargetReader, type TargetReading } from './read-target.ts'
export { readTriggers, type TriggerReading } from './read-triggers.ts'
export { portableRewrite } from './rewrite-pattern.ts'
export { scriptOrigin, scriptText } from './script-text.ts'
export { tierZeroBlock, tierZeroFiles, tierZeroLine, tierZeroMarkers } from './tier-zero.ts'
export { tokenReport, type TokenReport } from './token-report.ts'
export { triggerRules } from './rules.ts'
