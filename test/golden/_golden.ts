import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import type { AnyCommand } from '../../src/core/command.ts'
import { bin as ownBin } from '../command-line.ts'
import { runInProcess } from '../run-in-process.ts'
import { normaliser } from './_normalise.ts'

// The record shows a machine without bubblewrap, whatever this one has.
vi.mock(import('../../src/exec/sandbox/open-sandbox.ts'), async (original) => {
  const actual = await original()
  const openSandbox: typeof actual.openSandbox = () =>
    actual.chooseSandbox({
      platform: 'linux',
      processor: 'x64',
      exists: () => false,
      probe: async () => '',
    })
  return { ...actual, openSandbox }
})

// Text is rendered from a Result that went through JSON, as another program would get it.
vi.mock(import('../../src/core/command.ts'), async (original) => {
  const actual = await original()
  const again = (result: unknown): unknown => JSON.parse(JSON.stringify(result))
  const defineCommand: typeof actual.defineCommand = () => (typed) => {
    const command: AnyCommand = typed
    return {
      ...command,
      render: (result, screen) => command.render(again(result), screen),
      notes: (result, screen) => command.notes?.(again(result), screen) ?? [],
      exitCode: (result) => command.exitCode?.(again(result)) ?? 0,
    }
  }
  return { ...actual, defineCommand }
})

/** The built command line of another version, where that is to be recorded. */
const otherBin = process.env['SKILLRAIL_GOLDEN_BIN']
const bin = otherBin ?? ownBin
const repository = fileURLToPath(new URL('../..', import.meta.url))

export interface StepOptions {
  stdin?: string
  env?: Record<string, string>
  /** A folder below the directory of the scenario; default `project`. */
  cwd?: string
  /** Runs in a process of its own, because the command starts itself again. */
  process?: true
  /** Sends this signal as soon as stdout or stderr contains the text. */
  interrupt?: { when: string; signal: NodeJS.Signals }
}

export interface StepResult {
  code: number | string | null
  stdout: string
  stderr: string
}

/** A project and a home of its own, in which command lines are run and recorded in order. */
export interface Scenario {
  /** The folder that holds `project`, `home` and `bin`. */
  directory: string
  /** Writes a file below `directory`; scripts become executable. */
  write(path: string, text: string): void
  /** Writes `SKILL.md` of a skill of the project, and its scripts. */
  skill(name: string, content?: SkillContent): void
  remove(path: string): void
  /** Runs one command line, written as in a shell; `RUN` stands for the id of the latest run. */
  run(line: string, options?: StepOptions): Promise<StepResult>
  /** Runs a command line that changes nothing, as text and with `--json`. */
  both(line: string, options?: StepOptions): Promise<void>
  /** Records a file, or says that it is missing. */
  file(path: string): void
  /** Records the names of the files below a folder. */
  files(path: string): void
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

/** Programs that scripts, editors and the command line itself may start; no others are found. */
const programs = [
  'bash',
  'cat',
  'env',
  'git',
  'grep',
  'mkdir',
  'perl',
  'rm',
  'sh',
  'sleep',
  'touch',
]

/** Compares everything that the scenario prints with `NAME.txt`, or writes it with `UPDATE_GOLDEN=1`. */
export function golden(
  name: string,
  scenarios: Readonly<Record<string, (scenario: Scenario) => Promise<void>>>,
  { needsBuild = false } = {},
): void {
  const path = fileURLToPath(new URL(`${name}.txt`, import.meta.url))
  const isBuilt = existsSync(join(repository, 'dist/hook/hook.cjs')) || otherBin !== undefined
  it.skipIf(needsBuild && !isBuilt)(
    `${name} prints what is recorded`,
    { timeout: 180_000 },
    async () => {
      const parts: string[] = []
      for (const [title, play] of Object.entries(scenarios)) {
        parts.push(`${'='.repeat(100)}\n${title}\n${'='.repeat(100)}\n\n${await record(play)}`)
      }
      const text = parts.join('\n')
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, text)
      const recorded = existsSync(path) ? readFileSync(path, 'utf8') : ''
      expect(withoutAdditions(text, recorded)).toBe(recorded)
    },
  )
}

/** The text without what JSON documents have beyond the recorded ones: members may be added. */
function withoutAdditions(text: string, recorded: string): string {
  const blocksOf = (all: string): string[] => all.split(/\n(?=\$ )/)
  const before = blocksOf(recorded)
  return blocksOf(text)
    .map((now, index) => {
      const was = before[index] ?? ''
      const [wasJson, json] = [jsonOf(was), jsonOf(now)]
      if (wasJson === undefined || json === undefined) return now
      const isSame = was.replace(wasJson, '') === now.replace(json, '')
      return isSame && contains(parsed(json), parsed(wasJson)) ? was : now
    })
    .join('\n')
}

function jsonOf(text: string): string | undefined {
  return /^\$ [^\n]* --json\b[\s\S]*?^--- stdout\n(\{\n[\s\S]*?^\})$/m.exec(text)?.[1]
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json.replaceAll(': <n>', ': 0'))
  } catch {
    return undefined
  }
}

function contains(whole: unknown, part: unknown): boolean {
  if (typeof whole !== 'object' || typeof part !== 'object' || whole === null || part === null) {
    return whole === part
  }
  if (Array.isArray(whole) && whole.length !== Object.keys(part).length) return false
  const members = new Map<string, unknown>(Object.entries(whole))
  return Object.entries(part).every(([key, value]) => contains(members.get(key), value))
}

async function record(play: (scenario: Scenario) => Promise<void>): Promise<string> {
  // Always as long: paths end up in columns, and in sizes.
  const directory = realpathSync(mkdtempSync('/tmp/golden-'))
  try {
    for (const folder of ['project/.git', 'home', 'bin']) {
      mkdirSync(join(directory, folder), { recursive: true })
    }
    symlinkSync(process.execPath, join(directory, 'bin/node'))
    symlinkSync(repository, join(directory, 'skillrail'))
    for (const program of programs) {
      const found = ['/usr/bin', '/bin'].map((folder) => join(folder, program)).find(existsSync)
      if (found !== undefined) symlinkSync(found, join(directory, 'bin', program))
    }
    const blocks: string[] = []
    await play(scenarioIn(directory, blocks))
    return blocks.join('\n')
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function scenarioIn(directory: string, blocks: string[]): Scenario {
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
      const given = options.stdin === undefined ? '' : ` <<< ${JSON.stringify(options.stdin)}`
      const set = Object.entries(options.env ?? {}).map(([key, value]) => `${key}=${value} `)
      const place = options.cwd === undefined ? '' : `(in ${options.cwd}) `
      blocks.push(
        normalise(
          `$ ${place}${set.join('')}skillrail ${line}${given}\nexit ${result.code}\n` +
            block('stdout', result.stdout) +
            block('stderr', result.stderr),
        ),
      )
      return result
    },
    async both(line, options) {
      await scenario.run(line, options)
      const [before = '', ...rest] = line.split(' -- ')
      await scenario.run([`${before} --json`, ...rest].join(' -- '), options)
    },
    file(path) {
      const whole = join(directory, path)
      const text = existsSync(whole) ? readFileSync(whole, 'utf8') : undefined
      blocks.push(normalise(`file ${path}\n${text === undefined ? 'missing\n' : block('', text)}`))
    },
    files(path) {
      const list = filesBelow(join(directory, path)).map((file) => `${file}\n`)
      blocks.push(normalise(`files below ${path}\n${list.join('')}`))
    },
  }
  return scenario
}

function block(name: string, text: string): string {
  if (text === '') return ''
  return `--- ${name}\n${text}${text.endsWith('\n') ? '' : '\n(no newline at the end)\n'}`
}

function filesBelow(path: string, prefix = ''): string[] {
  if (!existsSync(path)) return ['missing']
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => {
      const whole = join(path, name)
      // The hook as the build made it.
      if (/^[0-9a-f]{16}$/.test(name)) return [`${prefix}<hash>/`]
      return statSync(whole).isDirectory()
        ? filesBelow(whole, `${prefix}${name}/`)
        : [prefix + name]
    })
}

/** The words of a line as a shell sees them, with single and double quotes only. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []
  return words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}

/** In this process where that shows the same: it is ten times as fast. */
async function runStep(
  words: readonly string[],
  directory: string,
  options: StepOptions,
): Promise<StepResult> {
  const home = join(directory, 'home')
  const env = { PATH: join(directory, 'bin'), HOME: home, TZ: 'UTC', ...options.env }
  const cwd = join(directory, options.cwd ?? 'project')
  if (otherBin === undefined && options.process !== true && options.interrupt === undefined) {
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
