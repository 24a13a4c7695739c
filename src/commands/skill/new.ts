import { lstatSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { type Context, defineCommand, type Notes, option, type Values } from '#core/command'
import {
  type Diagnostic,
  errorsIn,
  pointless,
  SkillrailError,
  systemCode,
  UsageError,
  wrongUse,
} from '#core/errors'
import { writeLimit } from '#core/project-state'
import { findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { linesText, safeLine } from '#core/text'
import { makeDirectory, requireWithin, writeFileAtomic } from '#core/write-files'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import {
  committedCheck,
  declaredCheck,
  type NewFile,
  type NewRail,
  planNewRail,
} from '#rail/new-rail'
import { newSkillText } from '#skill/serialize'
import { validateSkill } from '#skill/validate'

/** `path` of the `SKILL.md`, relative to the working directory. */
type Result = { name: string; path: string; written: boolean; text: string } | RailResult

interface RailResult extends NewRail {
  name: string
  written: boolean
}

const options = {
  rail: option.flag('--rail', 'create a chain with a check and an approval before git push'),
  check: option.text('--check <command>', 'with --rail: the command that must succeed first'),
  dir: option.text(
    '--dir <dir>',
    'create it in this folder; default: .agents/skills, with --rail the folder that your agent clients read',
  ),
  description: option.text('--description <text>', 'what it does and when to use it'),
  dryRun: option.flag('--dry-run', 'print the text and write nothing'),
} as const

type NewValues = Values<typeof options>

export const command = defineCommand<Result>()({
  arguments: { '<name>': 'a-z, 0-9 and single hyphens' },
  options,
  details: `The skill creating-skills of this package guides a model, and its scripts/quick_validate.mjs checks skills where Skillrail is not installed.

--rail creates three skills: a chain, a step with a check, and a step that waits for your approval before git push. The check is the task \`test\` of package.json or of the makefile; at a terminal you are asked. Without either it is "${committedCheck}".`,
  examples: [
    'new release-notes --description "Writes release notes from commits. Use when a version is tagged."',
    'new --rail release --check "cargo test"',
  ],
  async run(context, values) {
    if (values.rail) return await newRail(context, values)
    if (values.check !== undefined) {
      throw pointless('--check', '--rail', 'skillrail new --rail release --check "npm test"')
    }
    const { runtime, diagnose } = context
    const {
      arguments: [name = ''],
      dir = defaultFolder,
      description,
      dryRun,
    } = values
    const file = join(resolve(runtime.cwd, dir, name), 'SKILL.md')
    const path = relative(runtime.cwd, file)
    const text = newSkillText(name, description)
    diagnose(requireValid({ name, path, text }))
    requireAbsent(path, runtime)
    if (!dryRun) await writeNew(file, text, runtime)
    return { name, path, written: !dryRun, text }
  },
  render(result) {
    if (!('files' in result)) return result.written ? `${result.path}\n` : result.text
    const { files, written } = result
    return linesText(files.flatMap(({ path, text }) => (written ? path : [`# ${path}`, text])))
  },
  notes(result) {
    if ('files' in result) return railNotes(result)
    const { path, written } = result
    return [written && `Edit it, then check it with: skillrail validate ${dirname(path)}`]
  },
})

const defaultFolder = join('.agents', 'skills')

async function newRail(context: Context, values: NewValues): Promise<RailResult> {
  const { runtime, diagnose } = context
  const {
    arguments: [name = ''],
    dir: folder,
    description,
    dryRun,
  } = values
  if (values.check !== undefined) requireOneLine(values.check)
  const suggestion = declaredCheck(findWorkspace(runtime.cwd, runtime)) ?? committedCheck
  const plan = (check: string): NewRail =>
    planNewRail(runtime, { name, check, description, folder })
  // Before the question: nobody answers one for nothing.
  const first = plan(values.check ?? suggestion)
  diagnose(first.files.flatMap(requireValid))
  for (const { name: skill, path } of first.files) {
    requireAbsent(path, runtime)
    requireFree(skill, context)
  }
  const asks = values.check === undefined && !dryRun && context.interactive
  const rail = asks ? plan(await askForCheck(context, suggestion)) : first
  const written: string[] = []
  try {
    for (const { path, text } of dryRun ? [] : rail.files) {
      await writeNew(resolve(runtime.cwd, path), text, runtime)
      written.push(path)
    }
  } catch (error) {
    for (const path of written) rmSync(dirname(resolve(runtime.cwd, path)), { recursive: true })
    throw error
  }
  return { name, written: !dryRun, ...rail }
}

async function askForCheck({ ask }: Context, suggestion: string): Promise<string> {
  const text = `Which command must succeed before anything is published? [${suggestion}] `
  const otherwise = (): Error =>
    new UsageError({ code: 'wrong-use', message: 'no check was given' })
  return (await ask({ text, otherwise })).trim() || suggestion
}

function requireOneLine(check: string): void {
  if (check.trim() !== '' && !/[\r\n]/.test(check)) return
  const hint = 'Put a longer one into a script of the project: --check "sh scripts/check.sh"'
  throw wrongUse('--check takes one line with a command', hint)
}

function railNotes({
  written,
  check,
  files,
  calls,
  others,
  isRepository,
  next,
}: RailResult): Notes {
  const clients = Map.groupBy(calls, ({ call }) => call)
  const starts = Array.from(clients, ([call, of]) => {
    return `${call} 1.2.0 in ${of.map(({ client }) => client).join(', ')}`
  })
  return [
    !isRepository &&
      'This is not a Git repository yet. The chain needs one, with a remote: git init',
    ...others.map(
      ({ client, fix }) => `${client} does not read this folder. So that it does: ${fix}`,
    ),
    written && `The check is: ${safeLine(check)}. It is in ${safeLine(files.at(-1)?.path ?? '')}.`,
    written && `\nNext:\n${next.map((line) => `  ${line}`).join('\n')}`,
    written && starts.length > 0 && `Then type ${starts.join(', or ')}`,
  ]
}

/** @throws {UsageError} if the text would not be a valid skill. */
function requireValid({ name, path, text }: NewFile): readonly Diagnostic[] {
  const { diagnostics } = validateSkill(text, { path, directoryName: name })
  const errors = errorsIn(diagnostics)
  if (errors.length === 0) return diagnostics
  const message = `the skill ${safeLine(name)} would not be valid`
  throw new UsageError({ code: 'wrong-use', message, diagnostics: errors })
}

function requireAbsent(path: string, { cwd }: Pick<Runtime, 'cwd'>): void {
  const directory = dirname(resolve(cwd, path))
  if (lstatSync(directory, { throwIfNoEntry: false })) throw existsError(relative(cwd, directory))
}

/** Two skills of one name hide each other, in any of the folders that clients read. */
function requireFree(name: string, { runtime, settings }: Context): void {
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const other = skills.find((skill) => skill.name === name)
  if (other) throw existsError(relative(runtime.cwd, other.path))
}

function existsError(directory: string): SkillrailError {
  return new SkillrailError({
    code: 'skill-exists',
    message: `${directory} exists already; nothing was written`,
    hint: 'Choose another name, or another folder with --dir.',
  })
}

/**
 * If several commands run at once, one makes the directory. If writing the text fails, no directory
 * remains.
 */
async function writeNew(
  file: string,
  text: string,
  runtime: Pick<Runtime, 'cwd' | 'home'>,
): Promise<void> {
  const directory = dirname(file)
  const within = writeLimit(file, runtime)
  if (within !== undefined) requireWithin(within, file)
  makeDirectory(dirname(directory))
  try {
    mkdirSync(directory)
  } catch (error) {
    throw systemCode(error) === 'EEXIST' ? existsError(relative(runtime.cwd, directory)) : error
  }
  try {
    await writeFileAtomic(file, text, { within })
  } catch (error) {
    rmdirSync(directory)
    throw error
  }
}
