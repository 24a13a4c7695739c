import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SkillHarnessOptions, SkillTestHarness } from './harness.ts'
import { type FixtureSkill, writeSkill } from './write-skill.ts'

/** Loads a skill from its directory, or writes a definition into a temporary one first. */
export type LoadSkill = (
  source: string | FixtureSkill,
  options?: SkillHarnessOptions,
) => Promise<SkillTestHarness>

export interface SkillFixtures {
  /** An empty directory that is removed after the test. */
  skillDirectory: string
  loadSkill: LoadSkill
}

/**
 * Fixtures in the form that `test.extend` of vitest takes; importing them does not load vitest.
 *
 * @example
 * const test = base.extend<SkillFixtures>(skillFixtures)
 * test('greets', async ({ loadSkill }) => {
 *   const harness = await loadSkill('skills/greet')
 * })
 */
export const skillFixtures: {
  skillDirectory: (
    context: { task: { id: string } },
    use: (value: string) => Promise<void>,
  ) => Promise<void>
  loadSkill: (
    context: { skillDirectory: string },
    use: (value: LoadSkill) => Promise<void>,
  ) => Promise<void>
} = {
  skillDirectory: async ({ task }, use) => {
    const directory = await mkdtemp(join(tmpdir(), `skillrail-${task.id}-`))
    try {
      await use(directory)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  },
  loadSkill: async ({ skillDirectory }, use) => {
    await use(async (source, options) => {
      const path = typeof source === 'string' ? source : await writeSkill(skillDirectory, source)
      return SkillTestHarness.load(path, options)
    })
  },
}
