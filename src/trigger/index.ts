export { checkOverlap } from './check-overlap.ts'
export { type CheckedSkill, checkTriggers, triggerRules } from './check.ts'
export { explainPrompt, type TriggerVerdict } from './explain.ts'
export {
  exportTriggers,
  scriptOrigin,
  scriptText,
  withoutExport,
  writeBlock,
} from './export-triggers.ts'
export { type InjectedReference, planInjection, readTarget, renderInjection } from './inject.ts'
export { matchPrompt, type TriggerMatch, type TriggerSkill } from './match.ts'
export { compilePattern, type Pattern } from './pattern.ts'
export { readPromptCases } from './prompt-cases.ts'
export { readPortableTriggers, readTriggers } from './read-triggers.ts'
export { fixTriggers, portableRewrite } from './rewrite-pattern.ts'
export { tierZeroBlock, tierZeroFiles, tierZeroLine, tierZeroMarkers } from './tier-zero.ts'
