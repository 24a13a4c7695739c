import { type Check, defineCommand, type Screen } from '#core/command'
import { exitCode } from '#core/errors'
import { cell, type Lines, linesText, safeLine } from '#core/text'
import {
  type Overview,
  type OverviewEntry,
  type OverviewPart,
  projectOverview,
} from '#view/overview'

interface OverviewResult extends Overview {
  /** For a project without skills. */
  next: readonly { command: string; purpose: string }[]
}

export const command = defineCommand<OverviewResult>()({
  options: {},
  details: `Shows skills, clients, runs and MCP servers of this project, and for each problem the command that fixes
it. Ends with 1 if anything is invalid or failed.`,
  examples: ['overview --json'],
  async run(context) {
    const overview = await projectOverview(context)
    const isEmpty = overview.parts.some(({ name, total }) => name === 'skills' && total === 0)
    return { ...overview, next: isEmpty ? nextSteps : [] }
  },
  exitCode: ({ parts }) =>
    parts.some(({ entries }) => entries.some(({ status }) => status === 'problem'))
      ? exitCode.failed
      : exitCode.done,
  render({ workspace, parts, next }, screen) {
    const steps = screen.table(next.map(({ command: line, purpose }) => [`  ${line}`, purpose]))
    return linesText([
      screen.style('bold', safeLine(workspace)),
      ...parts.filter(({ total }) => total > 0).flatMap((part) => partLines(part, screen)),
      next.length > 0 && `\nThere are no skills here. Next steps:\n${steps.trimEnd()}`,
    ])
  },
  notes: ({ next }) => [next.length === 0 && '\nskillrail --help lists the commands.'],
})

const nextSteps: OverviewResult['next'] = [
  { command: 'skillrail new my-skill', purpose: 'create a skill in .agents/skills' },
  { command: 'skillrail hooks install', purpose: 'let skills add context to prompts' },
]

/** More entries are for the command of the part. */
const mostEntries = 5

const commands = {
  skills: 'validate',
  clients: 'hooks status',
  runs: 'runs list',
  servers: 'tools servers',
} as const satisfies Record<OverviewPart['name'], string>

function partLines({ name, summary, entries }: OverviewPart, screen: Screen): Lines {
  const notable = entries.filter(({ status }) => status !== 'ok')
  const rest = notable.length - mostEntries
  return [
    '',
    `${name.padEnd(9)}${safeLine(summary)}`,
    ...notable.slice(0, mostEntries).flatMap((entry) => entryLines(entry, screen)),
    rest > 0 && `  … ${rest} more: skillrail ${commands[name]}`,
  ]
}

function entryLines({ name, status, state, about, fix }: OverviewEntry, screen: Screen): string[] {
  const text = cell([name, state, about].map((one) => safeLine(one)).join('  '), screen.width - 4)
  const line = `  ${markOf(status, screen)} ${text}`
  return fix === undefined ? [line] : [line, `      ${screen.style('cyan', safeLine(fix))}`]
}

export function markOf(status: Check['status'], { style }: Screen): string {
  const marks = {
    ok: style('green', '✓'),
    information: style('dim', '·'),
    warning: style('yellow', '!'),
    problem: style('red', '✗'),
  } as const satisfies Record<Check['status'], string>
  return marks[status]
}
