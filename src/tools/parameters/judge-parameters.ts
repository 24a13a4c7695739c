import { isDeepStrictEqual } from 'node:util'
import { plainWords, stemOf } from '#rank/words'
import { isList, isObject, type JsonValue, type JsonObject } from '#core/json'
import type { ToolDefinition } from '#tools/model'
import { mapParameters, type ParameterMapping } from './map-parameters.ts'
import { Reading, type Token } from './reading.ts'
import { maxRequestLength } from './slots.ts'

/**
 * Judges a model's parameters: `missing` has those that the request does not contain, or that differ from it.
 */
export function judgeParameters(
  request: string,
  tool: ToolDefinition,
  params: JsonObject,
): ParameterMapping {
  const text = request.slice(0, maxRequestLength)
  const byWords = new Map(Object.entries(mapParameters(text, tool).params))
  const reading = new Reading(text, tool, new Set())
  const stems = new Set(reading.tokens.map(({ stem }) => stem))
  const isDoubtful = (name: string, value: JsonValue) => {
    const byWord = byWords.get(name)
    return byWord === undefined
      ? !isInRequest(name, value, text, stems)
      : !isDeepStrictEqual(byWord, value)
  }
  for (const [name, value] of Object.entries(params)) {
    const parameter = reading.parameters.find((one) => one.name === name)
    const tokens = reading.tokens.filter((token) => carries(value, token))
    if (parameter) reading.give(parameter, value, 'chosen by a model', tokens)
  }
  const doubtful = Object.entries(params).filter(([name, value]) => isDoubtful(name, value))
  const open = reading.open().filter(({ required }) => required)
  return {
    params,
    missing: [...open.map(({ name }) => name), ...doubtful.map(([name]) => name)],
    unplaced: reading.unplaced(),
    trace: [...reading.found.values()],
  }
}

type Leaf = string | number | boolean | null

function leavesOf(name: string, value: JsonValue): { name: string; leaf: Leaf }[] {
  if (isList(value)) return value.flatMap((item) => leavesOf(name, item))
  if (!isObject(value)) return [{ name, leaf: value }]
  return Object.entries(value).flatMap(([key, member]) => leavesOf(key, member))
}

/** Whether a request contains every part of a value: literally, in its words, or by the name of a flag. */
function isInRequest(
  of: string,
  value: JsonValue,
  text: string,
  stems: ReadonlySet<string>,
): boolean {
  return leavesOf(of, value).every(({ name, leaf }) => {
    if (typeof leaf === 'boolean') return plainWords(name).some((word) => stems.has(stemOf(word)))
    const written = String(leaf)
    if (written === '') return false
    if (typeof leaf === 'string' && text.toLowerCase().includes(written.toLowerCase())) return true
    return stems.has(written) || plainWords(written).every((word) => stems.has(stemOf(word)))
  })
}

function carries(value: JsonValue, { text, word, kind }: Token): boolean {
  const isPiece = kind !== undefined && kind !== 'number'
  return leavesOf('', value).some(({ leaf }) => {
    const written = String(leaf).toLowerCase()
    return isPiece ? written.includes(word) : plainWords(written).includes(word) || written === text
  })
}
