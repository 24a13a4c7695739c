import { type Check, defineCommand, type Screen } from '#core/command'
import { inspectConfiguration } from '#core/configuration'
import { type Diagnostic, errorsIn, exitCode } from '#core/errors'
import { amount, cell, type Lines, linesText, safeLine } from '#core/text'
import {
  type ChainStart,
  chainStarts,
  installedPlatforms,
  platformStatuses,
  startLine,
} from '#hooks/status'
import {
  type Overview,
  type OverviewEntry,
  type OverviewPart,
  projectOverview,
} from '#view/overview'

interface OverviewResult extends Overview {
  /** Errors of the settings: until they are fixed, most commands are refused. */
  settingsErrors: readonly Diagnostic[]
  /** For a project without skills. */
  next: readonly { command: string; purpose: string }[]
  /** How the chains of this project are started in clients with a working hook. */
  starts: readonly ChainStart[]
}

export const command = defineCommand<OverviewResult>()({
  helpsToRepair: true,
  options: {},
  details: `Shows skills, clients, runs and MCP servers of this project, and for each problem the command that fixes it. Ends with 1 if anything is invalid or failed.`,
  examples: ['', '--json'],
  async run(context) {
    const overview = await projectOverview(context)
    const { runtime, globals } = context
    const { diagnostics } = inspectConfiguration(runtime, { file: globals.config })
    const isEmpty = overview.parts.some(({ name, total }) => name === 'skills' && total === 0)
    const settingsErrors = errorsIn(diagnostics)
    const ready = platformStatuses(runtime, installedPlatforms(runtime)).filter(
      ({ rail }) => rail.state === 'ready',
    )
    const starts = isEmpty ? [] : chainStarts(context, ready)
    return { ...overview, settingsErrors, next: isEmpty ? nextSteps : [], starts }
  },
  exitCode: ({ parts, settingsErrors }) =>
    settingsErrors.length > 0 ||
    parts.some(({ entries }) => entries.some(({ status }) => status === 'problem'))
      ? exitCode.failed
      : exitCode.done,
  render({ workspace, parts, next, settingsErrors }, screen) {
    const steps = screen.table(
      next.map(({ command: line, purpose }) => [`  ${screen.asCalled(line)}`, purpose]),
    )
    return linesText([
      screen.style('bold', safeLine(workspace)),
      ...settingsLines(settingsErrors, screen),
      ...parts
        .filter(({ total, entries }) => total > 0 || entries.length > 0)
        .flatMap((part) => partLines(part, screen)),
      next.length > 0 && `\nThere are no skills here. Next steps:\n${steps.trimEnd()}`,
    ])
  },
  notes({ next, starts }) {
    const line = startLine(starts)
    return [
      line !== '' && `\nStart a chain: ${line}`,
      next.length === 0 && '\nskillrail --help lists the commands.',
    ]
  },
})

const nextSteps: OverviewResult['next'] = [
  { command: 'skillrail new --rail release', purpose: 'create a chain that an agent cannot skip' },
  { command: 'skillrail new my-skill', purpose: 'create a skill in .agents/skills' },
  {
    command: 'skillrail hooks install',
    purpose: 'connect the agent clients of this machine',
  },
]

function settingsLines(errors: readonly Diagnostic[], screen: Screen): Lines {
  if (errors.length === 0) return []
  const text = `${amount(errors.length, 'error')}; most commands are refused until they are fixed`
  return [
    '',
    `settings ${text}`,
    `  ${markOf('problem', screen)} ${safeLine(errors[0]?.path ?? '')}`,
    `      ${screen.style('cyan', screen.asCalled('skillrail doctor'))}`,
  ]
}

/** The command of a part shows further entries. */
const maxEntries = 5

const commands = {
  skills: 'validate',
  clients: 'hooks status',
  runs: 'runs list',
  servers: 'tools servers',
} as const satisfies Record<OverviewPart['name'], string>

function partLines({ name, summary, entries }: OverviewPart, screen: Screen): Lines {
  const notable = entries.filter(({ status }) => status !== 'ok')
  const hiddenCount = notable.length - maxEntries
  return [
    '',
    `${name.padEnd(9)}${safeLine(summary)}`,
    ...notable.slice(0, maxEntries).flatMap((entry) => entryLines(entry, screen)),
    hiddenCount > 0 && screen.asCalled(`  … ${hiddenCount} more: skillrail ${commands[name]}`),
  ]
}

function entryLines({ name, status, state, about, fix }: OverviewEntry, screen: Screen): string[] {
  const text = cell([name, state, about].map((one) => safeLine(one)).join('  '), screen.width - 4)
  const line = `  ${markOf(status, screen)} ${text}`
  return fix === undefined
    ? [line]
    : [line, `      ${screen.style('cyan', screen.asCalled(safeLine(fix)))}`]
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
