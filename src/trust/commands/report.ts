import { chainText, gatesOf } from '#chain/plan-model'
import type { Diagnostic } from '#core/errors'
import { isObject, objectOf, parseJson } from '#core/json'
import { amount, bytes, type Lines, safeLine, safeText } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import type { SkillInfo } from '#library/model'
import { formatAllowedTools } from '#skill/allowed-tools'
import type { KeptTexts } from '#trust/store'
import type { ActingPart, PartChange, WorkspaceAssessment } from '#trust/model'
import { workspaceRelative } from '#trust/skill-files'

export type TrustReport = ReturnType<typeof trustReport>
type PartReport = ReturnType<typeof partReport>

export function trustReport(facts: {
  workspace: string
  /** The only skill that this is about, by its path in the workspace. */
  one: string | undefined
  pinned: boolean
  skills: readonly SkillInfo[]
  parts: readonly ActingPart[]
  assessment: WorkspaceAssessment
  texts: TextSource
}) {
  const { workspace, one, pinned, skills, parts, texts } = facts
  const { state, changes } = facts.assessment
  const byOwner = Map.groupBy(parts, ({ owner }) => owner)
  return {
    workspace,
    skill: one,
    state,
    pinned,
    skills: skills.map((skill) => {
      const path = workspaceRelative(workspace, skill.realDirectory)
      return skillReport(skill, path, byOwner.get(path) ?? [])
    }),
    configuration: (byOwner.get('') ?? []).filter(({ kind }) => kind !== 'script').map(partReport),
    changes: state === 'changed' ? changes.map((change) => changeReport(change, texts)) : [],
  }
}

export function changeDiagnostics(changes: readonly PartChange[], texts: TextSource): Diagnostic[] {
  return changes.map((difference) => {
    const { change, kind, path, note, ...shown } = changeReport(difference, texts)
    const message = `${change} since its workspace was trusted: ${kind}${note === undefined ? '' : ` (${note})`}`
    return { code: 'part-changed', severity: 'error', message, path, ...shown }
  })
}

function changeReport({ change, part, ...old }: PartChange, texts: TextSource) {
  const { kind, path } = part
  const digest = 'accepted' in old ? old.accepted.digest : undefined
  const before = digest === undefined ? 'new' : { digest, verb: 'accepted' as const }
  const content: TextChange = change === 'removed' ? {} : textChange(path, part, before, texts)
  return { change, kind, path, ...content }
}

function skillReport(skill: SkillInfo, path: string, parts: readonly ActingPart[]) {
  const { run, allowedTools, chain, context, agent, hooks } = skill.fields
  const texts = parts.filter((part) => part.kind === 'text')
  return {
    name: skill.name,
    path,
    run,
    allowedTools: allowedTools && formatAllowedTools(allowedTools),
    chain: chain?.steps.map((step) => step.name),
    order: chain && chainText(chain),
    gates: !chain || gatesOf(chain).length === 0 ? undefined : gatesOf(chain),
    fork: context === 'fork' ? (agent ?? 'general') : undefined,
    hooks,
    scripts: parts.filter((part) => part.kind === 'script').map(partReport),
    texts: texts.length === 0 ? undefined : texts.map(partReport),
  }
}

/** `servers`, of MCP configuration: `name: command arguments, with VARIABLES set`, or `name: address`. */
function partReport({ kind, path, size, interpreter, link, problem, text }: ActingPart) {
  const servers = kind === 'mcp' && text !== undefined ? serversIn(text) : undefined
  return { kind, path, size, interpreter, link, problem, servers }
}

/** What every known form of MCP configuration would start; undefined where it is none of them. */
function serversIn(text: string): string[] | undefined {
  const value = parseJson(text)
  const { mcpServers, servers, mcp } = objectOf(value)
  const found = mcpServers ?? servers ?? mcp
  if (!isObject(found)) return undefined
  return Object.entries(found).map(([name, server]) => {
    const { command, args, url, env } = objectOf(server)
    const words = [command, args, url].flat().filter((word) => typeof word === 'string')
    // Only what nothing but a password can be is left out: what is hidden could be what acts.
    const password = /(:\/\/[\w.~-]{1,100}:)[\w.~%!*+-]{1,200}@/g
    const shown = words.join(' ').replaceAll(password, '$1[redacted]@')
    const variables = isObject(env) ? Object.keys(env).join(', ') : ''
    return `${name}: ${shown}${variables && `, with ${variables} set`}`
  })
}

export function trustReportLines(report: TrustReport): Lines {
  const { workspace, skill: one, state, skills, configuration, changes } = report
  const subject = one === undefined ? 'Workspace' : `Skill ${safeLine(one)} of`
  const shown = skills.map((skill) => ({ ...skill, lines: skillLines(skill) }))
  const acting = shown.filter(({ lines }) => lines.length > 0)
  const plain = skills.length - acting.length
  const isIdle = state === 'untrusted' && acting.length === 0 && configuration.length === 0
  return [
    `${subject} ${safeLine(workspace)}: ${stateWords[isIdle ? 'idle' : state]}`,
    ...acting.flatMap(({ name, path, lines }) => ['', safeLine(`  ${name}  ${path}`), ...lines]),
    ...configuration.flatMap((part) => [
      '',
      `  ${partWords(part)}`,
      ...(part.servers ?? []).map((server) => `    server         ${safeLine(server)}`),
    ]),
    plain > 0 && `\n  ${amount(plain, 'skill')} with text only`,
    changes.length > 0 && '\nChanged since then:',
    ...changes.flatMap(({ kind, ...change }) =>
      textChangeLines({ ...change, change: `${change.change}: ${kind}` }, '  '),
    ),
  ]
}

const stateWords = {
  idle: 'not trusted, and nothing in it can run yet',
  trusted: 'trusted, and nothing that can execute has changed',
  untrusted: 'not trusted. After trusting it, this can execute:',
  changed: 'trusted, but something that can execute has changed. All that can execute:',
} as const

export function trustedLine({ pinned }: { pinned: boolean }): string {
  return `Trusted${pinned ? ', with its text' : ''}.`
}

function skillLines(skill: ReturnType<typeof skillReport>): string[] {
  const rows: [string, string | undefined][] = [
    ['run', skill.run],
    ['allowed-tools', skill.allowedTools],
    ['chain', skill.order],
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

function partWords({ path, interpreter, link, size, problem }: PartReport, below = ''): string {
  const isBelow = below !== '' && path.startsWith(`${below}/`)
  const shown = isBelow ? path.slice(below.length + 1) : path
  const content = link === undefined ? bytes(size) : `link to ${link}`
  const details = interpreter === undefined ? content : `${interpreter}, ${content}`
  return safeLine(`${shown} (${problem ?? details})`)
}

export function textChangeLines(
  { change, path, diff, note }: TextChange & { change: string; path: string },
  indent: string,
): string[] {
  const words = note === undefined ? path : `${path} (${note})`
  // Without the two lines that name the file.
  const lines = diff === undefined || diff === '' ? [] : diff.split('\n').slice(2)
  return [
    `${indent}${change} ${safeLine(words)}`,
    ...lines.map((line) => `${indent}  ${safeText(line)}`),
  ]
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
  const known = texts.read(before.digest)
  if (known !== undefined) return { diff: unifiedDiff(path, known, text) }
  return { note: `no diff: the text that was ${before.verb} was not kept here` }
}
