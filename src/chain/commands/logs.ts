import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { defineCommand, option } from '../../core/command.ts'
import { safeLine, safeText } from '../../core/text.ts'
import { whileRunning } from '../attempt.ts'
import type { ChainEvent } from '../engine.ts'
import { stepUnknown } from '../errors.ts'
import { allSteps } from '../plan-model.ts'
import { readResult } from '../run-chain.ts'
import { runFiles } from '../script-executor.ts'
import { executionsOf, statusOfRun } from '../step-result.ts'
import { readLog } from '../step-runner.ts'
import { upToDate } from './engine.ts'
import { runArgument } from './execute.ts'
import { type ChainProject, openProject } from './project.ts'

/** What one execution of a step printed; while a run is followed, a part of that. */
interface LoggedText {
  step: string
  attempt: number
  text: string
  /** Only the end is known here. */
  isEnd?: true
}

interface LogResult {
  runId: string
  step?: string | undefined
  logs: readonly LoggedText[]
}

const intervalMs = 250

export const logs = defineCommand<LogResult, ChainEvent>()({
  arguments: {
    ...runArgument,
    '[step]': 'the full name of a step (default: every step)',
  },
  options: {
    attempt: option.integer('--attempt <number>', 'only this attempt of a step', {
      least: 1,
      most: 999_999,
    }),
    follow: option.flag('--follow', 'print more as it comes, until the run ends or waits'),
  },
  details: `A log has what a step printed on stdout and stderr, with secrets masked. After 64 MiB it continues in a
new file, and of those before the last one is kept.`,
  examples: ['runs logs latest', 'runs logs latest unit --follow'],
  async run(context, { arguments: [named = '', step], attempt, follow }) {
    const project = openProject(context)
    const runId = project.store.idOf(named)
    const found: LoggedText[] = []
    const lengths = new Map<string, number>()
    for (;;) {
      const { texts, isRunning } = await readTexts(project, runId, { step, attempt })
      const last = !follow || !isRunning || context.signal.aborted
      for (const { key, ...logged } of texts) {
        const from = lengths.get(key) ?? 0
        const text = last ? logged.text : logged.text.slice(0, logged.text.lastIndexOf('\n') + 1)
        if (text.length <= from) continue
        lengths.set(key, text.length)
        const part = { ...logged, text: text.slice(from) }
        found.push(part)
        const shown = { key, step: labelOf(part, step), stream: 'stdout', text: part.text } as const
        if (follow) context.emit({ type: 'step-output', ...shown })
      }
      if (last) return { runId, step, logs: found }
      await sleep(intervalMs, undefined, { signal: context.signal }).catch(() => undefined)
    }
  },
  progress: () => ({
    event: (event) =>
      event.type === 'step-output' ? { stdout: textOf(event.step, event.text) } : undefined,
  }),
  render: ({ step, logs: found }) =>
    found.map((part) => textOf(labelOf(part, step), part.text)).join(''),
  notes({ logs: found }) {
    if (found.length === 0) return ['No step has printed anything.']
    const ends = found.filter(({ isEnd }) => isEnd === true).map(({ step }) => safeLine(step))
    return ends.length === 0 ? [] : [`Only the end is known here of: ${ends.join(', ')}`]
  },
})

async function readTexts(
  project: ChainProject,
  runId: string,
  { step, attempt }: { step: string | undefined; attempt: number | undefined },
) {
  const { runtime, settings } = project.context
  const { journal, standing } = await upToDate(project, runId)
  const names = allSteps(journal.plan.root).map((one) => one.step)
  if (step !== undefined && !names.includes(step)) {
    throw stepUnknown(`the run ${runId}`, step, names)
  }
  const isRunning = (standing ?? statusOfRun(journal, journal.path)) === 'running'
  const result = await readResult(journal, runtime)
  const shown = isRunning ? whileRunning(journal, result, runtime.now()) : result
  const { scratch } = settings.restate
  const isShared = journal.run.server !== undefined && scratch !== ''
  const { logs: directory } = runFiles(isShared ? scratch : project.store.directory, runId)
  const wanted = executionsOf(shown).filter(
    (one) =>
      (step === undefined || one.step === step || one.step.startsWith(`${step}/`)) &&
      (attempt === undefined || one.attempt === attempt),
  )
  const texts = wanted.map(({ log = '', ...execution }) => {
    const text = readLog(directory, execution.key)
    const end = { ...execution, text: log === '' ? '' : `${log}\n`, isEnd: true as const }
    return text === '' && !isRunning ? end : { ...execution, text }
  })
  return { texts, isRunning }
}

/** The step, unless it alone was asked for, and the number of a further attempt. */
function labelOf({ step, attempt }: LoggedText, asked: string | undefined): string {
  const again = attempt > 1 ? [`attempt ${attempt}`] : []
  return [...(step === asked ? [] : [step]), ...again].join(', ')
}

function textOf(label: string, text: string): string {
  const prefix = label === '' ? '' : `[${safeLine(label)}] `
  const lines = safeText(stripVTControlCharacters(text)).replace(/\n$/, '').split('\n')
  return lines.map((line) => `${prefix}${line}\n`).join('')
}
