import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bin } from '../command-line.ts'
import { runInProcess } from '../run-in-process.ts'
import { normaliser } from './_normalise.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

export interface StepOptions {
  stdin?: string
  env?: Record<string, string>
  /** A folder below the directory of the scenario; default `project`. */
  cwd?: string
  /** Runs in a new process, because the command starts itself again. */
  process?: true
  /** Sends this signal as soon as stdout or stderr contains the text. */
  interrupt?: { when: string; signal: NodeJS.Signals }
}

export interface StepResult {
  code: number | string | null
  stdout: string
  stderr: string
}

/** One command line and what it printed, without values that differ between two runs. */
export interface Step extends StepResult {
  line: string
  /** What `--json` printed, with every value. */
  document: unknown
}

/** A project and a home directory in which command lines run in order. */
export interface Scenario {
  /** The folder that contains `project`, `home` and `bin`. */
  directory: string
  /** Writes a file below `directory`; scripts become executable. */
  write(path: string, text: string): void
  /** Writes the `SKILL.md` of a project skill, and its scripts. */
  skill(name: string, content?: SkillContent): void
  remove(path: string): void
  /** Runs one command line, written as in a shell; `RUN` stands for the id of the latest run. */
  run(line: string, options?: StepOptions): Promise<StepResult>
  /** The same with `--json`. */
  json(line: string, options?: StepOptions): Promise<StepResult>
}

export interface SkillContent {
  /** Lines of the frontmatter besides `name` and `description`. */
  head?: string
  /** Lines below `metadata`. */
  metadata?: readonly string[]
  body?: string
  run?: string
  verify?: string
  /** The folder with skills; default `project/.skillrail/skills`. */
  folder?: string
}

const runId = /\b0[0-9a-z]{8}[0-9a-z]{5}\b/

/** Programs that scripts, editors and the command line itself may start; no others are on the path. */
const programs = 'bash cat env git grep mkdir perl rm sh sleep touch'.split(' ')

/** Plays a scenario in a new directory and returns its steps. */
export async function stepsOf(play: (scenario: Scenario) => Promise<void>): Promise<Step[]> {
  // A path of constant length: paths are part of columns and sizes.
  const directory = realpathSync(mkdtempSync('/tmp/scenario-'))
  try {
    for (const folder of ['project/.git', 'home', 'bin']) {
      mkdirSync(join(directory, folder), { recursive: true })
    }
    symlinkSync(process.execPath, join(directory, 'bin/node'))
    symlinkSync(repository, join(directory, 'skillrail'))
    for (const program of programs) {
      const path = ['/usr/bin', '/bin'].map((folder) => join(folder, program)).find(existsSync)
      if (path !== undefined) symlinkSync(path, join(directory, 'bin', program))
    }
    const steps: Step[] = []
    await play(scenarioIn(directory, steps))
    return steps
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function scenarioIn(directory: string, steps: Step[]): Scenario {
  const normalise = normaliser({
    [join(directory, 'skillrail')]: '/skillrail',
    [join(directory, 'bin/node')]: '/node',
    [directory]: '/place',
    [directory.replaceAll('/', '%2f')]: '%2fplace',
    [process.execPath]: '/node',
    [join(dirname(bin), '../..')]: '/skillrail',
    [repository.replace(/\/$/, '')]: '/skillrail',
  })
  let latest = 'RUN'
  const scenario: Scenario = {
    directory,
    write(path, text) {
      const whole = join(directory, path)
      mkdirSync(dirname(whole), { recursive: true })
      writeFileSync(whole, text)
      if (path.endsWith('.sh')) chmodSync(whole, 0o755)
    },
    skill(name, { head, metadata, body, run, verify, folder = 'project/.skillrail/skills' } = {}) {
      const lines = [`name: ${name}`, `description: Does ${name}. Use when testing ${name}.`]
      if (head !== undefined) lines.push(head)
      if (metadata !== undefined) lines.push('metadata:', ...metadata.map((line) => `  ${line}`))
      const text = `---\n${lines.join('\n')}\n---\n${body ?? `Do ${name}.`}\n`
      scenario.write(`${folder}/${name}/SKILL.md`, text)
      const script = (kind: string, code: string | undefined): void => {
        if (code === undefined) return
        scenario.write(`${folder}/${name}/scripts/${kind}.sh`, `#!/bin/sh\n${code}\n`)
      }
      script('run', run)
      script('verify', verify)
    },
    remove: (path) => rmSync(join(directory, path), { recursive: true, force: true }),
    async run(line, options = {}) {
      const words = wordsOf(line).map((word) => word.replaceAll('RUN', latest))
      const result = await runStep(words, directory, options)
      latest = runId.exec(result.stdout + result.stderr)?.[0] ?? latest
      const variables = Object.entries(options.env ?? {}).map(([key, value]) => `${key}=${value} `)
      steps.push({
        line: normalise(`${variables.join('')}skillrail ${line}`).trimEnd(),
        code: result.code,
        stdout: normalise(result.stdout),
        stderr: normalise(result.stderr),
        document: / --json\b/.test(line) ? parsed(result.stdout) : undefined,
      })
      return result
    },
    async json(line, options) {
      const [before = '', ...rest] = line.split(' -- ')
      return await scenario.run([`${before} --json`, ...rest].join(' -- '), options)
    },
  }
  return scenario
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The words of a line as a shell reads them, with single and double quotes only. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []
  return words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}

/** In this process where that makes no difference: it is ten times as fast. */
async function runStep(
  words: readonly string[],
  directory: string,
  options: StepOptions,
): Promise<StepResult> {
  const home = join(directory, 'home')
  const env = { PATH: join(directory, 'bin'), HOME: home, TZ: 'UTC', ...options.env }
  const cwd = join(directory, options.cwd ?? 'project')
  if (options.process !== true && options.interrupt === undefined) {
    return await runInProcess(words, { cwd, home, env, stdin: options.stdin })
  }
  return await runProcess(words, { ...options, cwd, env })
}

async function runProcess(
  words: readonly string[],
  { stdin, env, cwd, interrupt }: StepOptions,
): Promise<StepResult> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', bin, ...words], {
    cwd,
    env,
  })
  const result: StepResult = { code: null, stdout: '', stderr: '' }
  child.stdin.on('error', () => undefined)
  if (interrupt === undefined || stdin === undefined) child.stdin.end(stdin ?? '')
  else child.stdin.write(stdin)
  let isInterrupted = false
  const collect = (stream: 'stdout' | 'stderr') => (text: string) => {
    result[stream] += text
    if (interrupt === undefined || isInterrupted || !result[stream].includes(interrupt.when)) return
    isInterrupted = true
    child.kill(interrupt.signal)
  }
  child.stdout.setEncoding('utf8').on('data', collect('stdout'))
  child.stderr.setEncoding('utf8').on('data', collect('stderr'))
  result.code = await new Promise((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal))
  })
  return result
}
