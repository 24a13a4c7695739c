import type { Diagnostic } from '../../core/diagnostic.ts'
import type { ToolIndex } from '../cache/tool-index.ts'
import type { ProjectPlace } from '../cache/places.ts'
import { routeExamples } from './learned-example.ts'
import { readLearned } from './learned-store.ts'
import { prepareRouter, type Router } from './router.ts'

export interface ProjectRouter {
  router: Router
  /** What is wrong with the file of learned examples; routing continues without them. */
  diagnostics: readonly Diagnostic[]
}

/** The router of a project: its tools, what was learned in it, and which servers fail. */
export function projectRouter(
  index: Pick<ToolIndex, 'tools' | 'categories' | 'servers' | 'definition'>,
  place: ProjectPlace,
): ProjectRouter {
  const { examples, diagnostics } = readLearned(place)
  const unavailable = new Map<string, string>()
  for (const server of index.servers) {
    if (server.unavailable !== undefined) unavailable.set(server.name, server.unavailable.message)
  }
  const router = prepareRouter(index.tools, {
    categories: index.categories,
    examples: routeExamples(examples, place.runtime.now()),
    unavailable,
    definition: (id) => index.definition(id),
  })
  return { router, diagnostics }
}
