import type { PatternPlan } from '../trigger/index.ts'
import { type Fields, fields, list, text } from './_index-values.ts'
import type { IndexedTrigger } from './index-format.ts'

/** Reads the JSON of a trigger. Throws where it is not what was written. */
export function readIndexedTrigger(json: string): IndexedTrigger {
  const { skill, match, inject, line, plan } = fields(JSON.parse(json))
  return {
    skill: Number(skill),
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
