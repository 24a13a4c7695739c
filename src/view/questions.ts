import { isObject } from '../core/json.ts'
import { redactValue } from '../core/redact.ts'
import { safeText } from '../core/text.ts'
import { UsageError } from '../core/errors.ts'
import { RunNotFoundError } from '../chain/errors.ts'
import type { Diagnostic } from '../core/diagnostic.ts'
import type { ProjectView } from './project-view.ts'
import { findStep, runAnswer, shownText } from './run-answer.ts'

export type Question = (view: ProjectView, asked: Asked) => unknown

export const questions = {
  project: (view) => view.project(),
  overview: (view) => view.overview(),
  skills: (view) => view.skills(),
  skill: (view, asked) => view.skill(asked.text('id')),
  'skill-text': (view, asked) => textPiece(view.skillText(asked.text('id')), asked.number('from')),
  audit: (view, asked) => view.audit(asked.text('id')),
  match: (view, asked) => view.match(asked.text('prompt')),
  triggers: (view) => view.triggers(),
  chains: (view) => view.chains(),
  plan: (view, asked) => view.plan(asked.text('id')),
  runs: (view, asked) => runs(view, asked.number('most')),
  run: (view, asked) => run(view, asked.text('id'), asked.text('known')),
  'step-text': (view, asked) => stepText(view, asked),
  tools: (view) => view.tools(),
  tool: (view, asked) => view.tool(asked.text('id')),
  route: (view, asked) => view.route(asked.text('request')),
  workflows: (view) => view.workflows(),
  sessions: (view) => view.sessions(),
  session: (view, asked) => view.session(asked.text('id')),
} satisfies Record<string, Question>

export type Answers = {
  [Name in keyof typeof questions]: Awaited<ReturnType<(typeof questions)[Name]>>
}

export interface Failure {
  error: { code: string; message: string; hint?: string | undefined }
  diagnostics?: readonly Diagnostic[] | undefined
}

/** The fields of a question; those that are missing are empty and 0. */
interface Asked {
  text(name: string): string
  number(name: string): number
}

/** @throws {UsageError} when a field that is read has another type. */
export function asked(body: unknown): Asked {
  const fields = isObject(body) ? body : {}
  return {
    text(name) {
      const value = fields[name] ?? ''
      if (typeof value === 'string') return value
      throw wrongField(name, 'a text')
    },
    number(name) {
      const value = fields[name] ?? 0
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
      throw wrongField(name, 'a whole number from 0')
    },
  }
}

function wrongField(name: string, wanted: string): UsageError {
  return new UsageError({ code: 'question-malformed', message: `${name} must be ${wanted}` })
}

/** Maximum number at once, however many are asked for. */
const mostRuns = 1000

function runs(view: ProjectView, most: number) {
  const ids = view.runIds()
  const rows = ids.slice(0, Math.min(most, mostRuns)).map((id) => view.runRow(id))
  return {
    runs: rows.filter((row) => 'runId' in row),
    /** How many there are; `runs` are the newest of them. */
    total: ids.length,
    limit: mostRuns,
    diagnostics: rows.filter((row) => 'severity' in row),
  }
}

async function run(view: ProjectView, id: string, known: string) {
  const stamp = view.runStamp(id)
  if (known !== '' && known === stamp) return { isNew: false as const }
  return { isNew: true as const, ...runAnswer(await view.run(id), stamp) }
}

async function stepText(view: ProjectView, ask: Asked): Promise<TextAnswer> {
  const { result } = await view.run(ask.text('id'))
  const step = findStep(result, ask.number('attempt'), ask.text('step'))
  if (step === undefined) {
    throw new RunNotFoundError({
      code: 'step-not-found',
      message: `the run ${result.runId} has no such step`,
    })
  }
  const text = ask.text('part') === 'log' ? (step.log ?? '') : step.result
  return textPiece(text, ask.number('from'))
}

/**
 * A value for the page: secrets masked and invisible characters made visible, in every string and
 * key. Copies.
 */
export function shown(value: unknown): unknown {
  return made(redactValue(value))
}

function made(value: unknown): unknown {
  if (typeof value === 'string') return safeText(value)
  if (Array.isArray(value)) return value.map(made)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [safeText(key), made(item)]))
}

export interface TextAnswer {
  text: string
  /** Of the whole text, in characters. */
  size: number
  /** Where the next piece begins; undefined at the end. */
  next?: number | undefined
}

/** Characters of a long text that are sent at once. */
const pieceSize = 65_536

/**
 * A piece of a text for the page. Secrets are masked in the whole text first, since one may lie
 * across two pieces.
 */
function textPiece(text: string, from: number): TextAnswer {
  const whole = shownText(text)
  const end = from + pieceSize
  return {
    text: whole.slice(from, end),
    size: whole.length,
    next: end < whole.length ? end : undefined,
  }
}
