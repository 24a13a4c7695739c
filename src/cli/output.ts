import { stripVTControlCharacters, styleText } from 'node:util'
import { diagnosticText } from '../base/diagnostic.ts'
import { columnsOf, cutToColumns, type Diagnostic, safeText } from '../base/index.ts'
import type { Sink } from './sink.ts'

type StyleFormat = Parameters<typeof styleText>[0]

/** Where a command's words go: the answer to standard output, everything else to standard error. */
export interface Output {
  /** Whether a person sees standard output: only then are there colours. */
  readonly isTerminal: boolean
  /** Whether a person watches both outputs, so that a line may be rewritten; never so in CI. */
  readonly isLive: boolean
  /** Nobody reads remarks, so none need be put into words. */
  readonly isQuiet: boolean
  /** Columns of the terminal; 100 where there is none. */
  readonly width: number
  /** One line of the answer. Pass text from skills through `safeLine` yourself where you style it. */
  line(text?: string): void
  /** The answer as it is, without a newline added. */
  raw(text: string): void
  /** The whole answer as one JSON document. */
  json(value: unknown): void
  /** A remark on standard error; silent with `--quiet`. */
  note(text: string): void
  /** A remark with styles, whose parts were made safe by the caller; silent with `--quiet`. */
  styled(text: string): void
  /** Why there is no good answer, on standard error; also with `--quiet`. */
  failure(text: string): void
  /** A remark for `--verbose`. */
  detail(text: string): void
  /**
   * Rewrites the last line of standard error on a terminal, as much of it as fits; does nothing without
   * one, and in CI, where a terminal keeps everything that was ever written to it.
   */
  live(text: string): void
  diagnostics(diagnostics: readonly Diagnostic[]): void
  /** The text in a style of `util.styleText`; plain without a terminal or with NO_COLOR. */
  style: (format: StyleFormat, text: string) => string
  /** Rows as aligned columns, two spaces apart. */
  table(rows: readonly (readonly string[])[]): void
  tableText(rows: readonly (readonly string[])[]): string
}

export interface OutputOptions {
  stdout: Sink
  stderr: Sink
  env: Readonly<Record<string, string | undefined>>
  quiet: boolean
  verbose: boolean
}

export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr, env } = options
  const isTerminal = stdout.isTerminal && env['TERM'] !== 'dumb'
  const colours = env['FORCE_COLOR'] ? isSet(env['FORCE_COLOR']) : isTerminal && !env['NO_COLOR']
  const rewrites = stderr.isTerminal && !options.quiet && !isSet(env['CI'])
  const output: Output = {
    isTerminal,
    isLive: isTerminal && rewrites,
    isQuiet: options.quiet,
    get width() {
      const wanted = Number(env['COLUMNS'])
      return wanted > 0 ? wanted : (stdout.columns ?? 100) || 100
    },
    line: (text = '') => stdout.write(`${text}\n`),
    raw: (text) => stdout.write(text),
    json: (value) => stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => {
      if (!options.quiet) stderr.write(`${safeText(text)}\n`)
    },
    styled: (text) => {
      if (options.quiet) return
      const shown =
        stderr.isTerminal || isSet(env['FORCE_COLOR']) ? text : stripVTControlCharacters(text)
      stderr.write(`${shown}\n`)
    },
    failure: (text) => stderr.write(`${safeText(text)}\n`),
    detail: (text) => {
      if (options.verbose) stderr.write(`${safeText(text)}\n`)
    },
    live: (text) => {
      if (rewrites) stderr.write(`\r\u001b[2K${cutToColumns(text, output.width - 1)}`)
    },
    diagnostics: (diagnostics) => {
      for (const diagnostic of diagnostics) {
        const silent = options.quiet && diagnostic.severity !== 'error'
        if (!silent) stderr.write(`${diagnosticText(diagnostic, output.style)}\n`)
      }
    },
    style: (format, text) => (colours ? styleText(format, text, { validateStream: false }) : text),
    table: (rows) => stdout.write(output.tableText(rows)),
    tableText: (rows) =>
      alignColumns(rows)
        .map((line) => `${line}\n`)
        .join(''),
  }
  return output
}

/** Whether a variable of the environment says yes. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const lengths = rows.map((row) => row.map(visibleLength))
  const widths: number[] = []
  for (const row of lengths) {
    row.forEach((length, column) => {
      widths[column] = Math.max(widths[column] ?? 0, length)
    })
  }
  return rows.map((row, index) =>
    row
      .map((cell, column) => {
        const missing = (widths[column] ?? 0) - (lengths[index]?.[column] ?? 0)
        return cell + ' '.repeat(missing + 2)
      })
      .join('')
      .trimEnd(),
  )
}

/** Columns without the styling escapes that {@link Output.style} adds. */
function visibleLength(text: string): number {
  return columnsOf(stripVTControlCharacters(text))
}
