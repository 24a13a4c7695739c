import { posix } from 'node:path'
import { amount, bytes, columnsOf, type Lines, padToColumns, safeLine, safeText } from '#core/text'
import type { GuardChange } from '#project/always-guards'
import type {
  PartReport,
  SkillReport,
  TextChange,
  TriggerReport,
  TrustReport,
} from '#project/trust-report'

export function trustReportLines(report: TrustReport): Lines {
  const { workspace, skill: singleSkill, state, skills, configuration, changes } = report
  const subject = singleSkill === undefined ? 'Workspace' : `Skill ${safeLine(singleSkill)} of`
  const withLines = skills.map((skill) => ({ ...skill, lines: skillLines(skill) }))
  const acting = withLines.filter(({ lines }) => lines.length > 0)
  const isNewText = changes.length > 0 && changes.every(({ kind }) => kind === 'skill')
  const isIdle = state === 'untrusted' && acting.length === 0 && configuration.length === 0
  if (report.sameAs !== undefined) {
    return [
      `${subject} ${safeLine(workspace)}: not trusted.`,
      '',
      `  It is a working tree of the same repository as ${safeLine(report.sameAs)},`,
      '  which you trust, and all that can execute is the same.',
      ...guardLines(report.guards),
    ]
  }
  return [
    `${subject} ${safeLine(workspace)}: ${stateWords[isIdle ? 'idle' : isNewText ? 'grown' : state]}`,
    ...folderLines(withLines),
    ...triggerLines(report.triggers),
    ...configuration.flatMap((part) => [
      '',
      `  ${partWords(part)}`,
      ...(part.servers ?? []).map((server) => `    server         ${safeLine(server)}`),
      part.unverified && `    not compared   ${part.unverified.join('; ')}`,
    ]),
    changes.length > 0 && '\nChanged since then:',
    ...changes.flatMap(({ kind, ...change }) =>
      textChangeLines({ ...change, change: `${change.change}: ${kind}` }, '  '),
    ),
    ...guardLines(report.guards),
  ]
}

/** What triggers do, restrictions first. */
function triggerLines(triggers: readonly TriggerReport[]): Lines {
  const sections: readonly [TriggerReport['mode'], string][] = [
    ['denies', 'Denied once, until the model has read the reference:'],
    ['call', 'Given to the model at a tool call:'],
    ['prompt', 'Given to the model with a prompt:'],
  ]
  return sections.flatMap(([mode, title]) => {
    const members = triggers.filter((trigger) => trigger.mode === mode)
    return [
      members.length > 0 && `\n  ${title}`,
      ...members.map(({ skill, trigger, inject, overlay }) => {
        const where = overlay === undefined ? '' : `, from ${overlay}`
        return `    ${safeLine(`${skill}  ${trigger} => ${inject}${where}`)}`
      }),
    ]
  })
}

type SkillWithLines = SkillReport & { lines: readonly string[] }

/** One line for each fact, below the folder of the skills: a project's report fits on one screen. */
function folderLines(skills: readonly SkillWithLines[]): Lines {
  const folders = Map.groupBy(skills, ({ path }) => posix.dirname(path))
  return Array.from(folders).flatMap(([folder, members]) => {
    const acting = members.filter(({ lines }) => lines.length > 0)
    const textOnly = members.filter(({ lines }) => lines.length === 0).map(nameInFolder)
    const width = Math.max(...acting.map((skill) => columnsOf(nameInFolder(skill))))
    return [
      '',
      `  ${safeLine(folder)}`,
      ...acting.flatMap((skill) =>
        skill.lines.map((line, index) => {
          const name = index === 0 ? nameInFolder(skill) : ''
          return `    ${padToColumns(name, width)}  ${line}`
        }),
      ),
      textOnly.length > 0 &&
        `    ${amount(textOnly.length, 'skill')} with text only: ${textOnly.join(', ')}`,
    ]
  })
}

/** The name of a skill, with that of its directory if they differ. */
function nameInFolder({ name, path }: SkillReport): string {
  const directory = posix.basename(path)
  return safeLine(name === directory ? name : `${name} (${directory})`)
}

/**
 * Lines for the calls that are denied until a rail reaches their step, and for calls that would be
 * free again.
 */
function guardLines(guards: readonly GuardChange[]): Lines {
  if (guards.length === 0) return []
  const now = guards.filter(({ change }) => change !== 'removed')
  const gone = guards.filter(({ change }) => change === 'removed')
  const line = ({ chain, path, calls, change, isOwn }: GuardChange): string => {
    const words = `${calls.join(' and ') || 'nothing'}, except in the chain ${chain}`
    const where = isOwn ? `${path}, in every project` : path
    const news = change === 'none' || change === 'removed' ? '' : `  (${change})`
    return `  ${safeLine(`${words}  ${where}`)}${news}`
  }
  return [
    now.length > 0 && '\nDenied to agents whose client has a working hook, with or without a rail:',
    ...now.map(line),
    gone.length > 0 && '\nNo longer denied, because the chain is gone or guards nothing now:',
    ...gone.map(line),
  ]
}

const stateWords = {
  idle: 'not trusted, and nothing in it can run yet',
  trusted: 'trusted, and nothing that can execute has changed',
  untrusted: 'not trusted. After trusting it, this can execute:',
  grown: 'trusted, but skills were added or removed. All that can execute:',
  changed: 'trusted, but something that can execute has changed. All that can execute:',
} as const

export function trustedLine({ pinned, newText }: { pinned: boolean; newText: boolean }): string {
  const more = newText ? ' New skills with text only are trusted too.' : ''
  return `Trusted${pinned ? ', with its text' : ''}.${more}`
}

function skillLines(skill: SkillReport): string[] {
  const rows: [string, string | undefined][] = [
    ['run', skill.run],
    ['allowed-tools', skill.allowedTools],
    ['chain', skill.order],
    ['waits before', skill.gates?.join(', ')],
    ...(skill.checks ?? []).map((check): [string, string] => ['check', check]),
    ['subagent', skill.fork],
    ['hooks', skill.hooks === undefined ? undefined : JSON.stringify(skill.hooks)],
    ...skill.scripts.map((part): [string, string] => ['script', partWords(part, skill.path)]),
    ...(skill.texts ?? []).map((part): [string, string] => ['text', partWords(part, skill.path)]),
  ]
  return rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`${label.padEnd(14)} ${safeLine(value)}`],
  )
}

function partWords({ path, interpreter, link, size, problem }: PartReport, below = ''): string {
  const isBelow = below !== '' && path.startsWith(`${below}/`)
  const relativePath = isBelow ? path.slice(below.length + 1) : path
  const content = link === undefined ? bytes(size) : `link to ${link}`
  const details = interpreter === undefined ? content : `${interpreter}, ${content}`
  return safeLine(`${relativePath} (${problem ?? details})`)
}

export function textChangeLines(
  { change, path, diff, note }: TextChange & { change: string; path: string },
  indent: string,
): string[] {
  const words = note === undefined ? path : `${path} (${note})`
  // The first two lines of a diff name the file.
  const lines = diff === undefined || diff === '' ? [] : diff.split('\n').slice(2)
  return [
    `${indent}${change} ${safeLine(words)}`,
    ...lines.map((line) => `${indent}  ${safeText(line)}`),
  ]
}
