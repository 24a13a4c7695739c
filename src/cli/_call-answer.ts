import { exitCode, type ExitCode, safeText } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import {
  callFailureText,
  type CallReport,
  outcomeText,
  outcomeValue,
  saveContent,
  type SavedFile,
  type SavePlace,
  saveText,
  summarise,
} from '../tools/index.ts'
import type { CommandContext } from './command.ts'

export interface AnswerOptions {
  /** All of the answer instead of a summary. */
  raw?: boolean | undefined
}

export type Succeeded = CallReport & { status: 'success' }

/** Prints what came of one call. */
export async function answerCall(
  report: CallReport,
  place: SavePlace,
  context: CommandContext,
  options: AnswerOptions,
): Promise<ExitCode> {
  const { output } = context
  if (context.options.json) {
    output.json(await reportJson(report, place, options))
  } else {
    output.diagnostics(report.diagnostics)
    if (report.status === 'success') await printAnswer(report, place, context, options)
    else output.failure(callFailureText(report))
    if (report.status === 'success') for (const note of report.notes) output.note(note)
  }
  return report.status === 'success' ? exitCode.done : exitCode.badAnswer
}

async function printAnswer(
  report: Succeeded,
  place: SavePlace,
  { output }: CommandContext,
  { raw }: AnswerOptions,
): Promise<void> {
  const { outcome, tool, category, params } = report
  const files = await saveContent(outcome, tool.name, place)
  if (raw === true) {
    output.line(safeText(wholeText(report)))
    for (const { path } of files) output.note(`Path: ${path}`)
    return
  }
  const summary = summarise(outcome, { name: tool.name, category }, params, files)
  for (const line of summary.lines) output.line(line)
  if (summary.content !== undefined) output.line(summary.content)
}

function wholeText({ outcome }: Succeeded): string {
  const text = outcomeText(outcome)
  if (text !== '') return text
  const value = outcomeValue(outcome)
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/** The report as it is printed with `--json`. */
export async function reportJson(
  report: CallReport,
  place: SavePlace,
  options: AnswerOptions,
): Promise<object> {
  const { tool, params, status, attempts, durationMs, notes, diagnostics } = report
  const facts = { tool: tool.id, params, status, attempts, durationMs, notes, diagnostics }
  if (report.status === 'error') {
    const { kind, message, delivered } = report.failure
    const error = { code: kind, message, hint: report.report.suggestion }
    return { ...facts, error, delivered, report: report.report }
  }
  const { outcome, category } = report
  const files = await saveContent(outcome, tool.name, place)
  const summary = summarise(outcome, { name: tool.name, category }, params, files)
  const value = valueWithPaths(report, files)
  return {
    ...facts,
    size: outcome.size,
    summary: summary.lines,
    files: files.map(({ path, mimeType, size }) => ({ path, mimeType, size })),
    result: options.raw === true ? value : await boundedValue(value, tool.name, place),
  }
}

/** What the answer is in `--json`, in batches and in chains: images are saved and become paths. */
export async function valueOfReport(report: Succeeded, place: SavePlace): Promise<JsonValue> {
  const files = await saveContent(report.outcome, report.tool.name, place)
  return valueWithPaths(report, files)
}

function valueWithPaths({ outcome }: Succeeded, files: readonly SavedFile[]): JsonValue {
  return outcomeValue(outcome, (block) => files.find((file) => file.block === block)?.path)
}

/** A larger answer goes to a file, unless all of it was asked for. */
const mostInline = 1_048_576

/** The value as it is, or where it was saved when it is too large for a document. */
export async function boundedValue(
  value: JsonValue,
  name: string,
  place: SavePlace,
): Promise<JsonValue> {
  const isText = typeof value === 'string'
  const text = isText ? value : JSON.stringify(value)
  if (text.length <= mostInline) return value
  const path = await saveText(text, name, isText ? 'txt' : 'json', place)
  return { path, size: Buffer.byteLength(text) }
}
