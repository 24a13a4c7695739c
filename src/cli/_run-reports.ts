import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, UsageError, writeFileAtomic } from '../base/index.ts'
import {
  type ChainEvent,
  type EventListener,
  renderReport,
  type ReportFormat,
  type RunResult,
} from '../chain/index.ts'
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
  write(result: RunResult): Promise<void>
}

/**
 * The reports that `--report` and `--events` ask for.
 * @throws {UsageError} for an unknown format, when two of them want one file or standard output, and for a file
 * that cannot be written: nothing has run by then.
 */
export function openReports(context: CommandContext, options: ReportOptions): Reports {
  const wanted = (options.report ?? []).map((text) => parseReport(text, context))
  const eventsFile = typeof options.events === 'string' ? options.events : undefined
  const toOutput = [
    ...wanted.filter((report) => report.file === undefined),
    ...(options.events === true ? ['events'] : []),
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
  if (eventsFile !== undefined) {
    requireWritable(resolve(context.runtime.cwd, eventsFile), '--events', 'append')
  }
  return {
    onEvent: options.events === undefined ? undefined : eventWriter(context, eventsFile),
    takesOutput: toOutput.length === 1 && !context.options.json,
    async write(result) {
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

function parseReport(text: string, context: CommandContext): WantedReport {
  const equals = text.indexOf('=')
  const format = findReportFormat(equals === -1 ? text : text.slice(0, equals))
  const file = equals === -1 ? undefined : text.slice(equals + 1)
  // In a workflow of GitHub Actions the summary of the job is where the report belongs.
  return { format, file: file ?? (format === 'github' ? stepSummary(context) : undefined) }
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
    else await writeFileAtomic(path, text)
  } catch (error) {
    notWritten(context, path, `the ${format} report was not written: ${messageOf(error)}`)
  }
}

/** The run is over, or goes on: what it did counts more than a file about it. */
function notWritten(context: CommandContext, path: string, message: string): void {
  context.output.diagnostics([{ code: 'report-not-written', severity: 'error', path, message }])
}

function eventWriter(context: CommandContext, file: string | undefined): EventListener {
  const path = file === undefined ? undefined : resolve(context.runtime.cwd, file)
  let broken = false
  return (event: ChainEvent) => {
    const text = `${JSON.stringify(event)}\n`
    if (path === undefined) context.output.raw(text)
    if (path === undefined || broken) return
    try {
      appendFileSync(path, text)
    } catch (error) {
      broken = true
      notWritten(context, path, `no more events are written: ${messageOf(error)}`)
    }
  }
}
