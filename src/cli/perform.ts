import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type AnyCommand,
  type Context,
  type Note,
  type OptionSpecs,
  type QuestionToUser,
  type Screen,
  Serving,
  type Values,
} from '#core/command'
import { exitCode, type ExitCode, UsageError, wrongUse } from '#core/errors'
import { inspectConfiguration, loadConfiguration, settingsOfCall } from '#core/configuration'
import type { Runtime } from '#core/runtime'
import type { GlobalValues } from './command-line.ts'
import { openReports } from './reports.ts'
import { ask, createOutput, type Io, type Output, readStandardInput } from './terminal.ts'
import { jsonText } from '#core/text'

interface Call {
  command: AnyCommand
  values: Values<OptionSpecs>
  globals: GlobalValues
  runtime: Runtime
  signal: AbortSignal
  io: Io
}

export async function perform(call: Call): Promise<ExitCode> {
  const { command, values, globals, runtime, io } = call
  const { config, quiet, verbose } = globals
  if (config !== undefined) requireFile(config, resolve(runtime.cwd, config))
  const load = command.helpsToRepair === true ? inspectConfiguration : loadConfiguration
  const { settings, diagnostics } = settingsOfCall(runtime, globals, load)
  // Not the whole `io`, because reading its other streams would open them.
  const { stdout, stderr } = io
  const output = createOutput({ stdout, stderr, env: runtime.env, quiet, verbose })
  output.diagnostics(diagnostics)
  const format = formatOf(command, values, globals.json)
  const reports = openReports({
    runtime,
    formats: command.formats ?? {},
    jobSummary: command.jobSummary === true,
    reports: listOf(values['report']),
    events: textOrTrue(values['events']),
    json: format === 'json',
    stdout: (text) => output.raw(text),
  })
  const screen: Screen = { ...output, quiet, verbose, stdoutTaken: reports.ownsStdout }
  const eventOutput = showEvents(command, screen, output, format === 'json')
  const isProtocol = command.protocol?.(values) === true
  if (isProtocol && format === 'json' && command.withoutJson !== undefined) {
    throw wrongUse('--json has nothing to print: stdout carries the protocol', command.withoutJson)
  }
  const emit = (event: unknown): void => {
    reports.onEvent(event)
    eventOutput.onEvent(event)
  }
  const context = contextFor({
    ...call,
    settings,
    output,
    screen,
    emit,
    setOff: () => eventOutput.setOff(),
  })
  if (isProtocol) context.streams = { stdin: io.stdin, stdout: io.protocolOutput }
  let answer: unknown
  try {
    answer = await command.run(context, values)
  } finally {
    eventOutput.close()
  }
  if (answer === undefined) return exitCode.done
  const result = answer instanceof Serving ? answer.result : answer
  const problems = await reports.write(result)
  if (format === 'json') output.raw(`${jsonText(result, 2)}\n`)
  else if (format !== 'text') {
    const text = command.formats?.[format]?.(result) ?? ''
    output.raw(text, command.commandFormat === format)
  } else {
    const text = command.render(result, screen)
    if (!reports.ownsStdout) output.raw(eventOutput.rest(text))
    for (const note of command.notes?.(result, screen).flat() ?? []) {
      if (note !== undefined && note !== false) printNote(output, note)
    }
  }
  output.diagnostics(problems)
  if (answer instanceof Serving) return await answer.ended
  return command.exitCode?.(result) ?? exitCode.done
}

/** A file that is named on the command line and does not exist is wrong use of any command. */
function requireFile(name: string, path: string): void {
  if (existsSync(path)) return
  const message = `--config ${name}: there is no such file`
  throw new UsageError({ code: 'configuration-missing', message })
}

/** `text`, `json` or one of the command's own formats. */
function formatOf(command: AnyCommand, values: Values<OptionSpecs>, json: boolean): string {
  const value: unknown = command.formats ? values['format'] : undefined
  const spec = command.options['format']
  const isDefault = spec !== undefined && 'default' in spec && spec.default === value
  const requestedFormat = typeof value === 'string' && !isDefault ? value : undefined
  if (json && requestedFormat !== undefined && requestedFormat !== 'json') {
    throw wrongUse(`--format ${requestedFormat} is invalid; allowed with --json: json`)
  }
  return json ? 'json' : (requestedFormat ?? 'text')
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function textOrTrue(value: unknown): string | true | undefined {
  return typeof value === 'string' || value === true ? value : undefined
}

interface Surroundings extends Call {
  settings: Context['settings']
  output: Output
  screen: Screen
  emit(this: void, event: unknown): void
  /** Called before anything other than progress is printed. */
  setOff(): void
}

function contextFor(call: Surroundings): Context<unknown> {
  const { runtime, settings, signal, globals, io, output, emit, setOff } = call
  return {
    runtime,
    settings,
    signal,
    globals,
    emit,
    // Checking this loads the streams of the process, which few commands need.
    get interactive() {
      return io.terminal !== undefined
    },
    diagnose(diagnostics) {
      if (diagnostics.length > 0) setOff()
      output.diagnostics(diagnostics)
    },
    note(text, level = 'note') {
      setOff()
      output[level](text)
    },
    ask: questionsAt(call),
    stdin: () => readStandardInput(io),
  }
}

/** Asks one question at a time. Nothing else writes to the terminal in the meantime. */
function questionsAt({ io, output, screen, signal }: Surroundings): Context['ask'] {
  let previous: Promise<unknown> = Promise.resolve()

  const askNow = async (
    { text, about, otherwise }: QuestionToUser,
    withdraw: AbortSignal | undefined,
  ): Promise<string> => {
    withdraw?.throwIfAborted()
    if (!io.terminal) throw otherwise()
    output.live('')
    output.openQuestion()
    try {
      if (about) io.stderr.write(about(screen))
      const answer = await ask(io, text, signal, withdraw)
      withdraw?.throwIfAborted()
      if (answer === undefined) throw otherwise()
      return answer
    } finally {
      output.closeQuestion()
    }
  }

  return async (question, withdraw) => {
    const turn = previous
    const answer = turn.then(() => askNow(question, withdraw))
    previous = answer.catch(() => undefined)
    return await (withdraw ? Promise.race([answer, abortOf(withdraw)]) : answer)
  }
}

/** Rejects with the reason when the signal aborts. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}

function showEvents(command: AnyCommand, screen: Screen, output: Output, silent: boolean) {
  const progress = command.progress?.(screen)
  const draw = (): void => output.live(progress?.live?.() ?? '')
  const timer = progress?.live && output.isLive ? setInterval(draw, 100).unref() : undefined
  let printedOutput = ''
  let hasLines = false
  const setOff = (): void => {
    if (hasLines && progress?.compact !== true) output.note('')
    hasLines = false
  }
  return {
    /** Separates the printed lines from the text that follows. */
    setOff,
    onEvent(event: unknown): void {
      const { line, stdout, diagnostics } = progress?.event(event) ?? {}
      if (line !== undefined) {
        if (timer) output.live('')
        output.styled(line)
        hasLines = true
      }
      if (stdout !== undefined && !silent) {
        output.raw(stdout)
        printedOutput += stdout
      }
      if (diagnostics && !silent) output.diagnostics(diagnostics)
    },
    close(): void {
      clearInterval(timer)
      if (timer) output.live('')
      setOff()
    },
    /** The part of a rendering that events have not printed yet. */
    rest: (text: string) =>
      text.startsWith(printedOutput) ? text.slice(printedOutput.length) : text,
  }
}

function printNote(output: Output, note: Note): void {
  if (typeof note === 'string') output.note(note)
  else if ('detail' in note) output.detail(note.detail)
  else if ('failure' in note) output.failure(note.failure)
  else output.diagnostics([note])
}
