import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isInside, realPathOf } from '../core/read-files.ts'
import { isObject, sha256 } from '../core/json.ts'
import { shellWord } from '../core/text.ts'
import type { JsonValue, SkillFields } from '../skill/model.ts'
import {
  type Acceptance,
  type ActingKind,
  type ActingPart,
  type ActingSkill,
  orderParts,
  type TrustPolicy,
  type TrustReason,
  type TrustSubject,
} from './model.ts'
import { agentFileParts, agentParts, upTo, workspaceFileParts } from './project-files.ts'
import { skillFiles, workspaceRelative } from './skill-files.ts'

interface CollectOptions {
  /** Whether text counts too, as it does in a pinned workspace; default false. */
  text?: boolean | undefined
  /** Files of subagents are looked for from here up to the workspace; default the workspace. */
  from?: string | undefined
  /** What was accepted before: files of subagents in other folders are looked at again. */
  accepted?: Acceptance | undefined
}

/**
 * Reads everything in a workspace that can act: the configuration of servers, hooks and workflows,
 * the files that define subagents, and of each skill its scripts and the fields that start or allow
 * something. A skill whose real
 * directory lies outside the workspace is left out, since trusting the workspace does not cover it.
 *
 * @param workspace real path.
 */
export function collectActingParts(
  workspace: string,
  skills: readonly ActingSkill[],
  options: CollectOptions = {},
): ActingPart[] {
  const real = skills.flatMap((skill) => {
    const directory = skill.realDirectory ?? realPathOf(skill.directory)
    const inside = directory !== undefined && isInside(workspace, directory)
    return inside ? [{ ...skill, realDirectory: directory }] : []
  })
  const unique = new Map(real.map((skill) => [skill.realDirectory, skill]))
  const parts = [...unique.values()].flatMap((skill) =>
    collectSkillParts(workspace, skill, options),
  )
  return [
    ...workspaceFileParts(workspace),
    ...subagentParts(workspace, options),
    ...parts,
  ].toSorted(orderParts)
}

function subagentParts(workspace: string, options: CollectOptions): ActingPart[] {
  const { text = false, from = workspace, accepted } = options
  const found = agentParts(workspace, upTo(from, workspace), { text })
  const known = new Set(found.map(({ path }) => path))
  const elsewhere = (accepted?.parts ?? [])
    .filter(({ kind, path }) => kind === 'agent' && !known.has(path))
    .map(({ path }) => join(workspace, path))
    .filter((path) => existsSync(path))
  return [...found, ...elsewhere.flatMap((path) => agentFileParts(workspace, path, { text }))]
}

/** The parts of one skill, in the order of path and kind. */
export function collectSkillParts(
  workspace: string,
  skill: ActingSkill,
  options: CollectOptions = {},
): ActingPart[] {
  const directory = skill.realDirectory ?? realPathOf(skill.directory)
  if (directory === undefined) return []
  const owner = workspaceRelative(workspace, directory)
  const { run, hooks } = skill.fields
  const commands = hookCommands(hooks)
  const programs = commands.flatMap((command) => hookProgram(command)?.path ?? [])
  const files = skillFiles(directory, {
    runs: [...(run === undefined ? [] : [run]), ...programs],
    commands,
    text: options.text ?? false,
    isWorkspace: directory === workspace,
    linksOut: 'named',
  })
  const inWorkspace = files.map(({ path, ...file }) => ({
    ...file,
    path: workspaceRelative(workspace, join(directory, path)),
  }))
  const document = workspaceRelative(workspace, join(directory, documentName(skill)))
  return [...fieldParts(document, skill.fields), ...inWorkspace]
    .map((part) => ({ owner, skill: skill.name, ...part }))
    .toSorted(orderParts)
}

function documentName(skill: ActingSkill): string {
  return skill.path?.endsWith('skill.md') === true ? 'skill.md' : 'SKILL.md'
}

type FieldPart = Omit<ActingPart, 'owner'>

/** The fields of a skill that start or allow something, each as one part with its value as text. */
function fieldParts(document: string, fields: SkillFields): FieldPart[] {
  return actingFields.flatMap(({ kind, value }) => {
    const found = value(fields)
    if (found === undefined) return []
    const text = `${JSON.stringify(found, undefined, 2)}\n`
    return [{ path: document, kind, digest: sha256(text), size: 0, text }]
  })
}

/** `undefined` where the skill has none. A chain decides which scripts run and where it waits. */
const actingFields: readonly { kind: ActingKind; value: (fields: SkillFields) => unknown }[] = [
  // Without its sandbox a script can do more.
  { kind: 'run', value: ({ run, sandbox }) => (sandbox === true ? { run, sandbox } : run) },
  { kind: 'hooks', value: (fields) => fields.hooks },
  { kind: 'allowed-tools', value: (fields) => fields.allowedTools },
  {
    kind: 'chain',
    value: ({ chain }) =>
      chain && {
        steps: chain.steps.map((step) => step.name),
        gates: chain.gates,
        policy: chain.policy,
      },
  },
  {
    kind: 'fork',
    value: ({ context, agent }) => (context === 'fork' ? { context, agent } : undefined),
  },
]

/** The program of a hook as a path in its skill; whether it is there was not looked at. */
interface HookProgram {
  /** Relative to the directory of the skill, with `/`. */
  path: string
  /** The command behind it. */
  rest: string
}

/**
 * The path with which the command of a hook begins: a relative one, or one below the variable that
 * holds the skill's directory. Undefined for a plain program, an absolute path, and any other line for
 * the shell.
 */
export function hookProgram(command: string): HookProgram | undefined {
  const line = command.trimStart()
  const below = belowSkill.exec(line)
  const way = below?.slice(1).find((one) => one !== undefined)
  const path = way?.replace(/^\/+/, '') ?? relativePath(line)
  if (path === undefined) return undefined
  return { path, rest: line.slice(below?.[0].length ?? path.length) }
}

/** All commands in the field `hooks`, in whatever shape it is. */
function hookCommands(hooks: JsonValue | undefined): string[] {
  const found: string[] = []
  const left = hooks === undefined ? [] : [hooks]
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (Array.isArray(value)) for (const one of value) left.push(one)
    else if (isObject<JsonValue>(value)) {
      const { command } = value
      if (typeof command === 'string') found.push(command)
      for (const one of Object.values(value)) left.push(one)
    }
  }
  return found
}

/** Characters that mean nothing to a shell, and what may stand behind a word of them. */
const word = '[^\\s"\'`$\\\\;&|<>()*?\\[\\]{}=]+'
const end = '(?=[\\s;&|<>)]|$)'

const firstWord = new RegExp(`^${word}${end}`)

const name = '(?:CLAUDE|SKILLRAIL)_SKILL_DIR'
const variable = `\\$(?:${name}|\\{${name}\\})`

/** `$NAME/path`, `"$NAME"/path` and `"$NAME/path"`, where the path may have spaces. */
const belowSkill = new RegExp(
  `^(?:${variable}/(${word})|"${variable}"/(${word})|"${variable}/([^"$\`\\\\]+)")${end}`,
)

function relativePath(line: string): string | undefined {
  const first = firstWord.exec(line)?.[0]
  if (first === undefined || !first.includes('/')) return undefined
  // A shell reads `~/bin/lint` as a path of the home.
  return isAbsolute(first) || /^(?:~|[A-Za-z]:)/.test(first) ? undefined : first
}

/** The command or the setting that would allow what was refused. */
export function allowingHint(
  reason: TrustReason,
  skill: TrustSubject,
  policy: TrustPolicy,
): string {
  const place = shellWord(placeOf(skill, policy))
  const command = `skillrail trust ${place}`
  if (reason === 'workspace-not-accepted') {
    return `To see what it may do and allow it: ${command} (in CI: --trust-workspace).`
  }
  if (reason === 'workspace-changed') return `To see what changed and accept it: ${command}`
  if (reason === 'lock-drift') {
    return `To see what differs: ${command} --lock --check; to lock it as it is now: ${command} --lock`
  }
  if (reason === 'lock-unreadable') {
    return `To see what is wrong with it: ${command} --lock --check; to do without it: ${command} --unlock`
  }
  const directory = shellWord(skill.realDirectory ?? skill.directory)
  return `To allow it, add ${directory} to skills.trustedPaths in your own configuration file.`
}

/** Skills of a nested folder are seen from that folder, so the command must start there. */
function placeOf(skill: TrustSubject, policy: TrustPolicy): string {
  const directory = skill.realDirectory ?? skill.directory
  return workspaceRelative(policy.workspace, directory).startsWith('.')
    ? policy.workspace
    : directory
}
