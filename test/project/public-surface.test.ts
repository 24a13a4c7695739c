import { expect, it } from 'vitest'
import * as root from '../../src/entries/index.ts'
import * as ai from '../../src/entries/ai.ts'
import * as testing from '../../src/entries/testing.ts'

it('exports these names from the root and no others', () => {
  expect(Object.keys(root).toSorted()).toEqual([
    'SettingsError',
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
    'defineSkill',
    'parseSkill',
    'renderCatalog',
    'systemRuntime',
    'validateReference',
    'validateSkill',
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

it('exports these names for applications of the AI SDK and no others', () => {
  expect(Object.keys(ai).toSorted()).toEqual([
    'createSkills',
    'fromToolSet',
    'subagentTool',
    'toToolSet',
    'totalUsage',
  ])
})
