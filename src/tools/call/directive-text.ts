import { isObject, nearest } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../model.ts'
import { isList, objectOf, readJson } from './_json.ts'
import { endOfJson } from './json-in-text.ts'

/** One member of a batch or a chain, as it was written. */
export interface ToolStep {
  tool: string
  params: JsonObject
  /** The variable that keeps the answer; chains only. */
  outputAs?: string | undefined
  /** Remarks on how it was written, such as keys that mean nothing. */
  notes?: readonly string[] | undefined
}

export type DirectiveKind = 'batch' | 'chain'

export type DirectiveReading =
  | { kind: 'none' }
  | { kind: DirectiveKind; steps: readonly ToolStep[] }
  | { kind: 'broken'; directive: DirectiveKind; message: string }

/** A word and a colon right before a list; nothing else in prose is meant as a directive. */
const directive = /(?<![A-Za-z0-9_])(BATCH|CHAIN):\s*(?=\[)/g

/** Finds `BATCH: […]` or `CHAIN: […]` anywhere in a text. */
export function readDirective(text: string): DirectiveReading {
  directive.lastIndex = 0
  const found = directive.exec(text)
  if (found === null) return { kind: 'none' }
  const kind = found[1] === 'BATCH' ? 'batch' : 'chain'
  const start = directive.lastIndex
  const end = endOfJson(text, start)
  if (end === undefined) return broken(kind, 'its list is never closed')
  directive.lastIndex = end
  if (directive.test(text)) return broken(kind, 'a text can have only one BATCH or CHAIN')
  return readSteps(text.slice(start, end), kind)
}

/** The members of `BATCH: […]` in a text, or of a text that is the JSON list alone. */
export function parseBatchText(text: string): DirectiveReading {
  return parseText(text, 'batch')
}

/** The members of `CHAIN: […]` in a text, or of a text that is the JSON list alone. */
export function parseChainText(text: string): DirectiveReading {
  return parseText(text, 'chain')
}

function parseText(text: string, wanted: DirectiveKind): DirectiveReading {
  const bare = text.replace(/^\uFEFF/, '').trim()
  if (bare.startsWith('[')) return readSteps(bare, wanted)
  const reading = readDirective(text)
  if (reading.kind === 'none' || reading.kind === 'broken' || reading.kind === wanted)
    return reading
  return broken(wanted, `this is a ${reading.kind}, not a ${wanted}`)
}

function readSteps(json: string, kind: DirectiveKind): DirectiveReading {
  const reading = readJson(json)
  if (!reading.ok) return broken(kind, `its list is ${reading.problem}`)
  const list = reading.value
  if (!isList(list)) return broken(kind, 'it must be a list')
  const steps: ToolStep[] = []
  for (const [index, item] of list.entries()) {
    const problem = problemOf(item, kind)
    if (problem !== undefined) return broken(kind, `member ${index + 1} ${problem}`)
    steps.push(stepOf(objectOf(item), kind))
  }
  return { kind, steps }
}

function problemOf(item: JsonValue, kind: DirectiveKind): string | undefined {
  if (!isObject(item)) return 'must be an object such as {"tool": "name", "params": {}}'
  const { tool, params, output_as: outputAs } = item
  if (typeof tool !== 'string' || tool.trim() === '') return 'has no "tool"'
  if (params !== undefined && !isObject(params)) return 'has "params" that are no object'
  if (outputAs === undefined) return undefined
  if (kind === 'batch') return 'has "output_as", which only a chain can have'
  return typeof outputAs === 'string' && variableName.test(outputAs)
    ? undefined
    : 'has an "output_as" that is no name of letters, digits and _'
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

function stepOf(item: JsonObject, kind: DirectiveKind): ToolStep {
  const { tool, params, output_as: outputAs } = item
  const name = typeof tool === 'string' ? tool.trim() : ''
  const variable = typeof outputAs === 'string' ? outputAs : undefined
  const notes = unknownKeys(item, kind)
  const noted = notes.length === 0 ? {} : { notes }
  return { tool: name, params: objectOf(params), outputAs: variable, ...noted }
}

const memberKeys = { batch: ['tool', 'params'], chain: ['tool', 'params', 'output_as'] } as const

/** Misspelt `params` would call the tool without any. */
function unknownKeys(item: JsonObject, kind: DirectiveKind): string[] {
  const keys: readonly string[] = memberKeys[kind]
  const unknown = Object.keys(item).filter((key) => !keys.includes(key))
  return unknown.map((key) => {
    const meant = nearest(key, keys)
    const advice =
      meant === undefined ? `; it has ${keys.join(', ')}.` : `; did you mean \`${meant}\`?`
    return `\`${key}\` is no key of a ${kind} member${advice}`
  })
}

function broken(kind: DirectiveKind, message: string): DirectiveReading {
  return { kind: 'broken', directive: kind, message: `the ${kind} cannot be read: ${message}` }
}
