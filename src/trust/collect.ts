import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isInside, realPathOf } from '../base/index.ts'
import { fieldParts } from './_field-parts.ts'
import { workspaceRelative } from './_relative.ts'
import { skillFiles } from './_skill-files.ts'
import { workspaceFileParts } from './_workspace-files.ts'
import { orderParts } from './assess.ts'
import { agentFileParts, agentParts } from './_agent-files.ts'
import { upTo } from './agent-places.ts'
import { hookCommands, hookProgram } from './hook-program.ts'
import type { Acceptance, ActingPart, ActingSkill } from './model.ts'

export interface CollectOptions {
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
