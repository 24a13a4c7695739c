import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { reasonOf, UsageError } from '../base/index.ts'
import {
  type EventListener,
  renderReport,
  type ReportFormat,
  type ShownRun,
} from '../chain/index.ts'
import { openEventFile } from './_event-file.ts'
import { writeNamedFile } from '../base/write-files.ts'
import { requireWritable } from './_require-writable.ts'
import { findReportFormat } from './_report-format.ts'
import type { CommandContext } from './command.ts'

export interface ReportOptions {
  report?: readonly string[] | undefined
  events?: string | boolean | undefined
}

/** One `--report FORMAT[=FILE]`. */
interface WantedReport {
  format: ReportFormat
  file: string | undefined
}

export interface Reports {
  /** Undefined unless `--events` was given. */
  onEvent: EventListener | undefined
  /** Whether standard output belongs to a report or to the events, not to the timeline. */
  takesOutput: boolean
  write(result: ShownRun): Promise<void>
}

/** Where the `github` report goes that no file is named for; undefined: to standard output. */
interface ReportPlaces {
  summary: string | undefined
}

/**
 * The reports that `--report` and `--events` ask for.
 * @throws {UsageError} for an unknown format, when two of them want one file or standard output, and for a file
 * that cannot be written: nothing has run by then.
 */
export function openReports(
  context: CommandContext,
  options: ReportOptions,
  { summary }: ReportPlaces = { summary: stepSummary(context) },
): Reports {
  const wanted = (options.report ?? []).map((text) => parseReport(text, summary))
  const { events } = options
  const eventsFile = typeof events === 'string' ? fileNamed('--events', events) : undefined
  const toOutput = [
    ...wanted.filter((report) => report.file === undefined),
    ...(events !== undefined && eventsFile === undefined ? ['events'] : []),
    ...(context.options.json ? ['json'] : []),
  ]
  if (toOutput.length > 1) {
    throw new UsageError({
      code: 'wrong-use',
      message: 'only one of --json, --events and --report can have standard output',
      hint: 'Give the others a file: --events=FILE, --report html=FILE.',
    })
  }
  refuseSharedFile(context, [
    ...wanted.map(({ format, file }) => ({ option: `--report ${format}`, file })),
    { option: '--events', file: eventsFile },
  ])
  for (const { format, file } of wanted) {
    if (file === undefined) continue
    const how = format === 'github' && file === stepSummary(context) ? 'append' : 'replace'
    requireWritable(resolve(context.runtime.cwd, file), `--report ${format}`, how)
  }
  const writer = events === undefined ? undefined : eventWriter(context, eventsFile)
  return {
    onEvent: writer?.onEvent,
    takesOutput: toOutput.length === 1 && !context.options.json,
    async write(result) {
      writer?.close()
      for (const { format, file } of wanted) {
        const text = renderReport(format, result)
        if (file === undefined) context.output.raw(text)
        else await writeReport(context, format, file, text)
      }
    },
  }
}

/** One would overwrite the other. */
function refuseSharedFile(
  context: CommandContext,
  wanted: readonly { option: string; file: string | undefined }[],
): void {
  const owners = new Map<string, string>()
  for (const { option, file } of wanted) {
    if (file === undefined) continue
    const path = resolve(context.runtime.cwd, file)
    const owner = owners.get(path)
    if (owner !== undefined) {
      throw new UsageError({
        code: 'wrong-use',
        message: `${owner} and ${option} both go into ${file}`,
        hint: 'Give each a file of its own.',
      })
    }
    owners.set(path, option)
  }
}

function parseReport(text: string, summary: string | undefined): WantedReport {
  const equals = text.indexOf('=')
  const format = findReportFormat(equals === -1 ? text : text.slice(0, equals))
  if (equals !== -1) {
    return { format, file: fileNamed(`--report ${format}`, text.slice(equals + 1)) }
  }
  // In a workflow of GitHub Actions the summary of the job is where the report belongs.
  return { format, file: format === 'github' ? summary : undefined }
}

/**
 * The file that an option names; undefined for `-`, which is standard output.
 * @throws {UsageError} for what can be no file.
 */
function fileNamed(option: string, text: string): string | undefined {
  if (text !== '' && !/[/\\]$/.test(text)) return text === '-' ? undefined : text
  throw new UsageError({
    code: 'file-not-named',
    message: text === '' ? `${option}= names no file` : `${option}=${text} names a directory`,
    hint: `Name a file, as in ${option}=${text}FILE, or - for standard output.`,
  })
}

function stepSummary(context: CommandContext): string | undefined {
  return context.runtime.env['GITHUB_STEP_SUMMARY'] || undefined
}

async function writeReport(
  context: CommandContext,
  format: ReportFormat,
  file: string,
  text: string,
): Promise<void> {
  const path = resolve(context.runtime.cwd, file)
  try {
    if (format === 'github' && file === stepSummary(context)) appendFileSync(path, text)
    else await writeNamedFile(path, text)
  } catch (error) {
    notWritten(context, path, `the ${format} report was not written: ${reasonOf(error)}`)
  }
}

/** The run is over, or goes on: what it did counts more than a file about it. */
function notWritten(context: CommandContext, path: string, message: string): void {
  context.output.diagnostics([{ code: 'report-not-written', severity: 'error', path, message }])
}

interface EventWriter {
  onEvent: EventListener
  close(): void
}

function eventWriter(context: CommandContext, named: string | undefined): EventWriter {
  if (named === undefined) {
    const onEvent: EventListener = (event) => context.output.raw(`${JSON.stringify(event)}\n`)
    return { onEvent, close: () => undefined }
  }
  const path = resolve(context.runtime.cwd, named)
  const file = openEventFile(path)
  let broken = false
  function attempt(work: () => void): void {
    if (broken) return
    try {
      work()
    } catch (error) {
      broken = true
      notWritten(context, path, `events were not written: ${reasonOf(error)}`)
    }
  }
  return {
    onEvent: (event) => attempt(() => file.write(`${JSON.stringify(event)}\n`)),
    close: () => attempt(() => file.close()),
  }
}
