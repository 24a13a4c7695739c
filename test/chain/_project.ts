import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { projectStateDirectory, type StatePlace } from '../../src/core/runtime.ts'
import { bin } from '../command-line.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

const preload = new URL('_fault-preload.mjs', import.meta.url).href

export interface ProjectSkill {
  /** Below `metadata`, as YAML lines. */
  metadata?: readonly string[] | undefined
  run?: string | undefined
  verify?: string | undefined
  body?: string | undefined
}

/** A skill that appends a line to `log` and has `did-` and that line as its result. */
export const log = (text: string): ProjectSkill => ({
  run: `echo ${text} >> log; echo did-${text}`,
})

export interface Cli {
  pid: number
  kill(signal: NodeJS.Signals): void
  ended: Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>
}

/** A project of skills in a directory of its own, and the command line in it. */
export interface TestProject {
  directory: string
  /** Where its journals lie, in the state of the user. */
  runs: string
  write(skill: string, content: ProjectSkill): void
  /** Runs a command line in this process. */
  run(args: readonly string[]): Promise<CliResult>
  /** Starts the real command line, which can be killed. */
  start(args: readonly string[], fault?: string): Cli
  cli(args: readonly string[], fault?: string): Cli['ended']
  /** Lines that scripts appended to the file `log`. */
  log(): string[]
  remove(): void
}

export function makeProject(skills: Record<string, ProjectSkill> = {}): TestProject {
  const base = mkdtempSync(join(tmpdir(), 'skillrail-chain-'))
  const directory = join(base, 'project')
  mkdirSync(join(directory, '.git'), { recursive: true })
  mkdirSync(join(base, 'home'))
  const project: TestProject = {
    directory,
    runs: runsOf(directory, join(base, 'home')),
    write: (name, content) => writeSkill(join(directory, '.skillrail/skills', name), content),
    run: async (args) => {
      const place = { cwd: directory, home: join(base, 'home') }
      return await runInProcess(['--trust-workspace', ...args], place)
    },
    start: (args, fault) => start(args, directory, join(base, 'home'), fault),
    cli: (args, fault) => project.start(args, fault).ended,
    log: () => {
      try {
        return readFileSync(join(directory, 'log'), 'utf8').trim().split('\n')
      } catch {
        return []
      }
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
  for (const [name, content] of Object.entries(skills)) project.write(name, content)
  return project
}

export function placeOf(project: TestProject): StatePlace {
  const home = join(project.directory, '../home')
  return {
    runtime: { home, cwd: project.directory, env: {} },
    settings: { state: { directory: '' } },
  }
}

/** The journals of a project, for a user with this home. */
export function runsOf(project: string, home: string): string {
  const place = { runtime: { home, cwd: project, env: {} }, settings: { state: { directory: '' } } }
  return join(projectStateDirectory(project, place), 'runs')
}

function writeSkill(directory: string, skill: ProjectSkill): void {
  const name = directory.slice(directory.lastIndexOf('/') + 1)
  const metadata =
    skill.metadata === undefined ? [] : ['metadata:', ...skill.metadata.map((line) => `  ${line}`)]
  const head = [`name: ${name}`, `description: Does ${name}. Use when testing chains.`, ...metadata]
  write(
    join(directory, 'SKILL.md'),
    `---\n${head.join('\n')}\n---\n${skill.body ?? `Do ${name}.`}\n`,
  )
  if (skill.run !== undefined) write(join(directory, 'scripts/run.sh'), `#!/bin/sh\n${skill.run}\n`)
  if (skill.verify !== undefined)
    write(join(directory, 'scripts/verify.sh'), `#!/bin/sh\n${skill.verify}\n`)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 })
}

function start(args: readonly string[], cwd: string, home: string, fault: string | undefined): Cli {
  const faulty = fault === undefined ? [] : ['--import', preload]
  const child = spawn(
    process.execPath,
    ['--no-warnings', ...faulty, bin, '--trust-workspace', ...args],
    {
      cwd,
      env: { PATH: process.env['PATH'], HOME: home, FAULT: fault },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => {
      let ending: Awaited<Cli['ended']> | undefined
      const end = (): void => {
        if (ending !== undefined) resolve({ ...ending, stdout, stderr })
      }
      child.on('exit', (code, signal) => {
        ending = { code, signal, stdout, stderr }
        // What a killed process left alive may hold the pipes open; what it said is not asked for.
        setTimeout(end, signal === null ? 5_000 : 30).unref()
      })
      child.on('close', end)
    }),
  }
}
