import { join } from 'node:path'
import { loadConfiguration, SkillrailError, systemRuntime } from '../../src/base/index.ts'
import type { LoadedCommand } from '../../src/cli/command.ts'
import { parseCommandLine } from '../../src/cli/command-line.ts'
import type { Output } from '../../src/cli/output.ts'
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
  result?: unknown
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
  const file = name.replace(' ', '-')
  const { command }: { command: LoadedCommand } = await import(`../../src/cli/commands/${file}.ts`)
  const entry = { name, group: 'Run', summary: name, load: async () => ({ command }) } as const
  const line = parseCommandLine(entry, command, args)
  if (line.kind === 'help') throw new Error(line.text)
  const runtime = systemRuntime({
    cwd: join(project.directory, world.from ?? ''),
    home: `${project.directory}/../home`,
    env: { PATH: process.env['PATH'], HOME: `${project.directory}/../home`, ...world.env },
    ...(world.now === undefined ? {} : { now: world.now }),
  })
  const answer: CommandAnswer = { code: 0, lines: [], notes: [], json: noJson, error: undefined }
  const { settings } = loadConfiguration(runtime, {})
  try {
    answer.code = await command.run(
      {
        runtime,
        settings: { ...settings, workspaceTrust: world.workspaceTrust ?? 'trusted' },
        options: {
          ...line.globals,
          trustWorkspace: world.workspaceTrust !== 'ask',
          again: line.globals,
        },
        output: outputInto(answer),
        interactive: false,
        readStandardInput: async () => '',
        ask: async () => world.answer,
        signal: world.signal ?? new AbortController().signal,
      },
      line.program,
    )
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
    raw: (text) => void answer.lines.push(text),
    json: (value) => (answer.json = JSON.parse(JSON.stringify(value))),
    note: (text) => void answer.notes.push(text),
    styled: (text) => void answer.notes.push(text),
    failure: (text) => void answer.notes.push(text),
    detail: () => undefined,
    live: () => undefined,
    diagnostics: (list) => void answer.notes.push(...list.map(({ code }) => code)),
    style: (_format, text) => text,
    tableText: () => '',
    table: (rows) => void answer.lines.push(...rows.map((row) => row.join('  '))),
  }
}
