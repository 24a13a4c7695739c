import { lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { writeLimit } from '#core/project-state'
import { dirname, join, relative, resolve } from 'node:path'
import { defineCommand, option } from '#core/command'
import { errorsIn, SkillrailError, systemCode, UsageError } from '#core/errors'
import { makeDirectory, requireWithin, writeFileAtomic } from '#core/write-files'
import { newSkillText } from '#skill/serialize'
import { validateSkill } from '#skill/validate'

/** `path` of the `SKILL.md`, relative to the working directory. */
type NewSkill = { name: string; path: string; written: boolean; text: string }

export const command = defineCommand<NewSkill>()({
  arguments: { '<name>': 'a-z, 0-9 and single hyphens' },
  options: {
    dir: option.text('--dir <dir>', 'create the skill in this folder', {
      default: join('.agents', 'skills'),
    }),
    description: option.text('--description <text>', 'what it does and when to use it'),
    dryRun: option.flag('--dry-run', 'print the text and write nothing'),
  },
  details:
    'The skill creating-skills of this package guides a model, and its scripts/quick_validate.mjs checks skills where Skillrail is not installed.',
  examples: [
    'new release-notes --description "Writes release notes from commits. Use when a version is tagged."',
  ],
  async run({ runtime, diagnose }, { arguments: [name = ''], dir, description, dryRun }) {
    const directory = resolve(runtime.cwd, dir, name)
    const file = join(directory, 'SKILL.md')
    const path = relative(runtime.cwd, file)
    const text = newSkillText(name, description)
    const { diagnostics } = validateSkill(text, { path, directoryName: name })
    const errors = errorsIn(diagnostics)
    if (errors.length > 0) {
      const message = `a skill ${name} with this description would not be valid`
      throw new UsageError({ code: 'wrong-use', message, diagnostics: errors })
    }
    const exists = new SkillrailError({
      code: 'skill-exists',
      message: `${relative(runtime.cwd, directory)} exists already; nothing was written`,
      hint: 'Choose another name, or another folder with --dir.',
    })
    if (lstatSync(directory, { throwIfNoEntry: false })) throw exists
    if (!dryRun) await writeNew(file, text, writeLimit(file, runtime), exists)
    diagnose(diagnostics)
    return { name, path, written: !dryRun, text }
  },
  render: ({ path, written, text }) => (written ? `${path}\n` : text),
  notes: ({ path, written }) =>
    written ? [`Edit it, then check it with: skillrail validate ${dirname(path)}`] : [],
})

/**
 * If several commands run at once, one makes the directory. If writing the text fails, no directory
 * remains.
 */
async function writeNew(
  file: string,
  text: string,
  within: string | undefined,
  exists: SkillrailError,
): Promise<void> {
  const directory = dirname(file)
  if (within !== undefined) requireWithin(within, file)
  makeDirectory(dirname(directory))
  try {
    mkdirSync(directory)
  } catch (error) {
    throw systemCode(error) === 'EEXIST' ? exists : error
  }
  try {
    await writeFileAtomic(file, text, { within })
  } catch (error) {
    rmdirSync(directory)
    throw error
  }
}
