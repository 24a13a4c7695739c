import {
  type AnyCommand,
  type Context,
  type Note,
  type OptionSpecs,
  type Screen,
  Serving,
  type Values,
} from '../base/command.ts'
import { type Diagnostic, exitCode, type ExitCode, UsageError } from '../base/index.ts'
import type { CommandContext } from './command.ts'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import { openReports } from './reports.ts'

interface Call {
  command: AnyCommand
  values: Values<OptionSpecs>
  context: CommandContext
  io: Io
}

/** Runs a command and prints its Result in the form that was asked for. */
export async function perform({ command, values, context, io }: Call): Promise<ExitCode> {
  const { output } = context
  const format = formatOf(command, values, context.options.json)
  const reports = openReports({
    runtime: context.runtime,
    formats: command.formats ?? {},
    jobSummary: command.jobSummary === true,
    reports: listOf(values['report']),
    events: textOrTrue(values['events']),
    json: format === 'json',
    stdout: (text) => output.raw(text),
  })
  const screen = screenOf(context, reports.ownsStdout)
  const shown = showEvents({ command, screen, output, silent: format === 'json' })
  const isProtocol = command.protocol?.(values) === true
  if (isProtocol && format === 'json') {
    throw new UsageError({
      code: 'wrong-use',
      message: '--json has nothing to print: standard output carries the protocol',
      hint: 'Leave out --json, or add --list or --http.',
    })
  }
  const emit = (event: unknown): void => {
    reports.onEvent(event)
    shown.onEvent(event)
  }
  const contextOfCommand = contextFor({ context, io, screen, emit, setOff: () => shown.setOff() })
  if (isProtocol) contextOfCommand.streams = { stdin: io.stdin, stdout: io.protocolOutput }
  let answer: unknown
  try {
    answer = await command.run(contextOfCommand, values)
  } finally {
    shown.close()
  }
  if (answer === undefined) return exitCode.done
  const result = answer instanceof Serving ? answer.result : answer
  const problems = await reports.write(result)
  if (format === 'json') output.json(result)
  else if (format !== 'text') output.raw(command.formats?.[format]?.(result) ?? '')
  else {
    const text = command.render(result, screen)
    if (!reports.ownsStdout) output.raw(shown.rest(text))
    for (const note of command.notes?.(result, screen) ?? []) printNote(output, note)
  }
  output.diagnostics(problems)
  if (answer instanceof Serving) return await answer.ended
  return command.exitCode?.(result) ?? exitCode.done
}

/** `text`, `json` or one of the command's own formats. */
function formatOf(command: AnyCommand, values: Values<OptionSpecs>, json: boolean): string {
  const given: unknown = command.formats === undefined ? undefined : values['format']
  const spec = command.options['format']
  const isDefault = spec !== undefined && 'default' in spec && spec.default === given
  const asked = typeof given === 'string' && !isDefault ? given : undefined
  if (json && asked !== undefined && asked !== 'json') {
    throw new UsageError({
      code: 'wrong-use',
      message: `--format ${asked} is not known; allowed: json, beside --json`,
    })
  }
  if (json) return 'json'
  return asked ?? 'text'
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function textOrTrue(value: unknown): string | true | undefined {
  return typeof value === 'string' || value === true ? value : undefined
}

function screenOf({ output, options }: CommandContext, stdoutTaken: boolean): Screen {
  return {
    isTerminal: output.isTerminal,
    width: output.width,
    quiet: options.quiet,
    verbose: options.verbose,
    stdoutTaken,
    style: (format, text) => output.style(format, text),
    table: (rows) => output.tableText(rows),
  }
}

function contextFor({
  context,
  io,
  screen,
  emit,
  setOff,
}: {
  context: CommandContext
  io: Io
  screen: Screen
  emit(this: void, event: unknown): void
  /** Called before anything else than progress is printed. */
  setOff(): void
}): Context<unknown> {
  const { runtime, settings, signal, output, options } = context
  return {
    runtime,
    settings,
    signal,
    globals: options.again ?? { trustWorkspace: false },
    emit,
    // Finding out loads the streams of the process, which few commands need.
    get interactive() {
      return context.interactive
    },
    diagnose(diagnostics) {
      if (diagnostics.length > 0) setOff()
      output.diagnostics(diagnostics)
    },
    note(text, level = 'note') {
      setOff()
      output[level](text)
    },
    async ask({ text, about, otherwise }, withdraw) {
      if (!context.interactive) throw otherwise()
      if (about !== undefined) io.stderr.write(about(screen))
      const answer = await context.ask(text, withdraw)
      withdraw?.throwIfAborted()
      if (answer === undefined) throw otherwise()
      return answer
    },
    stdin: () => context.readStandardInput(),
  }
}

interface ShownEvents {
  onEvent(event: unknown): void
  /** Sets the lines that were printed off from what follows. */
  setOff(): void
  /** Ends the live line. */
  close(): void
  /** The part of a rendering that events have not printed yet. */
  rest(text: string): string
}

function showEvents({
  command,
  screen,
  output,
  silent,
}: {
  command: AnyCommand
  screen: Screen
  output: Output
  silent: boolean
}): ShownEvents {
  const progress = command.progress?.(screen)
  const draw = (): void => output.live(progress?.live?.() ?? '')
  const timer =
    progress?.live !== undefined && output.isLive ? setInterval(draw, 100).unref() : undefined
  let printed = ''
  let hasLines = false
  const setOff = (): void => {
    if (hasLines && progress?.compact !== true) output.note('')
    hasLines = false
  }
  return {
    setOff,
    onEvent(event) {
      const { line, stdout, diagnostics } = progress?.event(event) ?? {}
      if (line !== undefined) {
        if (timer !== undefined) output.live('')
        output.styled(line)
        hasLines = true
      }
      if (stdout !== undefined && !silent) {
        output.raw(stdout)
        printed += stdout
      }
      if (diagnostics !== undefined && !silent) output.diagnostics(diagnostics)
    },
    close() {
      clearInterval(timer)
      if (timer !== undefined) output.live('')
      setOff()
    },
    rest: (text) => (text.startsWith(printed) ? text.slice(printed.length) : text),
  }
}

function printNote(output: Output, note: Note): void {
  if (typeof note === 'string') output.note(note)
  else if ('detail' in note) output.detail(note.detail)
  else if ('failure' in note) output.failure(note.failure)
  else output.diagnostics([note satisfies Diagnostic])
}
