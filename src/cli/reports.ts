import {
  accessSync,
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { AnyCommand } from '#core/command'
import { type Diagnostic, messageOf, reasonOf, UsageError, wrongUse } from '#core/errors'
import { makeDirectory, openAtOnce, writeAll, writeNamedFile } from '#core/write-files'
import type { Runtime } from '#core/runtime'
import { jsonText } from '#core/text'

interface ReportRequest {
  runtime: Runtime
  formats: NonNullable<AnyCommand['formats']>
  jobSummary: boolean
  /** `FORMAT` or `FORMAT=FILE`, each. */
  reports: readonly string[]
  /** A file; `true` for stdout. */
  events: string | true | undefined
  json: boolean
  stdout(text: string): void
}

interface WantedReport {
  format: string
  file: string | undefined
}

/**
 * @throws {UsageError} for an unknown format, for two outputs to one place, and for a file that cannot be
 * written, before anything runs
 */
export function openReports(request: ReportRequest) {
  const { runtime, events, json } = request
  const reports = request.reports.map((text) => parseReport(text, request))
  const eventsPath = typeof events === 'string' ? fileOf('--events', events) : undefined
  const reportsOnStdout = reports.filter(({ file }) => file === undefined).length
  const printsEvents = events !== undefined && eventsPath === undefined
  const owners = reportsOnStdout + Number(printsEvents) + Number(json)
  if (owners > 1) {
    const hint = 'Give the others a file: --events=FILE, --report html=FILE.'
    throw wrongUse('only one of --json, --events and --report can use stdout', hint)
  }
  refuseSharedFile(runtime.cwd, [
    ...reports.map(({ format, file }) => ({ option: `--report ${format}`, file })),
    { option: '--events', file: eventsPath },
  ])
  for (const report of reports) {
    if (report.file === undefined) continue
    const mode = appends(report, runtime) ? 'append' : 'replace'
    requireWritable(resolve(runtime.cwd, report.file), `--report ${report.format}`, mode)
  }
  const problems: Diagnostic[] = []
  const sink = eventSink(request, eventsPath, problems)
  return {
    /** Whether a report or the events own stdout, so that the Result is not printed there. */
    ownsStdout: owners === 1 && !json,
    onEvent: (event: unknown) => sink?.write(`${jsonText(event)}\n`),
    /**
     * Writes the reports. A failed write is only a diagnostic, because the command's work is done by then.
     */
    async write(result: unknown): Promise<readonly Diagnostic[]> {
      sink?.close()
      for (const report of reports) {
        const { format, file } = report
        const text = request.formats[format]?.(result) ?? ''
        const path = resolve(runtime.cwd, file ?? '')
        try {
          if (file === undefined) request.stdout(text)
          else if (appends(report, runtime)) appendFileSync(path, text)
          else await writeNamedFile(path, text)
        } catch (error) {
          if (file === undefined) throw error
          const message = `the ${format} report was not written: ${reasonOf(error)}`
          problems.push(writeProblem(path, message))
        }
      }
      return problems
    },
  }
}

function parseReport(text: string, { formats, jobSummary, runtime }: ReportRequest): WantedReport {
  const equals = text.indexOf('=')
  const format = equals === -1 ? text : text.slice(0, equals)
  if (!Object.hasOwn(formats, format)) {
    const hint = `Known are ${Object.keys(formats).join(', ')}.`
    throw wrongUse(`--report ${format}: there is no such format`, hint)
  }
  if (equals !== -1) {
    return { format, file: fileOf(`--report ${format}`, text.slice(equals + 1)) }
  }
  return { format, file: format === 'github' && jobSummary ? stepSummary(runtime) : undefined }
}

function fileOf(option: string, text: string): string | undefined {
  if (text !== '' && !/[/\\]$/.test(text)) return text === '-' ? undefined : text
  const message = `${option}=${text} names no file`
  const hint = `Name a file, as in ${option}=${text}FILE, or - for stdout.`
  throw new UsageError({ code: 'file-not-named', message, hint })
}

function refuseSharedFile(
  cwd: string,
  outputs: readonly { option: string; file: string | undefined }[],
): void {
  const owners = new Map<string, string>()
  for (const { option, file } of outputs) {
    if (file === undefined) continue
    const path = resolve(cwd, file)
    const owner = owners.get(path)
    if (owner !== undefined) {
      throw wrongUse(`${owner} and ${option} both go into ${file}`, 'Give each a file of its own.')
    }
    owners.set(path, option)
  }
}

function stepSummary({ env }: Runtime): string | undefined {
  return env['GITHUB_STEP_SUMMARY'] || undefined
}

function appends({ format, file }: WantedReport, runtime: Runtime): boolean {
  return format === 'github' && file === stepSummary(runtime)
}

function writeProblem(path: string, message: string): Diagnostic {
  return { code: 'report-not-written', severity: 'error', path, message }
}

/** Opens the file once, because the reader of a pipe would otherwise stop after the first line. */
function eventSink(
  { events, runtime, stdout }: ReportRequest,
  file: string | undefined,
  problems: Diagnostic[],
): { write(line: string): void; close(): void } | undefined {
  if (events === undefined) return undefined
  if (file === undefined) return { write: stdout, close: () => undefined }
  const path = resolve(runtime.cwd, file)
  requireWritable(path, '--events', 'append')
  const descriptor = openEvents(path)
  let hasFailed = false
  const attempt = (work: () => void): void => {
    if (hasFailed) return
    try {
      work()
    } catch (error) {
      hasFailed = true
      problems.push(writeProblem(path, `events were not written: ${reasonOf(error)}`))
    }
  }
  return {
    write: (line) => attempt(() => writeAll(descriptor, Buffer.from(line))),
    close: () =>
      attempt(() => {
        const { nlink } = fstatSync(descriptor)
        closeSync(descriptor)
        if (nlink === 0) throw new Error('it was deleted during the run')
      }),
  }
}

function openEvents(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants
  try {
    return openAtOnce(path, O_WRONLY | O_APPEND | O_CREAT)
  } catch (error) {
    const hint = 'Nothing was run. Start the reader of a pipe first.'
    throw notWritable('--events', path, reasonOf(error), hint, error)
  }
}

/** Makes the directory of a file that will be written later, and checks that it can be written. */
function requireWritable(path: string, option: string, mode: 'append' | 'replace'): void {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory()) throw new Error('it is a directory')
    if (stats?.isFile() === false) return accessSync(path, constants.W_OK)
    if (!stats) makeDirectory(dirname(path))
    const target = stats ? realpathSync(path) : path
    const changedPath = stats && mode === 'append' ? target : dirname(target)
    accessSync(changedPath, constants.W_OK)
  } catch (error) {
    const hint = 'Nothing was run. Name a file in a directory that can be written to.'
    throw notWritable(option, path, messageOf(error), hint, error)
  }
}

function notWritable(option: string, path: string, reason: string, hint: string, cause: unknown) {
  const message = `${option}: ${path} cannot be written: ${reason}`
  return new UsageError({ code: 'file-not-writable', message, hint, cause })
}
