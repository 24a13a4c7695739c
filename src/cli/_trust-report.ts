import { relative, sep } from 'node:path'
import { safeLine, safeText, isObject } from '../base/index.ts'
import type { SkillInfo } from '../library/index.ts'
import { formatAllowedTools } from '../skill/index.ts'
import type { ActingPart, PartChange, WorkspaceAssessment } from '../trust/index.ts'
import { amount, bytes } from '../base/text.ts'
import { type KeptTexts, textChange } from './_text-change.ts'

/** Everything that a person decides on; also what `--json` prints, without the texts. */
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
  /** Where the text is held too. */
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

interface ChangeReport {
  change: PartChange['change']
  kind: string
  path: string
  /** Of a text that was kept: a unified diff. */
  diff?: string | undefined
  /** Why there is none. */
  note?: string | undefined
}

export interface TrustReportInput {
  workspace: string
  pinned: boolean
  skills: readonly SkillInfo[]
  parts: readonly ActingPart[]
  assessment: WorkspaceAssessment
  kept: KeptTexts
}

export function trustReport(input: TrustReportInput): TrustReport {
  const { workspace, pinned, skills, parts, assessment, kept } = input
  const byOwner = new Map<string, ActingPart[]>()
  for (const part of parts) byOwner.set(part.owner, [...(byOwner.get(part.owner) ?? []), part])
  return {
    workspace,
    state: assessment.state,
    pinned,
    skills: skills.map((skill) => {
      const path = relative(workspace, skill.realDirectory).split(sep).join('/')
      return skillReport(skill, path, byOwner.get(path) ?? [])
    }),
    configuration: (byOwner.get('') ?? []).filter((part) => part.kind !== 'script').map(partReport),
    changes: assessment.state === 'changed' ? assessment.changes.map(changeReport) : [],
  }

  function changeReport(change: PartChange): ChangeReport {
    const { kind, path } = change.part
    return { change: change.change, kind, path, ...contentOf(change) }
  }

  function contentOf(change: PartChange): { diff?: string | undefined; note?: string | undefined } {
    if (change.change === 'removed') return {}
    const { path } = change.part
    const before =
      change.change === 'added'
        ? 'new'
        : { digest: change.accepted.digest, verb: 'accepted' as const }
    return textChange(path, change.part, before, kept)
  }
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
 * Only what nothing but a password can be: a part that is hidden from the person who decides could
 * be what acts.
 */
function withoutPasswords(text: string): string {
  return text.replaceAll(/(:\/\/[\w.~-]{1,100}:)[\w.~%!*+-]{1,200}@/g, '$1[redacted]@')
}

/** The report for a person, line by line; every word of the project made harmless. */
export function trustReportLines(report: TrustReport): string[] {
  const acting = report.skills.filter((skill) => skillLines(skill).length > 0)
  const plain = report.skills.length - acting.length
  const lines = [
    `Workspace ${safeLine(report.workspace)}: ${standingWords(report, acting.length)}`,
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

function standingWords(report: TrustReport, acting: number): string {
  const nothing = acting === 0 && report.configuration.length === 0
  if (nothing && report.state === 'untrusted') return 'not trusted, and nothing in it can act yet'
  return stateWords[report.state]
}

const stateWords = {
  trusted: 'trusted, and nothing that acts has changed',
  untrusted: 'not trusted. Once it is, this may act:',
  changed: 'trusted, but something that acts has changed. All that may act:',
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
  const lines = diff === undefined || diff === '' ? [] : diff.split('\n').slice(2)
  const words = note === undefined ? path : `${path} (${note})`
  return [
    `  ${change}: ${kind} ${safeLine(words)}`,
    ...lines.map((line) => `    ${safeText(line)}`),
  ]
}
