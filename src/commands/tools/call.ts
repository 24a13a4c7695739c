import {
  type Context,
  defineCommand,
  type Notes,
  option,
  type OptionSpecs,
  type Progress,
  type Screen,
} from '#core/command'
import { type Diagnostic, exitCode, type ExitCode } from '#core/errors'
import { inputText } from '#core/input-text'
import type { JsonObject } from '#core/json'
import { linesText, safeLine, safeText } from '#core/text'
import { shownCall, type ShownCall } from '#tools/call/call-result'
import { parseParameters, readPairs } from '#tools/call/check-parameters'
import { findDefinition } from '#tools/call/find-tool'
import {
  type CallListener,
  type CallOptions,
  type ToolCalls,
  withProjectCalls,
} from '#tools/call/open-calls'
import { makeCall } from '#tools/call/make-calls'
import type { StepListener } from '#tools/call/steps'
import { ToolRequestError } from '#tools/errors'
import type { ToolDefinition } from '#tools/model'
import { askWhetherToRun, writtenConsent } from './ask-at-terminal.ts'

export const callOptions = {
  output: option.text(
    '--output <dir>',
    'where images and other files go; default .skillrail/results',
  ),
  session: option.text('--session <id>', 'the session that holds completed prerequisites'),
  skipPrerequisites: option.flag(
    '--skip-prerequisites',
    'skip prerequisites of workflows with mode warn',
  ),
  timeout: option.seconds('--timeout <seconds>', 'time limit of each call'),
} as const satisfies OptionSpecs

export const yesOption = option.flag('--yes', 'answer yes where a call needs your approval')

export const rawOption = option.flag('--raw', 'print the full result')

export const dryRunOption = option.flag('--dry-run', 'show what would be called and call nothing')

export const command = defineCommand<ShownCall, CallEvent>()({
  arguments: {
    '<tool>': 'SERVER__TOOL, or a name that only one server has',
    '[parameters...]': 'a JSON object, @FILE, - for stdin, or name=value',
  },
  options: { ...callOptions, yes: yesOption, raw: rawOption },
  examples: ['tools call chrome__navigate_page type=url url=http://127.0.0.1:8080'],
  async run(context, { arguments: [name = '', ...parameterWords], ...options }) {
    return await withToolCalls(context, options, async ({ calls, place }) => {
      const tool = await findDefinition(name, calls)
      const params = await readParameters(parameterWords, tool, context)
      const consent = writtenConsent(context, calls, options.yes)
      const report = await makeCall({ tool: name, params }, { texts: '' }, consent)
      return await shownCall(report, place, options.raw)
    })
  },
  ...viewedBy(viewOf),
  progress: callProgress,
})

async function readParameters(
  parameterWords: readonly string[],
  tool: ToolDefinition,
  context: Pick<Context, 'runtime' | 'stdin'>,
): Promise<JsonObject> {
  const [first] = parameterWords
  if (first === undefined) return {}
  const isText = first === '-' || first.startsWith('@') || first.trimStart().startsWith('{')
  if (!isText) return readPairs(parameterWords, tool)
  if (parameterWords.length === 1) return parseParameters(await inputText(first, context))
  throw new ToolRequestError({
    code: 'wrong-parameters',
    message: 'parameters are one JSON object or name=value pairs, not both',
  })
}

function viewOf(result: ShownCall): ResultView {
  const code = result.status === 'success' ? exitCode.done : exitCode.failed
  return { code, ...callView(result) }
}

export function callView(shown: ShownCall): Pick<ResultView, 'text' | 'notes'> {
  const { diagnostics, notes, text } = shown
  if (shown.status === 'error') {
    return { text: '', notes: [diagnostics, { failure: text ?? '' }] }
  }
  const { raw, result, summary, files } = shown
  if (raw !== true) {
    const lines = text === undefined ? summary : [...summary, text]
    return { text: linesText(lines), notes: [diagnostics, notes] }
  }
  const value = typeof result === 'string' ? result : JSON.stringify(result, null, 2)
  const paths = files.map(({ path }) => `Path: ${path}`)
  return { text: `${safeText(text ?? value)}\n`, notes: [diagnostics, paths, notes] }
}

export interface ResultView {
  code: ExitCode
  text: string
  notes: Notes
}

export function viewedBy<R>(view: (result: R) => ResultView) {
  return {
    exitCode: (result: R) => view(result).code,
    render: (result: R) => view(result).text,
    notes: (result: R) => view(result).notes,
  }
}

/** Runs work that calls tools, and shows its progress at the terminal. */
export async function withToolCalls<T>(
  context: Context<CallEvent>,
  options: CallOptions,
  work: (tools: ToolCalls) => Promise<T>,
): Promise<T> {
  const diagnose = (diagnostics: readonly Diagnostic[]): void =>
    context.emit({ kind: 'diagnostics', diagnostics })
  return await withProjectCalls({ ...context, diagnose }, options, terminalListener(context), work)
}

export type CallEvent =
  | { kind: 'progress'; line: string }
  | { kind: 'diagnostics'; diagnostics: readonly Diagnostic[] }
  | {
      kind: 'step'
      tool: string
      count: string
      status: 'running' | 'success' | 'failed'
      durationMs?: number | undefined
    }

export function callProgress({ style }: Screen): Progress<CallEvent> {
  let live = ''
  return {
    compact: true,
    event(event) {
      if (event.kind === 'diagnostics') return { diagnostics: event.diagnostics }
      if (event.kind === 'progress') {
        live = event.line
        return undefined
      }
      const { tool, count, status, durationMs } = event
      live = status === 'running' ? `… ${count} ${safeLine(tool)}` : ''
      if (status === 'running') return undefined
      const mark = status === 'failed' ? style('red', '✗') : style('green', '✓')
      const time = durationMs === undefined ? '' : `  ${durationMs} ms`
      return { line: `${mark} ${count} ${safeLine(tool)}${time}` }
    },
    live: () => live,
  }
}

export function stepListener(
  { emit }: Pick<Context<CallEvent>, 'emit'>,
  total?: number,
): StepListener {
  return ({ index, tool, result, report }) => {
    const count = total === undefined ? `${index + 1}.` : `${index + 1}/${total}`
    const ended = (result ?? report)?.status
    const status = ended === undefined ? 'running' : ended === 'success' ? 'success' : 'failed'
    emit({ kind: 'step', tool, count, status, durationMs: report?.durationMs })
  }
}

function terminalListener(context: Context<CallEvent>): CallListener {
  return {
    ask: context.interactive ? (warning) => askWhetherToRun(context, warning) : undefined,
    progress(tool, { progress, total, message }) {
      const share = total === undefined ? String(progress) : `${progress}/${total}`
      const line = safeLine(`${tool} ${share} ${message ?? ''}`).trimEnd()
      context.emit({ kind: 'progress', line })
      context.note(line, 'detail')
    },
  }
}
