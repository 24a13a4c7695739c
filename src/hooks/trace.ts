import { appendFileSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  makePrivateDirectory,
  redactText,
  type Runtime,
  systemCode,
  userDirectories,
} from '../base/index.ts'
import { isPlatform, type Platform } from './adapters.ts'

/** What the hook did for one prompt. Secrets are masked before it is written. */
export interface HookTrace {
  /** ISO 8601. */
  at: string
  platform: Platform
  cwd: string
  session?: string | undefined
  /** The beginning of the prompt. */
  prompt: string
  injected: readonly { skill: string; path: string; characters: number }[]
  /** What was asked for and not given, and why. */
  withheld: readonly { skill: string; path: string; reason: string }[]
  durationMs: number
  /** Why nothing could be done. */
  error?: string | undefined
}

const longestPrompt = 200
/** The log is moved aside at this size; one older file is kept. */
const largestLog = 1024 * 1024

/** Adds a line to the log. Never throws: a prompt is worth more than its trace. */
export function writeTrace(runtime: Runtime, trace: HookTrace): void {
  const path = tracePath(runtime)
  const masked = { ...trace, prompt: excerpt(redactText(trace.prompt.slice(0, 4 * longestPrompt))) }
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) makePrivateDirectory(dirname(path))
    else if (stats.size > largestLog) renameSync(path, `${path}.1`)
    appendFileSync(path, `${JSON.stringify(masked)}\n`, { mode: 0o600 })
  } catch {
    // Read-only or full.
  }
}

/** The newest traces, oldest first. Lines that are no trace are counted and left out. */
export function readTraces(
  runtime: Runtime,
  limit: number,
): { traces: readonly HookTrace[]; unreadable: number; path: string } {
  const path = tracePath(runtime)
  const lines = [...linesOf(`${path}.1`), ...linesOf(path)]
  const traces = lines.map(parseTrace)
  const whole = traces.filter((trace) => trace !== undefined)
  return { traces: whole.slice(-limit), unreadable: traces.length - whole.length, path }
}

function tracePath(runtime: Runtime): string {
  return join(userDirectories(runtime).state, 'hooks', 'log.jsonl')
}

function excerpt(prompt: string): string {
  return prompt.length > longestPrompt ? `${prompt.slice(0, longestPrompt)}…` : prompt
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function parseTrace(line: string): HookTrace | undefined {
  let value: Record<string, unknown>
  try {
    value = { ...Object(JSON.parse(line)) }
  } catch {
    return undefined
  }
  const { at, platform, cwd, session, prompt, durationMs, error } = value
  if (typeof at !== 'string' || typeof platform !== 'string' || !isPlatform(platform))
    return undefined
  return {
    at,
    platform,
    cwd: textOf(cwd),
    session: typeof session === 'string' ? session : undefined,
    prompt: textOf(prompt),
    injected: rowsOf(value['injected']).map(({ skill, path, characters }) => ({
      skill: textOf(skill),
      path: textOf(path),
      characters: Number(characters),
    })),
    withheld: rowsOf(value['withheld']).map(({ skill, path, reason }) => ({
      skill: textOf(skill),
      path: textOf(path),
      reason: textOf(reason),
    })),
    durationMs: Number(durationMs),
    error: typeof error === 'string' ? error : undefined,
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function rowsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map((row: unknown) => ({ ...Object(row) })) : []
}
