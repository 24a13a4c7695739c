import { lstatSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import {
  exitCode,
  hasErrors,
  SkillrailError,
  UsageError,
  writeFileAtomic,
} from '../../base/index.ts'
import { newSkillText, validateSkill } from '../../skill/index.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

/** The location that most clients read (Codex, Gemini CLI, OpenCode, VS Code, Cursor, Goose, pi). */
const defaultDirectory = join('.agents', 'skills')

interface Options {
  dir: string
  description?: string | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<name>', 'a-z, 0-9 and single hyphens')
      .option('--dir <dir>', 'make the skill in this folder', defaultDirectory)
      .option('--description <text>', 'what it does and when to use it')
      .option('--dry-run', 'print the text and write nothing')
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail new release-notes --description "Writes release notes from commits. Use when a version is tagged."\n',
      )
  },
  async run({ runtime, output, options: globals }, [name = ''], options) {
    const directory = resolve(runtime.cwd, options.dir, name)
    const path = join(directory, 'SKILL.md')
    const shown = relative(runtime.cwd, path)
    const text = newSkillText(name, options.description)
    const { diagnostics } = validateSkill(text, { path: shown, directoryName: name })
    if (hasErrors(diagnostics)) {
      throw new UsageError({
        code: 'wrong-use',
        message: `a skill ${name} with this description would not be valid`,
        diagnostics: diagnostics.filter(({ severity }) => severity === 'error'),
      })
    }
    if (lstatSync(directory, { throwIfNoEntry: false }) !== undefined) {
      throw new SkillrailError({
        code: 'skill-exists',
        message: `${relative(runtime.cwd, directory)} exists already; nothing was written`,
        hint: 'Choose another name, or another folder with --dir.',
      })
    }
    if (options.dryRun !== true) await writeFileAtomic(path, text)
    output.diagnostics(diagnostics)
    if (globals.json) output.json({ name, path: shown, written: options.dryRun !== true, text })
    else if (options.dryRun === true) output.raw(text)
    else {
      output.line(shown)
      output.note(
        `Edit it, then check it with: skillrail validate ${relative(runtime.cwd, directory)}`,
      )
    }
    return exitCode.done
  },
})
