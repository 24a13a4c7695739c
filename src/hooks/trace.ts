import { appendFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { statsOf } from '#core/read-files'
import type * as Zod from 'zod'
import { makePrivateDirectory } from '#core/write-files'
import { parseJson } from '#core/json'
import { redactText } from '#core/redact'
import type { Runtime } from '#core/runtime'
import { zod } from '#core/zod'
import { type Platform, platforms } from './adapters.ts'
import { stateDirectory } from './trigger-cache.ts'

/** What the hook did for one prompt or tool call. Secrets are masked before it is written. */
export interface HookTrace {
  at: string
  platform: Platform
  cwd: string
  session?: string | undefined
  prompt: string
  /** Undefined for a prompt. */
  event?: string | undefined
  /** Whether the tool call was denied, with the references as the reason. */
  denied?: boolean | undefined
  injected: (TracedFile & {
    characters: number
    /** Absolute; missing in the log of an earlier version. */
    file?: string | undefined
  })[]
  withheld: (TracedFile & { reason: string })[]
  durationMs: number
  error?: string | undefined
  rail?: TracedRail | undefined
}

/** What a rail answered. */
export interface TracedRail {
  /** `start`: the call of a tool started a chain, in place of running. */
  answer: (typeof railAnswers)[number]
  /** The run; missing if no rail of the session is open, as for guards that always apply. */
  run?: string | undefined
  /** The length of the text for the agent. */
  characters: number
}

const railAnswers = ['context', 'start', 'deny', 'ask', 'block', 'tell'] as const

interface TracedFile {
  skill: string
  path: string
}

function traceSchema(): Zod.ZodType<HookTrace> {
  const z = zod()
  const file = { skill: z.string(), path: z.string() }
  return z.object({
    at: z.string(),
    platform: z.enum(platforms),
    cwd: z.string(),
    session: z.string().optional(),
    prompt: z.string(),
    event: z.string().optional(),
    denied: z.boolean().optional(),
    injected: z.array(z.object({ ...file, characters: z.number(), file: z.string().optional() })),
    withheld: z.array(z.object({ ...file, reason: z.string() })),
    durationMs: z.number(),
    error: z.string().optional(),
    rail: z
      .object({
        answer: z.enum(railAnswers),
        run: z.string().optional(),
        characters: z.number(),
      })
      .optional(),
  })
}

const longestPrompt = 200
const largestLog = 1024 * 1024

/** Adds a line to the log. Never throws: a failure to log must not affect the prompt. */
export function writeTrace(runtime: Runtime, trace: HookTrace): void {
  const path = tracePath(runtime)
  const text = redactText(trace.prompt.slice(0, 4 * longestPrompt))
  const more = text.length > longestPrompt ? '…' : ''
  const masked = { ...trace, prompt: text.slice(0, longestPrompt) + more }
  try {
    const stats = statsOf(path)
    if (!stats) makePrivateDirectory(dirname(path))
    else if (stats.size > largestLog) renameSync(path, `${path}.1`)
    appendFileSync(path, `${JSON.stringify(masked)}\n`, { mode: 0o600 })
  } catch {
    // Read-only or full.
  }
}

export interface TraceReading {
  traces: HookTrace[]
  /** How many lines are not a trace. */
  unreadable: number
  path: string
  /** Whether older lines may be gone: the log keeps two files. */
  isShortened: boolean
}

/** The newest traces, oldest first. Lines that are not a trace are counted and left out. */
export function readTraces(runtime: Runtime, limit: number): TraceReading {
  const path = tracePath(runtime)
  const lines = [...linesOf(`${path}.1`), ...linesOf(path)]
  const schema = traceSchema()
  const traces = lines.flatMap((line) => schema.safeParse(parseJson(line)).data ?? [])
  return {
    traces: traces.slice(-limit),
    unreadable: lines.length - traces.length,
    path,
    isShortened: existsSync(`${path}.1`),
  }
}

function tracePath(runtime: Runtime): string {
  return join(stateDirectory(runtime), 'log.jsonl')
}

function linesOf(path: string): string[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return text.split('\n').filter((line) => line !== '')
}
