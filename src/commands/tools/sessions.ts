import { defineCommand, option, type Screen } from '#core/command'
import { codeOfErrors, type Diagnostic, exitCode } from '#core/errors'
import { amount, didYouMean, linesText, safeLine } from '#core/text'
import { ToolError } from '#tools/errors'
import {
  hasLeft,
  listSessions,
  readWhole,
  type SessionDetails,
  type SessionRow,
} from '#tools/workflow/session'
import { type ToolContext, toolProject } from '#tools/project-tools'
import { sessionOf } from '#tools/workflow/project-workflows'

const sessionOption = option.text('--session <id>', 'a session other than that of this shell')

export const list = defineCommand<{ sessions: readonly SessionRow[] }>()({
  options: {},
  examples: ['tools session list'],
  async run(context) {
    return { sessions: await listSessions({ ...context, project: toolProject(context) }) }
  },
  exitCode: ({ sessions }) =>
    codeOfErrors({ diagnostics: sessions.flatMap(({ diagnostics }) => diagnostics) }),
  render({ sessions }, screen) {
    if (sessions.length === 0) return ''
    const rows = sessions.map(({ id, startedAt, completed, calls, current, isOver }) => {
      const state = [...(current ? ['this one'] : []), ...(isOver ? ['over'] : [])].join(', ')
      return [id, safeLine(startedAt ?? '-'), String(completed), String(calls), state]
    })
    return screen.table([['SESSION', 'STARTED', 'PREREQUISITES', 'CALLS', ''], ...rows])
  },
  notes: ({ sessions }) => [
    sessions.flatMap(({ diagnostics }) => diagnostics),
    sessions.length === 0 && 'There are no sessions here.',
  ],
})

export const show = defineCommand<SessionDetails>()({
  options: { session: sessionOption },
  examples: ['tools session show'],
  run: showSession,
  exitCode: codeOfErrors,
  render: sessionText,
  notes: ({ diagnostics }) => diagnostics,
})

/** How many calls are printed, the latest ones. */
const maxCalls = 20

async function showSession(
  context: ToolContext,
  { session: id }: { session?: string | undefined },
): Promise<SessionDetails> {
  const { whole } = await readSession(context, id)
  return { ...whole, calls: whole.calls.slice(-maxCalls) }
}

function sessionText(
  { id, path, sharedPath, startedAt, isOver, completed, calls }: SessionDetails,
  screen: Screen,
) {
  const over = isOver ? '; it is over, and the next call begins a new one' : ''
  const start =
    startedAt === undefined ? 'not started yet' : `started ${safeLine(startedAt)}${over}`
  const steps = completed.map(({ workflow, tool, scope, at, result }) =>
    [`  ${workflow}`, tool, JSON.stringify(scope), at, result.slice(0, 60)].map(safeLine),
  )
  const rows = calls.map(({ at, tool, durationMs, outcome, size }) =>
    [`  ${at}`, tool, outcome, `${durationMs} ms`, `${size} bytes`].map(safeLine),
  )
  return [
    `Session ${id}, ${start}\n${safeLine(path)}\n`,
    sharedPath === undefined ? '' : `${safeLine(sharedPath)}\n`,
    steps.length === 0 ? 'No prerequisite has run.\n' : screen.table(steps),
    rows.length === 0 ? '' : `Calls:\n${screen.table(rows)}`,
  ].join('')
}

interface Clearing {
  id: string
  path: string
  workflows: readonly string[]
  prerequisites: number
  calls: number
  cleared: boolean
  dryRun?: true | undefined
  callsKept?: number | undefined
  diagnostics?: readonly Diagnostic[] | undefined
}

export const clear = defineCommand<Clearing>()({
  options: {
    session: sessionOption,
    log: option.flag('--log', 'also delete its log of calls'),
    dryRun: option.flag('--dry-run', 'show what would be cleared'),
  },
  examples: ['tools session clear'],
  async run(context, { session: id, log: withLog, dryRun }) {
    const { session, whole } = await readSession(context, id)
    const { path, completed, calls } = whole
    return {
      id: session.id,
      path,
      workflows: [...new Set(completed.map(({ workflow }) => workflow))],
      prerequisites: completed.length,
      calls: withLog ? calls.length : 0,
      cleared: dryRun ? false : await session.clear({ log: withLog }),
      ...(dryRun ? { dryRun, diagnostics: (await session.read()).diagnostics } : {}),
      ...(withLog || calls.length === 0 ? {} : { callsKept: calls.length }),
    }
  },
  render({ id, workflows, prerequisites, calls, dryRun }) {
    const forgotten = `${amount(prerequisites, 'finished prerequisite')} of ${safeLine(workflows.join(', '))}`
    const outcome =
      dryRun === true ? `would forget ${forgotten}` : `cleared: ${forgotten} will run again`
    const first =
      prerequisites === 0
        ? `Nothing to clear in session ${id}: no prerequisite has finished.`
        : `Session ${id} ${outcome}.`
    const log = `Its log of ${amount(calls, 'call')} ${dryRun === true ? 'would be' : 'is'} deleted.`
    return linesText(calls === 0 ? [first] : [first, log])
  },
  notes: ({ callsKept = 0, diagnostics = [] }) => [
    diagnostics,
    callsKept > 0 && `Its log of ${amount(callsKept, 'call')} stays; --log deletes it.`,
  ],
})

async function readSession(context: ToolContext, id: string | undefined) {
  const project = toolProject(context)
  const session = sessionOf(context, project, id)
  const whole = await readWhole(session)
  const ownSessions = [sessionOf(context, project, undefined).id, 'default']
  if (hasLeft(whole) || ownSessions.includes(session.id)) return { session, whole }
  const sessionIds = (await listSessions({ ...context, project })).map((one) => one.id)
  const there =
    sessionIds.length === 0
      ? 'There are no sessions here.'
      : `Sessions here: ${sessionIds.join(', ')}.`
  throw new ToolError({
    code: 'session-not-found',
    message: `Session '${session.id}' not found.`,
    hint: `${didYouMean(session.id, sessionIds)} ${there}`.trim(),
    exitCode: exitCode.notFound,
  })
}
