import type { ChainDeclaration, TriggerDeclaration } from '#skill/model'
import { chainText, gatesOf, gateTexts } from '#chain/plan-model'
import type { Diagnostic } from '#core/errors'
import { isObject, objectOf, parseJson } from '#core/json'
import { unifiedDiff } from '#core/unified-diff'
import type { SkillInfo } from '#library/model'
import { formatAllowedTools } from '#skill/allowed-tools'
import type { KeptTexts } from '#trust/kept-texts'
import type { GuardChange } from './always-guards.ts'
import type { ActingPart, PartChange, WorkspaceAssessment } from '#trust/model'
import { notCompared } from '#trust/server-files'
import { workspaceRelative } from '#trust/skill-files'
import { overlayTriggers, triggerOverlay } from '#trust/workspace-files'
import { isRequired } from '#trigger/tool-call'

/** The parts of a workspace, or of one skill, that can execute, and their changes since the acceptance. */
export interface TrustReport {
  workspace: string
  /** The only skill that the report is about, by its path in the workspace. */
  skill: string | undefined
  /** Another working tree of the same repository, accepted with the same content. */
  sameAs: string | undefined
  state: WorkspaceAssessment['state']
  /** Whether the text of the skills is compared too. */
  pinned: boolean
  /** Whether skills that come later are trusted while they have text only. */
  newText: boolean
  skills: SkillReport[]
  /** When the hooks of agent clients give the model a reference, or deny a call. */
  triggers: TriggerReport[]
  /** Files of the workspace that belong to no skill, such as MCP configuration. */
  configuration: PartReport[]
  changes: ChangeReport[]
  /** The chains whose guards apply without a rail, or applied until now. */
  guards: readonly GuardChange[]
}

/** The fields and files of one skill that can execute. */
export interface SkillReport {
  name: string
  path: string
  run: string | undefined
  allowedTools: string | undefined
  chain: string[] | undefined
  order: string | undefined
  gates: string[] | undefined
  /** Commands that run as the user, on files that an agent has just written. */
  checks: string[] | undefined
  /** The type of subagent that executes the skill. */
  fork: string | undefined
  hooks: SkillInfo['fields']['hooks']
  scripts: PartReport[]
  texts: PartReport[] | undefined
}

/** What a trigger does once its skill is trusted. */
export interface TriggerReport {
  skill: string
  /** Its string form, with `match: ` before a pattern on the prompt. */
  trigger: string
  /** The reference, relative to the skill or to the overlay. */
  inject: string
  /** The reference comes with the prompt, with the tool call, or as the reason for denying the first call. */
  mode: 'prompt' | 'call' | 'denies'
  /** The overlay that declares it, relative to the workspace; undefined for a trigger of the skill. */
  overlay: string | undefined
}

/** A file that can execute, or that decides what executes. */
export interface PartReport extends Pick<
  ActingPart,
  'kind' | 'path' | 'size' | 'interpreter' | 'link' | 'problem'
> {
  /** Servers of an MCP configuration: `name: command arguments, with VARIABLES set`, or `name: address`. */
  servers: string[] | undefined
  /** Inputs that decide what the servers run, and that are not compared. */
  unverified: string[] | undefined
}

/** A part that differs from the accepted one. */
export interface ChangeReport extends TextChange {
  change: PartChange['change']
  kind: ActingPart['kind']
  path: string
}

export function trustReport(facts: {
  workspace: string
  /** The only skill that this is about, by its path in the workspace. */
  one: string | undefined
  pinned: boolean
  newText: boolean
  skills: readonly SkillInfo[]
  parts: readonly ActingPart[]
  assessment: WorkspaceAssessment
  /** Another working tree of the same repository, accepted with the same content. */
  sameAs: string | undefined
  texts: TextSource
  guards: readonly GuardChange[]
}): TrustReport {
  const { workspace, one, pinned, newText, skills, parts, texts } = facts
  const { state, changes } = facts.assessment
  const byOwner = Map.groupBy(parts, ({ owner }) => owner)
  return {
    workspace,
    skill: one,
    sameAs: facts.sameAs,
    state,
    pinned,
    newText,
    skills: skills.map((skill) => {
      const path = workspaceRelative(workspace, skill.realDirectory)
      return skillReport(skill, path, byOwner.get(path) ?? [])
    }),
    triggers: [
      ...skills.flatMap(({ name, fields }) =>
        fields.triggers.map((trigger) => triggerReport(name, trigger, undefined)),
      ),
      ...(one === undefined ? overlayTriggers(workspace) : []).map(({ skill, trigger }) =>
        triggerReport(skill, trigger, triggerOverlay),
      ),
    ],
    configuration: (byOwner.get('') ?? [])
      .filter(({ kind }) => kind !== 'script' && kind !== 'skill')
      .map(partReport),
    changes: state === 'changed' ? changes.map((change) => changeReport(change, texts)) : [],
    guards: facts.guards,
  }
}

export function changeDiagnostics(changes: readonly PartChange[], texts: TextSource): Diagnostic[] {
  return changes.map((difference) => {
    const { change, kind, path, note, ...diff } = changeReport(difference, texts)
    const message = `${change} since its workspace was trusted: ${kind}${note === undefined ? '' : ` (${note})`}`
    return { code: 'part-changed', severity: 'error', message, path, ...diff }
  })
}

function changeReport({ change, part, ...old }: PartChange, texts: TextSource): ChangeReport {
  const { kind, path } = part
  const digest = 'accepted' in old ? old.accepted.digest : undefined
  const before = digest === undefined ? 'new' : { digest, verb: 'accepted' as const }
  const content: TextChange = change === 'removed' ? {} : textChange(path, part, before, texts)
  return { change, kind, path, ...content }
}

function skillReport(skill: SkillInfo, path: string, parts: readonly ActingPart[]): SkillReport {
  const { run, allowedTools, chain, context, agent, hooks } = skill.fields
  const texts = parts.filter((part) => part.kind === 'text')
  return {
    name: skill.name,
    path,
    run,
    allowedTools: allowedTools && formatAllowedTools(allowedTools),
    chain: chain?.steps.map((step) => step.name),
    order: chain && chainText(chain),
    gates: !chain || gatesOf(chain).length === 0 ? undefined : gateTexts(chain),
    checks: chain && checksOf(chain),
    fork: context === 'fork' ? (agent ?? 'general') : undefined,
    hooks,
    scripts: parts.filter((part) => part.kind === 'script').map(partReport),
    texts: texts.length === 0 ? undefined : texts.map(partReport),
  }
}

function triggerReport(
  skill: string,
  trigger: TriggerDeclaration,
  overlay: string | undefined,
): TriggerReport {
  const { match, inject, when } = trigger
  const isOnPrompt = when === undefined || when.kind === 'examples'
  const mode = isRequired(trigger) ? 'denies' : isOnPrompt ? 'prompt' : 'call'
  return { skill, trigger: when ? match : `match: ${match}`, inject, mode, overlay }
}

/** Returns the check commands of a chain's steps; undefined if there are none. */
function checksOf({ steps }: ChainDeclaration): string[] | undefined {
  const checks = steps.flatMap(({ check }) => check ?? [])
  return checks.length === 0 ? undefined : checks
}

function partReport({
  kind,
  path,
  size,
  interpreter,
  link,
  problem,
  text,
}: ActingPart): PartReport {
  const servers = kind === 'mcp' && text !== undefined ? serversIn(text) : undefined
  const leaves = servers !== undefined && servers.length > 0 && text !== undefined
  const unverified = leaves ? notCompared(text) : undefined
  return { kind, path, size, interpreter, link, problem, servers, unverified }
}

/** Returns the servers that an MCP configuration starts; undefined for another kind of file. */
function serversIn(text: string): string[] | undefined {
  const value = parseJson(text)
  const { mcpServers, servers, mcp } = objectOf(value)
  const entries = mcpServers ?? servers ?? mcp
  if (!isObject(entries)) return undefined
  return Object.entries(entries).map(([name, server]) => {
    const { command, args, url, env } = objectOf(server)
    const words = [command, args, url].flat().filter((word) => typeof word === 'string')
    // Hides only text that must be a password: other hidden text could be the part that acts.
    const password = /(:\/\/[\w.~-]{1,100}:)[\w.~%!*+-]{1,200}@/g
    const commandLine = words.join(' ').replaceAll(password, '$1[redacted]@')
    const variables = isObject(env) ? Object.keys(env).join(', ') : ''
    return `${name}: ${commandLine}${variables && `, with ${variables} set`}`
  })
}

export type TextSource = Pick<KeptTexts, 'read'>

export interface TextChange {
  diff?: string | undefined
  note?: string | undefined
}

export function textChange(
  path: string,
  { text, link, problem }: Pick<ActingPart, 'text' | 'link' | 'problem'>,
  before: { digest: string; verb: 'accepted' | 'locked' } | 'new',
  texts: TextSource,
): TextChange {
  if (problem !== undefined) return { note: problem }
  if (link !== undefined) return { note: `a link to ${link}` }
  if (text === undefined) return { note: 'no text, or too long to be shown' }
  if (before === 'new') return { diff: unifiedDiff(path, '', text) }
  const textBefore = texts.read(before.digest)
  if (textBefore !== undefined) return { diff: unifiedDiff(path, textBefore, text) }
  return { note: `no diff: the text that was ${before.verb} was not kept here` }
}
