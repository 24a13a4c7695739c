import type { ToolDefinition } from '#tools/model'
import { plainWords } from '#rank/words'
import { mapParameters } from '#tools/parameters/map-parameters'
import { wordsOfInitials } from '#tools/parameters/reading'
import { findSlots } from '#tools/parameters/slots'
import { prepareRouter } from '#tools/route/router'
import type { CallIndex } from './context.ts'

/** How many tools a model chooses from. */
const maxOffered = 20
/** How many of them come by the words of the request, before those that take its values. */
const maxByWords = 12
/** How many meanings of initials are added. */
const maxSpelled = 3
/** A search through more schemas would take longer than it is worth. */
const maxRead = 2000

/**
 * Returns the tools that a model chooses from: the best by the words of the request, then those that take its typed
 * pieces, such as a path in `open notes/todo.md`, then the next best, then any.
 */
export function offeredTools(request: string, index: CallIndex): readonly ToolDefinition[] {
  const spelled = withInitials(request, index)
  const { candidates } = prepareRouter(index.tools).route(spelled, { limit: maxOffered })
  const byWords = candidates.map(({ tool }) => tool)
  const ids = new Set([
    ...byWords.slice(0, maxByWords),
    ...takingValues(request, index).slice(0, maxOffered - maxByWords),
    ...byWords,
    ...index.tools.map(({ id }) => id),
  ])
  return [...ids].slice(0, maxOffered).flatMap((id) => index.definition(id) ?? [])
}

/** Adds the words of initials that the names of tools have: `pull request` for `PR`. */
function withInitials(request: string, index: CallIndex): string {
  const initials = request.match(/(?<![\p{L}\p{N}_-])\p{Lu}{2,5}s?(?![\p{L}\p{N}_-])/gu) ?? []
  const names = initials.length > 0 ? index.tools.map(({ name }) => plainWords(name)) : []
  const spelled = initials.flatMap((word) =>
    names.map((name) => wordsOfInitials(word, name).join(' ')),
  )
  const added = [...new Set(spelled)].filter((words) => words !== '').slice(0, maxSpelled)
  return [request, ...added].join(' ')
}

/** The tools that can be called with the values of the request alone, those that take the most first. */
function takingValues(request: string, index: CallIndex): readonly string[] {
  if (findSlots(request).length === 0) return []
  return index.tools
    .slice(0, maxRead)
    .flatMap(({ id }) => {
      const tool = index.definition(id)
      const mapping = tool && mapParameters(request, tool)
      const isGiven = mapping?.missing.length === 0 && mapping.trace.length > 0
      return isGiven ? [{ id, count: mapping.trace.length }] : []
    })
    .toSorted((one, other) => other.count - one.count)
    .map(({ id }) => id)
}
