import { join } from 'node:path'
import { loadConfiguration, SkillrailError, systemRuntime } from '../../src/base/index.ts'
import { commands } from '../../src/cli/commands.ts'
import { parseCommandLine } from '../../src/cli/command-line.ts'
import { processIo } from '../../src/cli/io.ts'
import type { Output } from '../../src/cli/output.ts'
import { perform } from '../../src/cli/perform.ts'
import type { ProjectSkill, TestProject } from './_project.ts'

/** The parts of the documents that tests look into. */
export interface CommandJson {
  runId: string
  winner: string
  runs: { runId: string }[]
  attempts: { steps: { step: string; status: string }[] }[]
  steps: { step: string; path: string; executor: string }[]
  diagnostics: { code: string; message: string; line?: number }[]
  next: { step: string; content: string }[]
  result?: object
}

const noJson: CommandJson = {
  runId: '',
  winner: '',
  runs: [],
  attempts: [],
  steps: [],
  diagnostics: [],
  next: [],
}

export interface CommandAnswer {
  code: number
  lines: string[]
  notes: string[]
  /** The JSON document, with `--json`. */
  json: CommandJson
  error: SkillrailError | undefined
}

export interface CommandWorld {
  /** What the person at the terminal answers; undefined: there is no terminal. */
  answer?: string | undefined
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
  project: TestProject,
  world: CommandWorld = {},
): Promise<CommandAnswer> {
  const entry = commands.find((one) => one.name === name)
  if (entry === undefined) throw new Error(`there is no command ${name}`)
  const { command } = await entry.load()
  if ('configure' in command) throw new Error(`${name} is in the old form`)
  const runtime = systemRuntime({
    cwd: join(project.directory, world.from ?? ''),
    home: `${project.directory}/../home`,
    env: { PATH: process.env['PATH'], HOME: `${project.directory}/../home`, ...world.env },
    ...(world.now === undefined ? {} : { now: world.now }),
  })
  const answer: CommandAnswer = { code: 0, lines: [], notes: [], json: noJson, error: undefined }
  const { settings } = loadConfiguration(runtime, {})
  try {
    const line = parseCommandLine(entry, command, args)
    if (line.kind === 'help') throw new Error(line.text)
    const context = {
      runtime,
      settings: { ...settings, workspaceTrust: world.workspaceTrust ?? 'trusted' },
      options: {
        ...line.globals,
        trustWorkspace: world.workspaceTrust !== 'ask',
        again: line.globals,
      },
      output: outputInto(answer),
      interactive: world.answer !== undefined,
      readStandardInput: async () => '',
      ask: async () => world.answer,
      signal: world.signal ?? new AbortController().signal,
    }
    const notes = {
      isTerminal: false,
      columns: undefined,
      write: (text: string) => void answer.notes.push(text.trimEnd()),
    }
    const io = { ...processIo(), stderr: notes }
    answer.code = await perform({ command, values: line.values, context, io })
  } catch (error) {
    if (!(error instanceof SkillrailError)) throw error
    answer.error = error
    answer.code = error.exitCode
  }
  return answer
}

export interface ProjectCommands {
  /** A command as it is typed: `runs show ID --json`. */
  command(line: string, world?: CommandWorld): Promise<CommandAnswer>
  skills(table: Readonly<Record<string, ProjectSkill>>): void
  /** The id of the newest run. */
  runIdOf(): Promise<string>
}

/** @param project that of the test which asks. */
export function commandsIn(project: () => TestProject): ProjectCommands {
  const command: ProjectCommands['command'] = (line, world) => {
    const words = line.split(' ')
    const name = words[0] === 'run' ? 'run' : words.slice(0, 2).join(' ')
    return runCommand(name, words, project(), world)
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

function outputInto(answer: CommandAnswer): Output {
  return {
    isTerminal: false,
    isLive: false,
    isQuiet: false,
    width: 100,
    line: (text = '') => void answer.lines.push(text),
    raw: (text) => void answer.lines.push(...linesOf(text)),
    json: (value) => (answer.json = withoutAdditions(JSON.parse(JSON.stringify(value)))),
    note: (text) => void answer.notes.push(text),
    styled: (text) => void answer.notes.push(text),
    failure: (text) => void answer.notes.push(text),
    detail: () => undefined,
    live: () => undefined,
    diagnostics: (list) => void answer.notes.push(...list.map(({ code }) => code)),
    style: (_format, text) => text,
    tableText: (rows) => rows.map((row) => `${row.join('  ')}\n`).join(''),
    table: (rows) => void answer.lines.push(...rows.map((row) => row.join('  '))),
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
