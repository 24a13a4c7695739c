import { expect, it } from 'vitest'
import * as root from '../../src/entries/index.ts'
import * as testing from '../../src/entries/testing.ts'

it('exports these names from the root and no others', () => {
  expect(Object.keys(root).toSorted()).toEqual([
    'ChainError',
    'ChainPlanError',
    'RunNotFoundError',
    'SkillConflictError',
    'SkillError',
    'SkillInvocationError',
    'SkillLoadError',
    'SkillManager',
    'SkillNotFoundError',
    'SkillNotTrustedError',
    'SkillParseError',
    'SkillValidationError',
    'SkillrailError',
    'StateFileError',
    'UsageError',
    'createJournalEngine',
    'discoverSkills',
    'estimateTokens',
    'findReferences',
    'findSkill',
    'fixSkill',
    'frontmatterJsonSchema',
    'parseSkill',
    'planRun',
    'renderCatalog',
    'runChain',
    'serializeSkill',
    'substituteArguments',
    'systemRuntime',
    'validateReference',
    'validateSkill',
    'wrapSkillContent',
  ])
})

it('exports these names for tests of skills and no others', () => {
  expect(Object.keys(testing).toSorted()).toEqual([
    'SkillTestHarness',
    'skillFixtures',
    'skillMatchers',
    'writeSkill',
  ])
})
