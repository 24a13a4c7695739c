import { isObject } from '../core/json.ts'
import { redactValue } from '../core/redact.ts'
import { safeText } from '../core/text.ts'
import { UsageError } from '../core/errors.ts'
import { RunNotFoundError } from '../chain/errors.ts'
import { type RunAnswer, type RunsAnswer, type TextAnswer } from './answers.ts'
import { shownText } from './shown-text.ts'
import { findStep, runAnswer } from './run-answer.ts'
import type { ViewWorld } from './world.ts'

/** What the page may ask, by path. The answer is JSON that the page may have as it is. */
export type Question = (world: ViewWorld, asked: Asked) => Promise<unknown>

export const questions: Readonly<Record<string, Question>> = {
  '/api/project': async (world) => shown(await world.project()),
  '/api/skills': async (world) => shown(await world.skills()),
  '/api/skill': async (world, asked) => shown(await world.skill(asked.text('id'))),
  '/api/skill-text': async (world, asked) =>
    textPiece(await world.skillText(asked.text('id')), asked.number('from')),
  '/api/audit': async (world, asked) => shown(await world.audit(asked.text('id'))),
  '/api/match': async (world, asked) => shown(await world.match(asked.text('prompt'))),
  '/api/chains': async (world) => shown(await world.chains()),
  '/api/plan': async (world, asked) => shown(await world.plan(asked.text('id'))),
  '/api/runs': async (world, asked) => shown(await runs(world, asked.number('most'))),
  '/api/run': async (world, asked) =>
    shown(await run(world, asked.text('id'), asked.text('known'))),
  '/api/step-text': async (world, asked) => await stepText(world, asked),
  '/api/tools': async (world) => shown(await world.tools()),
  '/api/tool': async (world, asked) => shown(await world.tool(asked.text('id'))),
  '/api/route': async (world, asked) => shown(await world.route(asked.text('request'))),
  '/api/workflows': async (world) => shown(await world.workflows()),
  '/api/sessions': async (world) => shown(await world.sessions()),
  '/api/session': async (world, asked) => shown(await world.session(asked.text('id'))),
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

async function runs(world: ViewWorld, most: number): Promise<RunsAnswer> {
  const ids = await world.runIds()
  const rows = []
  for (const id of ids.slice(0, Math.min(most, mostRuns))) rows.push(await world.runRow(id))
  return {
    runs: rows.filter((row) => 'runId' in row),
    total: ids.length,
    limit: mostRuns,
    diagnostics: rows.filter((row) => 'severity' in row),
  }
}

async function run(world: ViewWorld, id: string, known: string): Promise<RunAnswer> {
  const stamp = await world.runStamp(id)
  if (known !== '' && known === stamp) return { unchanged: true }
  return runAnswer(await world.run(id), stamp)
}

async function stepText(world: ViewWorld, ask: Asked): Promise<TextAnswer> {
  const { result } = await world.run(ask.text('id'))
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
 * A value as the page may have it: secrets masked, and what a text hides made visible, in every string
 * and every key. Copies; never mutates.
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

/** Characters of a long text that are sent at once. */
const pieceSize = 65_536

/**
 * A piece of a text as the page may have it. Secrets are masked in the whole of it first: one that
 * lies across two pieces would be none in either.
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
