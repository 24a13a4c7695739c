import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { isInside, realPathOf } from '#core/read-files'
import { shellWord } from '#core/text'
import type { SkillFields } from '#skill/model'
import { indentedJson, isObject, sha256, type JsonValue } from '#core/json'
import {
  type Acceptance,
  type ActingKind,
  actingKinds,
  type ActingPart,
  type ActingSkill,
  orderParts,
  type TrustPolicy,
  type TrustSubject,
} from './model.ts'
import { agentFileParts, agentParts, upTo, workspaceFileParts } from './project-files.ts'
import { skillFiles, workspaceRelative } from './skill-files.ts'
import type { TrustReason } from './skill-trust.ts'

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
 * something. A skill that really lies outside the workspace is left out: trusting does not cover it.
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
  return [
    ...workspaceFileParts(workspace),
    ...subagentParts(workspace, options),
    ...[...unique.values()].flatMap((skill) => collectSkillParts(workspace, skill, options)),
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
    runs: run === undefined ? programs : [run, ...programs],
    commands,
    text: options.text ?? false,
    isWorkspace: directory === workspace,
    linksOut: 'named',
  })
  const documentName = skill.path?.endsWith('skill.md') ? 'skill.md' : 'SKILL.md'
  const parts = [...fieldParts(documentName, skill.fields), ...files].map((part) => {
    const path = workspaceRelative(workspace, join(directory, part.path))
    return { owner, skill: skill.name, ...part, path }
  })
  return parts.toSorted(orderParts)
}

/** The fields of a skill that start or allow something, each as one part with its value as text. */
function fieldParts(path: string, fields: SkillFields): Omit<ActingPart, 'owner'>[] {
  const { run, sandbox, hooks, allowedTools, chain, context, agent } = fields
  const values: Partial<Record<ActingKind, unknown>> = {
    // Without its sandbox a script can do more.
    run: sandbox ? { run, sandbox } : run,
    hooks,
    'allowed-tools': allowedTools,
    // It decides which scripts run and where it waits.
    chain: chain && {
      steps: chain.steps.map(({ line: _line, name, ...options }) =>
        Object.keys(options).length === 0 ? name : { name, ...options },
      ),
      gates: chain.gates,
      policy: chain.policy,
    },
    fork: context === 'fork' ? { context, agent } : undefined,
  }
  return actingKinds.flatMap((kind) => {
    const value = values[kind]
    if (value === undefined) return []
    const text = indentedJson(value)
    return [{ path, kind, digest: sha256(text), size: 0, text }]
  })
}

/**
 * The path in the skill with which the command of a hook begins: a relative one, or one below the
 * variable that holds the skill's directory. Undefined for a plain program, an absolute path, and any
 * other line for the shell. Whether the file is there was not looked at.
 */
export function hookProgram(command: string) {
  const line = command.trimStart()
  const below = belowSkill.exec(line)
  const way = below?.slice(1).find((one) => one !== undefined)
  const path = way?.replace(/^\/+/, '') ?? relativePath(line)
  if (path === undefined) return undefined
  return { path, rest: line.slice(below?.[0].length ?? path.length) }
}

function hookCommands(hooks: JsonValue | undefined): string[] {
  if (typeof hooks !== 'object' || hooks === null) return []
  const { command } = isObject<JsonValue>(hooks) ? hooks : {}
  const inner = Object.values<JsonValue>(hooks).flatMap(hookCommands)
  return typeof command === 'string' ? [command, ...inner] : inner
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
  const [first = ''] = firstWord.exec(line) ?? []
  // A shell reads `~/bin/lint` as a path of the home.
  const isElsewhere = isAbsolute(first) || /^(?:~|[A-Za-z]:)/.test(first)
  return first.includes('/') && !isElsewhere ? first : undefined
}

export function allowingHint(
  reason: TrustReason,
  skill: TrustSubject,
  policy: TrustPolicy,
): string {
  const directory = skill.realDirectory ?? skill.directory
  // A nested folder of skills is not seen from the workspace. A path of one skill would trust that alone.
  const isSeen = workspaceRelative(policy.workspace, directory).startsWith('.')
  const command = `skillrail trust ${shellWord(isSeen ? policy.workspace : dirname(directory))}`
  const hints: Partial<Record<TrustReason, string>> = {
    'workspace-not-accepted': `To see what it may do and allow it: ${command} (in CI: --trust-workspace).`,
    'workspace-changed': `To see what changed and accept it: ${command}`,
    'workspace-added': `To see what it may do and allow it: ${command}`,
    'lock-drift': `To see what differs: ${command} --lock --check; to lock it as it is now: ${command} --lock`,
    'lock-unreadable': `To see what is wrong with it: ${command} --lock --check; to do without it: ${command} --unlock`,
  }
  const setting = `To allow it, add ${shellWord(directory)} to skills.trustedPaths in your own configuration file.`
  return hints[reason] ?? setting
}
