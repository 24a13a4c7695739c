import { lstatSync } from 'node:fs'
import { writeLimit } from '../../core/project-state.ts'
import { dirname, join, relative, resolve } from 'node:path'
import { defineCommand, option } from '../../core/command.ts'
import { SkillrailError, UsageError } from '../../core/errors.ts'
import { writeFileAtomic } from '../../core/write-files.ts'
import { newSkillText } from '../serialize.ts'
import { validateSkill } from '../validate.ts'

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
  examples: [
    'new release-notes --description "Writes release notes from commits. Use when a version is tagged."',
  ],
  async run({ runtime, diagnose }, { arguments: [name = ''], dir, description, dryRun }) {
    const directory = resolve(runtime.cwd, dir, name)
    const file = join(directory, 'SKILL.md')
    const path = relative(runtime.cwd, file)
    const text = newSkillText(name, description)
    const { diagnostics } = validateSkill(text, { path, directoryName: name })
    const errors = diagnostics.filter(({ severity }) => severity === 'error')
    if (errors.length > 0) {
      const message = `a skill ${name} with this description would not be valid`
      throw new UsageError({ code: 'wrong-use', message, diagnostics: errors })
    }
    if (lstatSync(directory, { throwIfNoEntry: false }) !== undefined) {
      const message = `${relative(runtime.cwd, directory)} exists already; nothing was written`
      const hint = 'Choose another name, or another folder with --dir.'
      throw new SkillrailError({ code: 'skill-exists', message, hint })
    }
    if (!dryRun) await writeFileAtomic(file, text, { within: writeLimit(file, runtime) })
    diagnose(diagnostics)
    return { name, path, written: !dryRun, text }
  },
  render: ({ path, written, text }) => (written ? `${path}\n` : text),
  notes: ({ path, written }) =>
    written ? [`Edit it, then check it with: skillrail validate ${dirname(path)}`] : [],
})
