import { relative, sep } from 'node:path'
import { isObject } from '../../core/json.ts'
import { amount, bytes, safeLine, safeText } from '../../core/text.ts'
import { unifiedDiff } from '../../core/unified-diff.ts'
import type { SkillInfo } from '../../library/model.ts'
import { formatAllowedTools } from '../../skill/allowed-tools.ts'
import type { ActingPart, PartChange, WorkspaceAssessment } from '../model.ts'

/** Everything that a user decides on. */
export interface TrustReport {
  workspace: string
  state: WorkspaceAssessment['state']
  pinned: boolean
  skills: readonly SkillReport[]
  configuration: readonly PartReport[]
  changes: readonly ChangeReport[]
}

interface SkillReport {
  name: string
  path: string
  run?: string | undefined
  allowedTools?: string | undefined
  chain?: readonly string[] | undefined
  gates?: readonly string[] | undefined
  fork?: string | undefined
  hooks?: unknown
  scripts: readonly PartReport[]
  /** Where the text is pinned too. */
  texts?: readonly PartReport[] | undefined
}

interface PartReport {
  kind: string
  path: string
  size: number
  interpreter?: string | undefined
  link?: string | undefined
  problem?: string | undefined
  /** Of MCP configuration: `name: command arguments, with VARIABLES set`, or `name: address`. */
  servers?: readonly string[] | undefined
}

interface ChangeReport extends TextChange {
  change: PartChange['change']
  kind: string
  path: string
}

export function trustReport({
  workspace,
  pinned,
  skills,
  parts,
  assessment: { state, changes },
  kept,
}: {
  workspace: string
  pinned: boolean
  skills: readonly SkillInfo[]
  parts: readonly ActingPart[]
  assessment: WorkspaceAssessment
  kept: KeptTexts
}): TrustReport {
  const byOwner = Map.groupBy(parts, ({ owner }) => owner)
  return {
    workspace,
    state,
    pinned,
    skills: skills.map((skill) => {
      const path = relative(workspace, skill.realDirectory).split(sep).join('/')
      return skillReport(skill, path, byOwner.get(path) ?? [])
    }),
    configuration: (byOwner.get('') ?? []).filter(({ kind }) => kind !== 'script').map(partReport),
    changes: state === 'changed' ? changes.map((change) => changeReport(change, kept)) : [],
  }
}

function changeReport(change: PartChange, kept: KeptTexts): ChangeReport {
  const { kind, path } = change.part
  const shown = { change: change.change, kind, path }
  if (change.change === 'removed') return shown
  const before =
    change.change === 'added'
      ? 'new'
      : { digest: change.accepted.digest, verb: 'accepted' as const }
  return { ...shown, ...textChange(path, change.part, before, kept) }
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
    gates: chain === undefined || chain.gates.length === 0 ? undefined : chain.gates,
    fork: context === 'fork' ? (agent ?? 'general') : undefined,
    hooks,
    scripts: parts.filter((part) => part.kind === 'script').map(partReport),
    texts: texts.length === 0 ? undefined : texts.map(partReport),
  }
}

function partReport(part: ActingPart): PartReport {
  const { kind, path, size, interpreter, link, problem, text } = part
  const servers = kind === 'mcp' && text !== undefined ? serversIn(text) : undefined
  return { kind, path, size, interpreter, link, problem, servers }
}

/** What every known form of MCP configuration would start; undefined where it is none of them. */
function serversIn(text: string): string[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const servers = isObject(value)
    ? (value['mcpServers'] ?? value['servers'] ?? value['mcp'])
    : undefined
  if (!isObject(servers)) return undefined
  return Object.entries(servers).map(([name, server]) => {
    const { command, args, url, env } = isObject(server) ? server : {}
    const words = [command, args, url].flat().filter((word) => typeof word === 'string')
    const variables = isObject(env) ? Object.keys(env) : []
    const given = variables.length === 0 ? '' : `, with ${variables.join(', ')} set`
    return `${name}: ${withoutPasswords(words.join(' '))}${given}`
  })
}

/**
 * Only what nothing but a password can be: a part that is hidden from the user who decides could
 * be what acts.
 */
function withoutPasswords(text: string): string {
  return text.replaceAll(/(:\/\/[\w.~-]{1,100}:)[\w.~%!*+-]{1,200}@/g, '$1[redacted]@')
}

/** The report as lines of text; every word of the project is made safe to print. */
export function trustReportLines(report: TrustReport): string[] {
  const acting = report.skills.filter((skill) => skillLines(skill).length > 0)
  const plain = report.skills.length - acting.length
  const lines = [
    `Workspace ${safeLine(report.workspace)}: ${stateText(report, acting.length)}`,
    ...acting.flatMap((skill) => [
      '',
      `  ${safeLine(skill.name)}  ${safeLine(skill.path)}`,
      ...skillLines(skill),
    ]),
    ...report.configuration.flatMap((part) => ['', `  ${partWords(part)}`, ...serverLines(part)]),
  ]
  if (plain > 0) lines.push('', `  ${amount(plain, 'skill')} with text only`)
  if (report.changes.length > 0) lines.push('', 'Changed since then:')
  return [...lines, ...report.changes.flatMap(changeLines)]
}

export function trustedLine({ pinned }: { pinned: boolean }): string {
  return `Trusted${pinned ? ', with its text' : ''}.`
}

function stateText(report: TrustReport, acting: number): string {
  const nothing = acting === 0 && report.configuration.length === 0
  if (nothing && report.state === 'untrusted') return 'not trusted, and nothing in it can act yet'
  return stateWords[report.state]
}

const stateWords = {
  trusted: 'trusted, and nothing that can execute has changed',
  untrusted: 'not trusted. After trusting it, this can execute:',
  changed: 'trusted, but something that can execute has changed. All that can execute:',
} as const satisfies Record<TrustReport['state'], string>

function skillLines(skill: SkillReport): string[] {
  const rows: [string, string | undefined][] = [
    ['run', skill.run],
    ['allowed-tools', skill.allowedTools],
    ['chain', skill.chain?.join(' → ')],
    ['waits before', skill.gates?.join(', ')],
    ['subagent', skill.fork],
    ['hooks', skill.hooks === undefined ? undefined : JSON.stringify(skill.hooks)],
    ...skill.scripts.map((part): [string, string] => ['script', partWords(part, skill.path)]),
    ...(skill.texts ?? []).map((part): [string, string] => ['text', partWords(part, skill.path)]),
  ]
  return rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`    ${label.padEnd(14)} ${safeLine(value)}`],
  )
}

function partWords(part: PartReport, below = ''): string {
  const path =
    below !== '' && part.path.startsWith(`${below}/`)
      ? part.path.slice(below.length + 1)
      : part.path
  const details =
    part.problem ??
    [part.interpreter, part.link === undefined ? bytes(part.size) : `link to ${part.link}`]
      .filter((word) => word !== undefined)
      .join(', ')
  return safeLine(`${path} (${details})`)
}

function serverLines(part: PartReport): string[] {
  return (part.servers ?? []).map((server) => `    server         ${safeLine(server)}`)
}

function changeLines({ change, kind, path, diff, note }: ChangeReport): string[] {
  const words = note === undefined ? path : `${path} (${note})`
  return [`  ${change}: ${kind} ${safeLine(words)}`, ...diffLines(diff, '    ')]
}

/** Without the two lines that name the file. */
export function diffLines(diff: string | undefined, indent: string): string[] {
  const lines = diff === undefined || diff === '' ? [] : diff.split('\n').slice(2)
  return lines.map((line) => `${indent}${safeText(line)}`)
}

/** The texts that were kept of what was accepted or locked, by their digests. */
export interface KeptTexts {
  acceptedText(digest: string): string | undefined
  wasSecret(digest: string): boolean
}

/** A change of one file: a unified diff, or why there is none. */
export interface TextChange {
  diff?: string | undefined
  note?: string | undefined
}

/** What changed in a file that still exists. */
export function textChange(
  path: string,
  { text, link, problem }: Pick<ActingPart, 'text' | 'link' | 'problem'>,
  before: { digest: string; verb: 'accepted' | 'locked' } | 'new',
  kept: KeptTexts,
): TextChange {
  if (problem !== undefined) return { note: problem }
  if (link !== undefined) return { note: `a link to ${link}` }
  if (text === undefined) return { note: 'no text, or too long to be shown' }
  if (before === 'new') return { diff: unifiedDiff(path, '', text) }
  const known = kept.acceptedText(before.digest)
  if (known !== undefined) return { diff: unifiedDiff(path, known, text) }
  const why = kept.wasSecret(before.digest)
    ? 'was not kept, since it seems to hold a secret'
    : 'is not known here'
  return { note: `no diff: the text that was ${before.verb} ${why}` }
}
