import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { upTo } from '#core/folders'
import { indentedJson, isObject, sha256, type JsonValue } from '#core/json'
import { isInside, realPathOf } from '#core/read-files'
import type { SkillFields } from '#skill/model'
import { agentFileParts, agentParts } from './agent-files.ts'
import { hookProgram } from './hook-program.ts'
import {
  type Acceptance,
  type ActingKind,
  actingKinds,
  type ActingPart,
  type ActingSkill,
  orderParts,
  skillPart,
} from './model.ts'
import { digestFile, skillFiles, workspaceRelative } from './skill-files.ts'
import { overlayTexts, workspaceFileParts } from './workspace-files.ts'

interface CollectOptions {
  /** Whether text is collected too, as in a pinned workspace; default false. */
  text?: boolean | undefined
  /** Subagent files are searched from here up to the workspace; default the workspace. */
  from?: string | undefined
  /** The last acceptance: its subagent files in other folders are read again. */
  accepted?: Acceptance | undefined
}

/**
 * Reads everything in a workspace that can act: the configuration of servers, hooks and workflows,
 * the files that define subagents, and each skill's scripts and fields that start or allow something.
 * Leaves out a skill whose real directory is outside the workspace: trusting does not cover that skill.
 * @param workspace real path.
 */
export function collectActingParts(
  workspace: string,
  skills: readonly ActingSkill[],
  options: CollectOptions = {},
): ActingPart[] {
  const skillsInside = skills.flatMap((skill) => {
    const directory = skill.realDirectory ?? realPathOf(skill.directory)
    const isCovered = directory !== undefined && isInside(workspace, directory)
    return isCovered ? [{ ...skill, realDirectory: directory }] : []
  })
  const unique = new Map(skillsInside.map((skill) => [skill.realDirectory, skill]))
  return [
    ...workspaceFileParts(workspace),
    ...(options.text === true ? overlayTexts(workspace) : []),
    ...subagentParts(workspace, options),
    ...[...unique.values()].flatMap((skill) => [
      ...skillParts(workspace, skill),
      ...collectSkillParts(workspace, skill, options),
    ]),
  ].toSorted(orderParts)
}

/** The part that records the skill itself, with its text for a first review. */
function skillParts(workspace: string, skill: ActingSkill): ActingPart[] {
  const { realDirectory } = skill
  if (realDirectory === undefined) return []
  const content = digestFile(join(realDirectory, documentNameOf(skill)))
  const { size, text } = content.ok ? content : { size: 0, text: undefined }
  const part = skillPart(workspaceRelative(workspace, realDirectory))
  return [{ ...part, skill: skill.name, size, text }]
}

function documentNameOf({ path }: ActingSkill): string {
  return path?.endsWith('skill.md') ? 'skill.md' : 'SKILL.md'
}

function subagentParts(workspace: string, options: CollectOptions): ActingPart[] {
  const { text = false, from = workspace, accepted: acceptance } = options
  const parts = agentParts(workspace, upTo(from, workspace), { text })
  const paths = new Set(parts.map(({ path }) => path))
  const elsewhere = (acceptance?.parts ?? [])
    .filter(({ kind, path }) => kind === 'agent' && !paths.has(path))
    .map(({ path }) => join(workspace, path))
    .filter((path) => existsSync(path))
  return [...parts, ...elsewhere.flatMap((path) => agentFileParts(workspace, path, { text }))]
}

/** Reads the parts of one skill that can act. */
export function collectSkillParts(
  workspace: string,
  skill: ActingSkill,
  options: CollectOptions = {},
): ActingPart[] {
  const directory = skill.realDirectory ?? realPathOf(skill.directory)
  if (directory === undefined) return []
  const owner = workspaceRelative(workspace, directory)
  const { run, hooks, allowedTools, chain } = skill.fields
  const hookLines = hookCommands(hooks)
  const checks = (chain?.steps ?? []).flatMap(({ check }) => check ?? [])
  const commands = [...hookLines, ...checks]
  const programs = hookLines.flatMap((command) => hookProgram(command)?.path ?? [])
  const files = skillFiles(directory, {
    runs: run === undefined ? programs : [run, ...programs],
    commands,
    // A tool that runs without a question can load a file of the skill, as `make` does.
    starts: run !== undefined || commands.length > 0 || allowedTools !== undefined,
    text: options.text ?? false,
    isWorkspace: directory === workspace,
    linksOut: 'named',
  })
  const parts = [...fieldParts(documentNameOf(skill), skill.fields), ...files].map((part) => {
    const path = workspaceRelative(workspace, join(directory, part.path))
    return { owner, skill: skill.name, ...part, path }
  })
  return parts.toSorted(orderParts)
}

/** Returns one part for each field that starts or allows something, with the field's value as text. */
function fieldParts(path: string, fields: SkillFields): Omit<ActingPart, 'owner'>[] {
  const { run, sandbox, hooks, allowedTools, chain, context, agent } = fields
  const values: Partial<Record<ActingKind, unknown>> = {
    // Without its sandbox a script can do more.
    run: sandbox ? { run, sandbox } : run,
    hooks,
    'allowed-tools': allowedTools,
    // The chain decides which scripts and checks run, and where the run waits.
    chain: chain && {
      steps: chain.steps.map(({ line: _line, name, ...options }) =>
        Object.keys(options).length === 0 ? name : { name, ...options },
      ),
      gates: chain.gates,
      policy: chain.policy,
      requireVerified: chain.requireVerified,
      guardsAlways: chain.guardsAlways,
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

function hookCommands(hooks: JsonValue | undefined): string[] {
  if (typeof hooks !== 'object' || hooks === null) return []
  const { command } = isObject<JsonValue>(hooks) ? hooks : {}
  const inner = Object.values<JsonValue>(hooks).flatMap(hookCommands)
  return typeof command === 'string' ? [command, ...inner] : inner
}
