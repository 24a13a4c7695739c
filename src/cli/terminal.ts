import { fstatSync } from 'node:fs'
import type { Screen } from '#core/command'
import type { Readable, Writable } from 'node:stream'
import { stripVTControlCharacters, styleText } from 'node:util'
import { statsOf } from '#core/read-files'
import {
  type Diagnostic,
  diagnosticText,
  errorsIn,
  messageOf,
  SkillrailError,
  systemCode,
  UsageError,
  withoutRepeatedHints,
} from '#core/errors'
import { columnsOf, cutToColumns, linesText, safeText, withoutGithubCommands } from '#core/text'
import type { Runtime } from '#core/runtime'
import { writeAll } from '#core/write-files'
import { asCalled } from './called-as.ts'

/** What a command line reads and writes; tests pass their own. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Sink
  readonly stderr: Sink
  /** For questions; undefined in a non-interactive shell. */
  readonly terminal: { input: Readable; output: Writable } | undefined
  /** Owned by commands that speak a protocol over stdin and stdout. */
  readonly protocolOutput: Writable
  /** Replaces parts of the real runtime, such as `env`, `cwd` and `home`. */
  readonly runtime?: Partial<Runtime>
}

/** The streams of this process. Loading Node's stream modules takes time, so it waits until they are used. */
export function processIo(): Io {
  return {
    stdout: sinkOf(1),
    stderr: sinkOf(2),
    get stdin() {
      return process.stdin
    },
    get terminal() {
      const { stdin, stderr } = process
      return stdin.isTTY && stderr.isTTY ? { input: stdin, output: stderr } : undefined
    },
    get protocolOutput() {
      return process.stdout
    },
  }
}

export async function readStandardInput({ stdin }: Pick<Io, 'stdin'>): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  } catch (error) {
    const message = `standard input cannot be read: ${messageOf(error)}`
    throw new UsageError({ code: 'standard-input', message })
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Returns the line that the user types; undefined in a non-interactive shell, when `withdrawn` aborts and
 * when the input ends (Ctrl-D). Rejects when `signal` ends the command.
 */
export async function ask(
  { terminal }: Pick<Io, 'terminal'>,
  question: string,
  signal: AbortSignal,
  withdrawn?: AbortSignal,
): Promise<string | undefined> {
  if (!terminal) return undefined
  const { createInterface } = await import('node:readline/promises')
  const reader = createInterface(terminal)
  // During a question, the terminal sends Ctrl-C to the reader instead of the process.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    const signals = withdrawn ? [signal, withdrawn] : [signal]
    return await reader.question(question, { signal: AbortSignal.any(signals) })
  } catch (error) {
    if (signal.aborted) throw error
    terminal.output.write('\n')
    return undefined
  } finally {
    reader.close()
  }
}

export interface Output {
  isTerminal: boolean
  /** Whether stdout and stderr are terminals, so that a line may be redrawn; never in CI. */
  isLive: boolean
  width: number
  style: Screen['style']
  table: Screen['table']
  asCalled: Screen['asCalled']
  /** Writes text to stdout unchanged. */
  raw(text: string, isCommands?: boolean): void
  note(text: string): void
  /** Writes a note whose styled parts the caller has made safe. */
  styled(text: string): void
  /** Writes text to stderr, with `--quiet` too. */
  failure(text: string): void
  /** Writes text to stderr with `--verbose` only. */
  detail(text: string): void
  /** Redraws the last line of stderr, as much of it as fits; does nothing if that is not possible. */
  live(text: string): void
  /**
   * Keeps everything off the terminal until `closeQuestion`, so that nothing overwrites a question.
   * Text is written afterwards; a redrawn line is dropped.
   */
  openQuestion(): void
  closeQuestion(): void
  diagnostics(diagnostics: readonly Diagnostic[]): void
}

export function createOutput({
  stdout,
  stderr,
  env,
  quiet,
  verbose,
}: Pick<Io, 'stdout' | 'stderr'> &
  Pick<Runtime, 'env'> &
  Pick<Screen, 'quiet' | 'verbose'>): Output {
  const isTerminal = stdout.isTerminal && env['TERM'] !== 'dumb'
  const colours = env['FORCE_COLOR'] ? isSet(env['FORCE_COLOR']) : isTerminal && !env['NO_COLOR']
  const redraws = stderr.isTerminal && !quiet && !isSet(env['CI'])
  const columns = Number(env['COLUMNS'])
  const columnsOfTerminal = stdout.columns || stderr.columns || 100
  // A program that reads the output needs all of it.
  const width = columns > 0 ? columns : stdout.isTerminal ? columnsOfTerminal : Infinity
  const liveWidth = columns > 0 ? columns : columnsOfTerminal
  const style: Screen['style'] = (format, text) =>
    colours ? styleText(format, text, { validateStream: false }) : text
  let waiting: (() => void)[] | undefined
  const write = (sink: Sink, text: string, isCommands?: boolean): void => {
    if (waiting && sink.isTerminal) waiting.push(() => sink.write(text, isCommands))
    else sink.write(text, isCommands)
  }
  const called = (text: string): string => asCalled(text, env)
  const failure = (text: string) => write(stderr, `${safeText(called(text))}\n`)
  return {
    isTerminal,
    isLive: isTerminal && redraws,
    width,
    style,
    table: alignColumns,
    asCalled: called,
    raw: (text: string, isCommands?: boolean) => write(stdout, text, isCommands),
    note(text: string): void {
      if (!quiet) failure(text)
    },
    styled(text: string): void {
      if (quiet) return
      const keepsStyles = stderr.isTerminal || isSet(env['FORCE_COLOR'])
      write(stderr, `${keepsStyles ? text : stripVTControlCharacters(text)}\n`)
    },
    failure,
    detail(text: string): void {
      if (verbose) failure(text)
    },
    live(text: string): void {
      if (redraws && !waiting) stderr.write(`\r\u001b[2K${cutToColumns(text, liveWidth - 1)}`)
    },
    openQuestion(): void {
      waiting ??= []
    },
    closeQuestion(): void {
      const writes = waiting ?? []
      waiting = undefined
      for (const writeNow of writes) writeNow()
    },
    diagnostics(diagnostics: readonly Diagnostic[]): void {
      const printed = quiet ? errorsIn(diagnostics) : diagnostics
      for (const diagnostic of withoutRepeatedHints(printed)) {
        write(stderr, `${called(diagnosticText(diagnostic, style))}\n`)
      }
    },
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, visibleLength(cell))
    }
  }
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => {
      return cell + ' '.repeat((widths[column] ?? 0) - visibleLength(cell) + 2)
    })
    return cells.join('').trimEnd()
  })
  return linesText(lines)
}

/** Columns without the styling escapes that {@link Output.style} adds. */
function visibleLength(text: string): number {
  return columnsOf(stripVTControlCharacters(text))
}

/** A destination for text. Writing returns when the system has the text. */
export interface Sink {
  readonly isTerminal: boolean
  /** Columns of the terminal; undefined without one. */
  readonly columns: number | undefined
  /** @param isCommands the text consists of commands for a GitHub runner. */
  write(text: string, isCommands?: boolean): void
}

function sinkOf(descriptor: 1 | 2): Sink {
  const sink = openSink(descriptor)
  return process.env['GITHUB_ACTIONS'] === 'true' ? withoutCommands(sink) : sink
}

/** Ensures that a GitHub runner finds no command in the text, even in the joined text of several writes. */
export function withoutCommands(sink: Sink): Sink {
  let line = ''
  return {
    ...sink,
    write(text, isCommands) {
      if (isCommands) return sink.write(text)
      const joinedText = line + text
      sink.write(withoutGithubCommands(joinedText).slice(line.length))
      const last = joinedText.slice(
        Math.max(joinedText.lastIndexOf('\n'), joinedText.lastIndexOf('\r')) + 1,
      )
      // A long line no longer begins with a command.
      line = last.trim().length < 2 ? last : `x${last.slice(-2)}`
    },
  }
}

/**
 * Stdout (1) or stderr (2), written directly: loading Node's stream modules takes a fifth of the start. If
 * the reader of a pipe ends, the rest is dropped and the command continues, so that `skillrail run … |
 * head` does not end a run.
 */
function openSink(descriptor: 1 | 2): Sink {
  const isTerminal = isTty(descriptor)
  const stream = descriptor === 1 ? 'stdout' : 'stderr'
  let isClosed = false
  return {
    isTerminal,
    get columns() {
      return isTerminal ? process[stream].columns : undefined
    },
    write(text) {
      // The console of Windows takes characters, not UTF-8.
      if (isTerminal && process.platform === 'win32') process[stream].write(text)
      else if (!isClosed) isClosed = !writeWhole(descriptor, Buffer.from(text))
    },
  }
}

function isTty(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isCharacterDevice()) return false
    // Asking the system loads Node's network modules, a tenth of the start.
    if (stats.rdev === statsOf('/dev/null')?.rdev) return false
  } catch {
    return false // The program that started us has closed it.
  }
  return process.getBuiltinModule('node:tty').isatty(descriptor)
}

function writeWhole(descriptor: number, bytes: Buffer): boolean {
  try {
    writeAll(descriptor, bytes)
    return true
  } catch (error) {
    if (systemCode(error) === 'EPIPE' || descriptor === 2) return false
    const message = `stdout cannot be written: ${messageOf(error)}`
    const hint = 'What was written so far is incomplete.'
    throw new SkillrailError({ code: 'output-unwritable', message, hint, cause: error })
  }
}
