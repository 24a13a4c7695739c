import type { PatternPlan } from '../trigger/index.ts'
import type { IndexedTrigger } from './index-format.ts'

type Fields = Readonly<Record<string, unknown>>

/** Reads the JSON of a trigger. Throws where it is not what was written. */
export function readIndexedTrigger(json: string): IndexedTrigger {
  const { match, inject, line, plan } = fields(JSON.parse(json))
  return {
    match: text(match),
    inject: text(inject),
    line: Number(line),
    plan: readPlan(fields(plan)),
  }
}

function readPlan(plan: Fields): PatternPlan {
  if (plan['engine'] === 'text') {
    const { atStart, atEnd } = plan
    return {
      engine: 'text',
      text: text(plan['text']),
      atStart: atStart === true,
      atEnd: atEnd === true,
    }
  }
  const required = list(plan['required']).map((clause) => list(clause).map(text))
  if (plan['engine'] === 're2') return { engine: 're2', source: text(plan['source']), required }
  if (plan['engine'] !== 'javascript') throw new TypeError('an index names an unknown engine')
  const find = plan['find'] === undefined ? undefined : text(plan['find'])
  return { engine: 'javascript', test: text(plan['test']), find, required }
}

function fields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return { ...value }
  throw new TypeError('an index holds no object where one belongs')
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new TypeError('an index holds no list where one belongs')
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError('an index holds no text where one belongs')
}
