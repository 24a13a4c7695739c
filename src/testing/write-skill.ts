import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { checkArgument, rule } from '#core/api-options'
import { isInside } from '#core/read-files'
import { UsageError } from '#core/errors'
import { writeFileAtomic } from '#core/write-files'
import type { SkillDefinition } from '#library/manager'
import { serializeSkill } from '#skill/serialize'

export interface FixtureSkill extends SkillDefinition {
  /** Further files by their path below the skill; those in `scripts/` become executable. */
  files?: Readonly<Record<string, string>> | undefined
}

/**
 * Writes a skill into `directory/NAME/`, for tests that need a real folder.
 * @returns the skill's directory.
 * @throws {UsageError} for a name or a file that leads out of `directory`.
 * @example
 * const path = await writeSkill(directory, {
 *   name: 'greet',
 *   description: 'Greets people. Use when someone says hello.',
 *   body: 'Say hello to $0.',
 *   files: { 'references/tone.md': 'Be kind.' },
 * })
 */
export async function writeSkill(directory: string, definition: FixtureSkill): Promise<string> {
  checkArgument(directory, 'The directory of a fixture', rule.text)
  const { body, files = {}, ...fields } = definition
  checkArgument(files, 'The files of a fixture', { ...rule.object, form: 'an object of texts' })
  checkArgument(fields.name, 'The name of a fixture', rule.text)
  const skill = below(directory, fields.name)
  await writeFileAtomic(join(skill, 'SKILL.md'), serializeSkill({ fields, body }))
  for (const [path, content] of Object.entries(files)) {
    const file = below(skill, path)
    await writeFileAtomic(file, content)
    if (isInside(join(skill, 'scripts'), file)) await chmod(file, 0o755)
  }
  return skill
}

function below(directory: string, path: string): string {
  const joined = join(directory, path)
  if (joined !== directory && isInside(directory, joined)) return joined
  throw new UsageError({
    code: 'fixture-outside',
    message: `the fixture "${path}" would be outside ${directory}`,
    hint: 'Use a path below the directory, without "..".',
  })
}
