import { type Context, defineCommand } from '../../core/command.ts'
import { exitCode } from '../../core/errors.ts'
import { inputText } from '../../core/input-text.ts'
import { linesText, safeText } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import { callTool } from '../call/call-tool.ts'
import { parseParameters, readPairs } from '../call/check-parameters.ts'
import {
  outcomeText,
  outcomeValue,
  saveContent,
  type SavedFile,
  type SavePlace,
  saveText,
} from '../call/content.ts'
import type { CallReport } from '../call/context.ts'
import { ToolRequestError } from '../errors.ts'
import { callFailureText } from '../call/failure-text.ts'
import { findDefinition } from '../call/find-tool.ts'
import { summarise } from '../call/summarise.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import {
  type CallEvent,
  callOptions,
  callProgress,
  rawOption,
  type ResultView,
  viewedBy,
  withToolCalls,
} from './tool-calls.ts'

export type CallResult = Awaited<ReturnType<typeof callResult>>

export type ShownCall = CallResult & { text?: string | undefined; raw?: true | undefined }

export const command = defineCommand<ShownCall, CallEvent>()({
  arguments: {
    '<tool>': 'SERVER__TOOL, or a name that only one server has',
    '[parameters...]': 'a JSON object, @FILE, - for stdin, or name=value',
  },
  options: { ...callOptions, raw: rawOption },
  examples: ['tools call chrome__navigate_page type=url url=http://127.0.0.1:8080'],
  async run(context, { arguments: [name = '', ...given], ...options }) {
    return await withToolCalls(context, options, async ({ calls, place }) => {
      const tool = await findDefinition(name, calls)
      const params = await readParameters(given, tool, context)
      const report = await callTool({ tool: name, params }, calls)
      return await shownCall(report, place, options.raw)
    })
  },
  ...viewedBy(viewOf),
  progress: callProgress,
})

async function readParameters(
  given: readonly string[],
  tool: ToolDefinition,
  context: Pick<Context, 'runtime' | 'stdin'>,
): Promise<JsonObject> {
  const [first] = given
  if (first === undefined) return {}
  const isText = first === '-' || first.startsWith('@') || first.trimStart().startsWith('{')
  if (!isText) return readPairs(given, tool)
  if (given.length === 1) return parseParameters(await inputText(first, context))
  throw new ToolRequestError({
    code: 'wrong-parameters',
    message: 'parameters are one JSON object or name=value pairs, not both',
  })
}

function viewOf(result: ShownCall): ResultView {
  const code = result.status === 'success' ? exitCode.done : exitCode.badAnswer
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

export async function shownCall(
  report: CallReport,
  place: SavePlace,
  raw: boolean,
): Promise<ShownCall> {
  if (report.status === 'error') {
    return { ...(await callResult(report, place)), text: callFailureText(report) }
  }
  const { result, content } = await succeeded(report, place, raw)
  if (!raw) return content === undefined ? result : { ...result, text: content }
  const written = outcomeText(report.outcome)
  const isSame = written === '' || written === result.result
  return isSame ? { ...result, raw } : { ...result, raw, text: written }
}

export async function callResult(report: CallReport, place: SavePlace) {
  if (report.status === 'success') return (await succeeded(report, place, false)).result
  const { status, failure } = report
  const { kind, message, delivered } = failure
  const error = { code: kind, message, hint: report.report.suggestion }
  return { ...factsOf(report), status, error, delivered, report: report.report }
}

type Succeeded = CallReport & { status: 'success' }

async function succeeded(report: Succeeded, place: SavePlace, raw: boolean) {
  const { outcome, category, tool, params } = report
  const saved = saveContent(outcome, tool.name, place)
  const summary = summarise(outcome, { name: tool.name, category }, params, saved)
  const value = valueWithPaths(report, saved)
  const files = saved.map(({ path, mimeType, size }) => ({ path, mimeType, size }))
  const { size } = outcome
  const result = raw ? value : await boundedValue(value, tool.name, place)
  const facts = { ...factsOf(report), status: report.status, size, summary: summary.lines }
  return { result: { ...facts, files, result }, content: summary.content }
}

function factsOf<S extends CallReport['status']>({
  tool,
  params,
  status,
  attempts,
  durationMs,
  notes,
  diagnostics,
}: CallReport & { status: S }) {
  return { tool: tool.id, params, status, attempts, durationMs, notes, diagnostics }
}

export async function valueOfReport(report: Succeeded, place: SavePlace): Promise<JsonValue> {
  const files = saveContent(report.outcome, report.tool.name, place)
  return valueWithPaths(report, files)
}

function valueWithPaths({ outcome }: Succeeded, files: readonly SavedFile[]): JsonValue {
  return outcomeValue(outcome, (block) => files.find((file) => file.block === block)?.path)
}

/** A larger value goes to a file, unless all of it was asked for. */
const mostInline = 1_048_576

export async function boundedValue(
  value: JsonValue,
  name: string,
  place: SavePlace,
): Promise<JsonValue> {
  const isText = typeof value === 'string'
  const text = isText ? value : JSON.stringify(value)
  if (text.length <= mostInline) return value
  const path = saveText(text, name, isText ? 'txt' : 'json', place)
  return { path, size: Buffer.byteLength(text) }
}
