import { withoutEnd } from '../../base/index.ts'
import type { JsonObject, ToolSummary } from '../model.ts'
import { splitClauses } from '../parameters/clauses.ts'
import { objectOf, readJson } from './_json.ts'
import type { CallIndex } from './context.ts'
import { endOfJson, type JsonInText } from './json-in-text.ts'
import { resolveTool } from './resolve-tool.ts'
import { behindColon, isSeveralWords, type WrittenName, writtenNames } from './written-names.ts'

export type PassthroughReading =
  | { kind: 'none' }
  | {
      kind: 'tool'
      tool: ToolSummary
      /** As it was written. */
      written: string
      /** The JSON beside the name; undefined where there is none. */
      params: JsonObject | undefined
    }
  /** The text is nothing but a name that no tool has. */
  | { kind: 'unknown'; written: string }
  | { kind: 'broken'; written: string; message: string }

/** The beginning of a text that is a name and nothing else but a verb before it. */
const nameAlone =
  /^\s*(?:(?:please\s+)?(?:use|call|run|execute|invoke)\s+)?(?:the\s+tool\s+)?[`"']?([A-Za-z][A-Za-z0-9_.:-]{1,255})[`"']?/i

/**
 * Finds the call of a tool in a text, which then is made without routing: the first token with `__`
 * that the registry knows, also behind the prefixes of other clients, or any name of a tool that has
 * its parameters in JSON beside it. Other words with `__`, such as `__init__.py`, are prose. `find` may
 * know names that are spelt in another way.
 */
export function parsePassthrough(
  text: string,
  index: Pick<CallIndex, 'tools'>,
  find: ToolFinder = exactly,
): PassthroughReading {
  const named = calledTools(text, (id) => find(id, index))
  const [first] = named
  if (first === undefined) {
    const written = loneName(text)
    return written === undefined ? { kind: 'none' } : { kind: 'unknown', written }
  }
  const [call = first, again] = named.filter(({ tool, reading }) => {
    return tool.id === first.tool.id && !(reading.ok && reading.value === undefined)
  })
  const { tool, written, reading, isBare } = call
  // What else such a request asks for is found by routing its clauses.
  if (isBare && splitClauses(text).length > 1) return { kind: 'none' }
  if (!reading.ok) return { kind: 'broken', written, message: reading.message }
  const other = named.find((one) => one.tool.id !== tool.id)
  if (other === undefined && again === undefined) {
    return { kind: 'tool', tool, written, params: reading.value }
  }
  const said = other === undefined ? `calls ${written} twice` : `names ${other.written} too`
  const message = `the text ${said}; put both into BATCH: […] or CHAIN: […]`
  return { kind: 'broken', written, message }
}

type ToolFinder = (id: string, index: Pick<CallIndex, 'tools'>) => ToolSummary | undefined

function exactly(id: string, index: Pick<CallIndex, 'tools'>): ToolSummary | undefined {
  const resolution = resolveTool(id, index)
  return resolution.kind === 'found' ? resolution.tool : undefined
}

/** The name that the text consists of, but for a verb before it and parameters after it. */
function loneName(text: string): string | undefined {
  const found = nameAlone.exec(text)
  const written = withoutEnd(found?.[1] ?? '', '.:-')
  const rest = text.slice(found?.[0].length ?? 0).trim()
  const isCall = rest.startsWith('{') && rest.endsWith('}')
  if (/\.[a-z]{1,4}$/i.test(written) || (!isCall && !/^[.!]?$/.test(rest))) return undefined
  const isId = /[^_]__[A-Za-z0-9]/.test(written)
  return isId || (isCall && isSeveralWords.test(written)) ? written : undefined
}

interface CalledTool {
  tool: ToolSummary
  /** Without the punctuation around it. */
  written: string
  /** Not an id: only what stands beside it makes it a name. */
  isBare: boolean
  reading: ParamsReading
}

function calledTools(
  text: string,
  find: (id: string) => ToolSummary | undefined,
): readonly CalledTool[] {
  const known = writtenNames(text).flatMap((name) => {
    const hit = knownTool(name, find)
    return hit === undefined ? [] : { ...name, ...hit }
  })
  // An object behind one name is no object before the next.
  const taken = new Set(known.map(({ opening }) => opening))
  return known.map(({ tool, written, opening, before }) => {
    const own = before !== undefined && !taken.has(before.start) ? before : undefined
    const isBare = !written.includes('__')
    return { tool, written, isBare, reading: paramsOf(text, opening, own) }
  })
}

/** The token, or the token without the punctuation that ended its sentence, or without a word and `:`. */
function knownTool(
  { token, opening, before }: WrittenName,
  find: (id: string) => ToolSummary | undefined,
): { tool: ToolSummary; written: string } | undefined {
  const part = behindColon(token) ?? ''
  const isName = part.includes('__') || opening !== undefined || before !== undefined
  for (const written of new Set([
    token,
    withoutEnd(token, '.:-'),
    withoutEnd(token.replace(/^[.:-]+/, ''), '.:_-'),
    isName ? part : '',
  ])) {
    const tool = written === '' ? undefined : find(written)
    if (tool !== undefined) return { tool, written }
  }
  return undefined
}

type ParamsReading = { ok: true; value: JsonObject | undefined } | { ok: false; message: string }

function paramsOf(
  text: string,
  opening: number | undefined,
  before: JsonInText | undefined,
): ParamsReading {
  if (opening === undefined) return { ok: true, value: before?.value }
  const end = endOfJson(text, opening)
  if (end === undefined) return { ok: false, message: 'its parameters are never closed' }
  const reading = readJson(text.slice(opening, end))
  if (!reading.ok) return { ok: false, message: `its parameters are ${reading.problem}` }
  if (before !== undefined || another.test(text.slice(end, end + 100))) {
    return { ok: false, message: 'it has two JSON objects beside it; put its parameters into one' }
  }
  return { ok: true, value: objectOf(reading.value) }
}

/** A second object right behind the first. */
const another = /^[\s`,]*(?:and\s+)?\{\s*["}]/i
