import type { Context } from '../core/command.ts'
import { plainJson } from './input.ts'
import type { ToolWorld } from './world.ts'
import type { JsonObject } from '../tools/model.ts'
import { namedTool } from '../tools/call/find-tool.ts'
import { openLiveServers } from '../tools/server/project-servers.ts'
import { remarksOn } from '../tools/server/errors.ts'
import type { ToolIndex } from '../tools/cache/tool-index.ts'
import { callResult, valueOfReport } from '../tools/commands/call.ts'
import { requestRouter, routeIn, routingOf } from '../tools/commands/route.ts'
import { openCalls, type ToolCalls } from '../tools/commands/tool-calls.ts'
import { cautionText, guardsOf } from '../tools/commands/describe-tool.ts'
import { foundAmongAsked, toolProject } from '../tools/commands/project-tools.ts'

/**
 * The tools of the project for the clients of our own server. Its servers live as long as it does, or
 * until they are no longer accepted.
 */
export function mcpTools(context: Context): ToolWorld {
  const { runtime, settings } = context
  const project = toolProject(context)
  const pool = openLiveServers({
    project,
    runtime,
    settings,
    onLog: ({ server, message }) => context.note(`${server}: ${message}`, 'detail'),
  })
  context.diagnose(remarksOn(pool.configuration))
  const quiet = { ask: undefined, progress: (): void => undefined }

  /** As for one request: what lies in the project is read anew. */
  function opened(signal: AbortSignal): ToolCalls {
    return openCalls(requestContext(context, signal), {}, project, pool, quiet)
  }

  /** Without a cache, or for a name that it does not know, the servers are asked. */
  async function indexWith(name: string | undefined, signal: AbortSignal): Promise<ToolIndex> {
    const { calls, index } = opened(signal)
    const known = index().tools
    const isKnown = name === undefined ? known.length > 0 : known.some((tool) => tool.id === name)
    if (!isKnown) await calls.discover?.(signal)
    return index()
  }

  return {
    async route(request, limit, signal) {
      const within = requestContext(context, signal)
      return await foundAmongAsked(within, async () => {
        const index = await indexWith(undefined, signal)
        const routing = await routingOf(request, index, project, within)
        return plainJson(routeIn(routing, request, limit))
      })
    },
    async describe(name, signal): Promise<JsonObject> {
      const within = requestContext(context, signal)
      return await foundAmongAsked(within, async () => {
        const index = await indexWith(name, signal)
        const { tool, note } = namedTool(name, index.tools)
        const definition = index.definition(tool.id)
        const caution = index.caution(tool.id)
        const workflows = guardsOf(tool, index, project).map((workflow) => workflow.name)
        const held = caution === undefined ? undefined : cautionText(caution, definition)
        return plainJson({ tool, definition, workflows, caution: held, note })
      })
    },
    open({ session, signal, note, ask, progress }) {
      const within = requestContext(context, signal, note)
      const { calls, place, index } = openCalls(within, { session }, project, pool, {
        ask,
        progress,
      })
      return {
        calls,
        place,
        router: (request) => async () => await requestRouter(request, index(), project, within),
        reportJson: (report) => callResult(report, place),
        valueOf: (report) => valueOfReport(report, place),
      }
    },
    close: () => pool.close(),
  }
}

/** The context of one request: it ends with the request, and notes become part of its answer. */
export function requestContext(
  context: Context,
  signal: AbortSignal,
  note: (line: string) => void = () => undefined,
): Context {
  return {
    ...context,
    signal: AbortSignal.any([signal, context.signal]),
    note,
    diagnose: () => undefined,
  }
}
