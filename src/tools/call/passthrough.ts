import type { JsonObject, ToolSummary } from '../model.ts'
import { isObject, readJson } from './_json.ts'
import type { CallIndex } from './context.ts'
import { endOfJson } from './json-in-text.ts'
import { resolveTool } from './resolve-tool.ts'

export type PassthroughReading =
  | { kind: 'none' }
  | {
      kind: 'tool'
      tool: ToolSummary
      /** As it was written. */
      written: string
      /** The JSON after the name; undefined where there is none. */
      params: JsonObject | undefined
    }
  /** The text is nothing but an id that no server has. */
  | { kind: 'unknown'; written: string }
  | { kind: 'broken'; written: string; message: string }

/** A run of the characters that ids are made of. */
const token = /[A-Za-z0-9_.-]+/g
/** An id, the prefix of a client and the punctuation around it are never as long. */
const longestToken = 1000

/** What may stand between the name and its parameters. */
const between = /^\s*(?:with\s+)?(?:the\s+)?(?:params|parameters|arguments|args)?\s*[:=]?\s*$/i

/** The beginning of a text that is an id and nothing else but a verb before it. */
const idAlone =
  /^\s*(?:(?:please\s+)?(?:use|call|run|execute|invoke)\s+)?(?:the\s+tool\s+)?[`"']?([A-Za-z][A-Za-z0-9_.-]{1,255})[`"']?/i

/**
 * Finds the id of a tool in a text, which then is called without routing: the first token with `__`
 * that the registry knows, also behind the prefixes of other clients. Other words with `__`, such as
 * `__init__.py`, are prose. `find` may know names that are spelt in another way.
 */
export function parsePassthrough(
  text: string,
  index: Pick<CallIndex, 'tools'>,
  find: ToolFinder = exactly,
): PassthroughReading {
  const [first, ...others] = knownTools(text, (id) => find(id, index))
  if (first !== undefined) {
    const { tool, written, end } = first
    const params = paramsAfter(text, end)
    if (!params.ok) return { kind: 'broken', written, message: params.message }
    const second = others.find((other) => other.tool.id !== tool.id && other.end > params.end)
    if (second === undefined) return { kind: 'tool', tool, written, params: params.value }
    const message = `the text names ${second.written} too; put both into BATCH: […] or CHAIN: […]`
    return { kind: 'broken', written, message }
  }
  const written = loneId(text)
  return written === undefined ? { kind: 'none' } : { kind: 'unknown', written }
}

type ToolFinder = (id: string, index: Pick<CallIndex, 'tools'>) => ToolSummary | undefined

function exactly(id: string, index: Pick<CallIndex, 'tools'>): ToolSummary | undefined {
  const resolution = resolveTool(id, index)
  return resolution.kind === 'found' ? resolution.tool : undefined
}

/** The id that the text consists of, but for a verb before it and parameters after it. */
function loneId(text: string): string | undefined {
  const found = idAlone.exec(text)
  const written = (found?.[1] ?? '').replace(/[.-]+$/, '')
  const isId = /[^_]__[A-Za-z0-9]/.test(written) && !/\.[a-z]{1,4}$/i.test(written)
  const rest = text.slice(found?.[0].length ?? 0).trim()
  const isAlone = /^[.!]?$/.test(rest) || (rest.startsWith('{') && rest.endsWith('}'))
  return isId && isAlone ? written : undefined
}

function knownTools(
  text: string,
  find: (id: string) => ToolSummary | undefined,
): { tool: ToolSummary; written: string; end: number }[] {
  return [...text.matchAll(token)].flatMap((found) => {
    if (found[0].length > longestToken || !found[0].includes('__')) return []
    const hit = knownTool(found[0], find)
    return hit === undefined
      ? []
      : [{ ...hit, end: found.index + found[0].indexOf(hit.written) + hit.written.length }]
  })
}

/** The token, or the token without the punctuation that ended its sentence. */
function knownTool(
  written: string,
  find: (id: string) => ToolSummary | undefined,
): { tool: ToolSummary; written: string } | undefined {
  for (const candidate of new Set([
    written,
    written.replace(/[.-]+$/, ''),
    written.replace(/^[.-]+|[._-]+$/g, ''),
  ])) {
    if (!candidate.includes('__')) continue
    const tool = find(candidate)
    if (tool !== undefined) return { tool, written: candidate }
  }
  return undefined
}

type ParamsReading =
  /** `end`: where they end, or the name where there are none. */
  { ok: true; value: JsonObject | undefined; end: number } | { ok: false; message: string }

function paramsAfter(text: string, after: number): ParamsReading {
  const start = text.indexOf('{', after)
  const gap = text.slice(after, start).replace(/^[`"']/, '')
  if (start < 0 || gap.length > 100 || !between.test(gap))
    return { ok: true, value: undefined, end: after }
  const end = endOfJson(text, start)
  if (end === undefined) return { ok: false, message: 'its parameters are never closed' }
  const reading = readJson(text.slice(start, end))
  if (!reading.ok) return { ok: false, message: `its parameters are ${reading.problem}` }
  return { ok: true, value: isObject(reading.value) ? reading.value : undefined, end }
}
