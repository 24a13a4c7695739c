import type { Diagnostic } from '#core/errors'
import type { JsonObject, JsonValue } from '#core/json'
import {
  outcomeText,
  outcomeValue,
  saveContent,
  type SavedFile,
  type SavePlace,
  saveText,
} from './content.ts'
import type { CallFailure } from '#tools/model'
import type { CallReport, FailureReport } from './context.ts'
import { callFailureText } from './failure-text.ts'
import { summarise } from './summarise.ts'

/** What a call led to, as commands and the MCP server print it. Large values are in files. */
export type CallResult = CallResultFacts &
  (
    | {
        status: 'success'
        size: number
        summary: readonly string[]
        files: readonly Pick<SavedFile, 'path' | 'mimeType' | 'size'>[]
        result: JsonValue
      }
    | {
        status: 'error'
        error: { code: string; message: string; hint: string }
        delivered: CallFailure['delivered']
        report: FailureReport
      }
  )

interface CallResultFacts {
  tool: string
  params: JsonObject
  attempts: number
  durationMs: number
  notes: readonly string[]
  diagnostics: readonly Diagnostic[]
}

/** A result with the text that a user reads. */
export type ShownCall = CallResult & { text?: string | undefined; raw?: true | undefined }

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

export async function callResult(report: CallReport, place: SavePlace): Promise<CallResult> {
  if (report.status === 'success') return (await succeeded(report, place, false)).result
  const { status, failure } = report
  const { kind, message, delivered } = failure
  const error = { code: kind, message, hint: report.report.suggestion }
  return { ...factsOf(report), status, error, delivered, report: report.report }
}

type Succeeded = CallReport & { status: 'success' }

async function succeeded(report: Succeeded, place: SavePlace, raw: boolean) {
  const { outcome, tool, params } = report
  const saved = saveContent(outcome, tool.name, place)
  const summary = summarise(outcome, params, saved)
  const value = valueWithPaths(report, saved)
  const files = saved.map(({ path, mimeType, size }) => ({ path, mimeType, size }))
  const { size } = outcome
  const { value: result, path } = raw ? { value } : boundedValue(value, tool.name, place)
  const lines = path === undefined ? summary.lines : [...summary.lines, `Saved: ${path}`]
  const facts = { ...factsOf(report), status: report.status, size, summary: lines }
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
const maxInline = 1_048_576

export function boundedValue(
  value: JsonValue,
  name: string,
  place: SavePlace,
): { value: JsonValue; path?: string } {
  const isText = typeof value === 'string'
  const text = isText ? value : JSON.stringify(value)
  if (text.length <= maxInline) return { value }
  const path = saveText(text, name, isText ? 'txt' : 'json', place)
  return { value: { path, size: Buffer.byteLength(text) }, path }
}
