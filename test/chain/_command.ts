import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { StepResult } from '../../src/chain/engine.ts'
import { SkillrailError } from '../../src/core/errors.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { commands } from '../../src/cli/registry.ts'
import { parseCommandLine } from '../../src/cli/command-line.ts'
import { type Io, processIo, type Sink } from '../../src/cli/terminal.ts'
import { perform } from '../../src/cli/perform.ts'
import type { ProjectSkill, TestProject } from './_project.ts'

/** The parts of the documents that tests look into. */
export interface CommandJson {
  runId: string
  winner: string
  runs: { runId: string }[]
  attempts: { steps: StepResult[] }[]
  steps: { step: string; path: string; executor: string }[]
  diagnostics: { code: string; message: string; line?: number }[]
  next: { step: string; content: string }[]
  result: { attempts: { steps: StepResult[] }[] }
}

const noJson: CommandJson = {
  runId: '',
  winner: '',
  runs: [],
  attempts: [],
  steps: [],
  diagnostics: [],
  next: [],
  result: { attempts: [] },
}

export interface CommandAnswer {
  code: number
  lines: string[]
  notes: string[]
  /** The JSON document, with `--json`. */
  json: CommandJson
  error: SkillrailError | undefined
}

export interface CommandFixture {
  /** What the person at the terminal answers; undefined: there is no terminal. */
  answer?: string | undefined
  /** Gets what the terminal shows. */
  onQuestion?: ((text: string) => void) | undefined
  now?: (() => number) | undefined
  signal?: AbortSignal | undefined
  env?: Readonly<Record<string, string>> | undefined
  /** The folder of the project to work in; default its root. */
  from?: string | undefined
  /** Default: the caller vouches for the workspace. */
  workspaceTrust?: 'ask' | 'trusted' | undefined
}

/** Runs one command in this process, so that a person and a clock can be played. */
export async function runCommand(
  name: string,
  args: readonly string[],
  project: Pick<TestProject, 'directory'>,
  fixture: CommandFixture = {},
): Promise<CommandAnswer> {
  const entry = commands.find((one) => one.name === name)
  if (entry === undefined) throw new Error(`there is no command ${name}`)
  const command = await entry.load()
  const runtime = systemRuntime({
    cwd: join(project.directory, fixture.from ?? ''),
    home: `${project.directory}/../home`,
    env: {
      PATH: process.env['PATH'],
      HOME: `${project.directory}/../home`,
      ...(fixture.workspaceTrust === 'ask' ? {} : { SKILLRAIL_WORKSPACE_TRUST: 'trusted' }),
      ...fixture.env,
    },
    ...(fixture.now === undefined ? {} : { now: fixture.now }),
  })
  let stdout = ''
  const notes: string[] = []
  const sink = (add: (text: string) => void): Sink => ({
    isTerminal: false,
    columns: undefined,
    write: add,
  })
  const io: Io = {
    ...processIo(),
    stdin: Readable.from([]),
    stdout: sink((text) => void (stdout += text)),
    stderr: sink((text) => void notes.push(codeOf(text) ?? text.trimEnd())),
    terminal:
      fixture.answer === undefined ? undefined : terminalSaying(fixture.answer, fixture.onQuestion),
  }
  let code: number
  let error: SkillrailError | undefined
  try {
    const line = parseCommandLine(entry, command, args)
    if (line.kind === 'help') throw new Error(line.text)
    const { values, globals } = line
    const signal = fixture.signal ?? new AbortController().signal
    code = await perform({ command, values, globals, runtime, signal, io })
  } catch (thrown) {
    if (!(thrown instanceof SkillrailError)) throw thrown
    error = thrown
    code = thrown.exitCode
  }
  const isJson = args.includes('--json') && stdout !== ''
  return {
    code,
    error,
    lines: isJson ? [] : linesOf(stdout),
    notes,
    json: isJson ? withoutAdditions(JSON.parse(stdout)) : noJson,
  }
}

/** The code of a diagnostic as it is printed; undefined for other notes. */
function codeOf(text: string): string | undefined {
  return /: (?:error|warning|info): [^\n]* \[([a-z-]+)\]\n/.exec(text)?.[1]
}

/** A terminal at which somebody types one line. */
function terminalSaying(
  answer: string,
  onQuestion: CommandFixture['onQuestion'],
): NonNullable<Io['terminal']> {
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      onQuestion?.(String(chunk))
      done()
    },
  })
  return { input: Readable.from([`${answer}\n`]), output }
}

export interface ProjectCommands {
  /** A command as it is typed: `runs show ID --json`. */
  command(line: string, fixture?: CommandFixture): Promise<CommandAnswer>
  skills(table: Readonly<Record<string, ProjectSkill>>): void
  /** The id of the newest run. */
  runIdOf(): Promise<string>
}

/** @param project that of the test which asks. */
export function commandsIn(project: () => TestProject): ProjectCommands {
  const command: ProjectCommands['command'] = (line, fixture) => {
    const words = line.split(' ')
    const name = words[0] === 'run' || words[0] === 'trust' ? words[0] : words.slice(0, 2).join(' ')
    return runCommand(name, words, project(), fixture)
  }
  return {
    command,
    skills(table) {
      for (const [name, content] of Object.entries(table)) project().write(name, content)
    },
    async runIdOf() {
      const { json } = await command('runs list --json')
      return String(json.runs[0]?.runId)
    },
  }
}

/** A rendering as lines; a report as a whole. */
function linesOf(text: string): string[] {
  if (text === '') return []
  return text.endsWith('\n') ? text.slice(0, -1).split('\n') : [text]
}

/** The document without what only says how to continue, in the run of a stepper too. */
function withoutAdditions(document: CommandJson & Partial<Record<Addition, unknown>>): CommandJson {
  for (const part of [document, document.result ?? {}]) {
    for (const key of additions) Reflect.deleteProperty(part, key)
  }
  return document
}

const additions = ['continueWith', 'argumentsNeeded', 'timedOut', 'startedAt'] as const
type Addition = (typeof additions)[number]
