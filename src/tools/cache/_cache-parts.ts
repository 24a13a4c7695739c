import { isObject } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../model.ts'
import { type CachedCategory, type CachedTool, cacheLimits } from './cache-model.ts'
import { prototypeKeys, toolIdProblem } from './tool-id.ts'

export interface PartsContext {
  /** Ids that were read already; of each id the first counts. */
  seen: Set<string>
  /** `tools` of the later schema: id → description and category. */
  lookup: Readonly<Record<string, unknown>>
  report(code: string, message: string): void
}

export function readStrings(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.filter((item): item is string => typeof item === 'string')
}

export function parseCategories(
  categories: Readonly<Record<string, unknown>>,
  context: PartsContext,
): CachedCategory[] {
  return Object.entries(categories).flatMap(([name, value]) => {
    if (prototypeKeys.has(name) || name.trim() === '' || name.length > 256) {
      context.report('cache-category-name', `a category cannot be called ${JSON.stringify(name)}`)
      return []
    }
    if (!isObject<JsonValue>(value)) {
      context.report('cache-category', `category ${name} is no object with description and tools`)
      return []
    }
    const { description, keywords, tools, ...further } = value
    return [
      {
        name,
        description: typeof description === 'string' ? description : '',
        keywords: readStrings(keywords),
        tools: parseTools(tools, context),
        further,
      },
    ]
  })
}

/** Tools as objects (the first schema) or as ids whose facts are in the lookup (the later one). */
export function parseTools(value: unknown, context: PartsContext): CachedTool[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    const tool = typeof item === 'string' ? lookUp(item, context) : item
    if (!isObject<JsonValue>(tool) || typeof tool['id'] !== 'string') {
      context.report('cache-tool', 'a tool in the cache has no id')
      return []
    }
    return parseTool(tool['id'], tool, context)
  })
}

function lookUp(id: string, { lookup }: PartsContext): JsonObject {
  const facts = Object.hasOwn(lookup, id) ? lookup[id] : undefined
  if (!isObject<JsonValue>(facts)) return { id, description: '' }
  const { category: _category, ...rest } = facts
  return { ...rest, id }
}

function parseTool(id: string, value: JsonObject, context: PartsContext): CachedTool[] {
  const problem = toolIdProblem(id)
  if (problem !== undefined) {
    context.report('tool-name', `tool ${JSON.stringify(id.slice(0, 80))} is left out: ${problem}`)
    return []
  }
  if (context.seen.has(id)) {
    context.report('tool-repeated', `tool ${id} is listed again; the first one counts`)
    return []
  }
  if (context.seen.size >= cacheLimits.tools) {
    context.report('cache-too-many', `tools beyond the first ${cacheLimits.tools} are left out`)
    return []
  }
  context.seen.add(id)
  const { id: _id, description, prefix, examples, ...further } = value
  const phrases = readStrings(examples).slice(0, cacheLimits.examples)
  return [
    {
      id,
      description: cutDescription(typeof description === 'string' ? description : ''),
      ...(typeof prefix === 'string' ? { prefix } : {}),
      ...(phrases.length > 0 ? { examples: phrases } : {}),
      further,
    },
  ]
}

/** As much of a description as the cache keeps. */
export function cutDescription(text: string): string {
  return cutText(text, cacheLimits.description)
}

/** Text of at most `length` characters; an ellipsis stands for what was cut off. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text.trim()
  const cut = text.trimStart().slice(0, length - 1)
  return `${cut.replace(/[\uD800-\uDBFF]$/, '').trimEnd()}…`
}
