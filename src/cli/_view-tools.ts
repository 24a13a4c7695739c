import {
  describeParameters,
  loadToolIndex,
  type ToolIndex,
  type ToolIndexLoading,
  ToolError,
  toolNotFound,
  unaskedServers,
} from '../tools/index.ts'
import type { ViewWorld } from '../view/index.ts'
import { serverConfiguration, toolProject } from '../tools/commands/project-tools.ts'
import { routeIn, routingOf } from '../tools/commands/route.ts'
import { contextOf } from './legacy.ts'
import { addressOf, knownServers, shownServer } from '../tools/commands/server-rows.ts'
import { cautionText, guardsOf, hintText } from '../tools/commands/describe-tool.ts'
import type { CommandContext } from './command.ts'

type ToolPart = 'tools' | 'tool' | 'route'

const mostCandidates = 8

/** What the view shows of tools: what the last refresh found. No server is started or asked. */
export function toolWorld(context: CommandContext): Pick<ViewWorld, ToolPart> {
  const { runtime } = context
  const project = toolProject(context)

  /** @throws {ToolError} where nothing is known, with the reason. */
  const knownIndex = (): ToolIndex => {
    const loading = loadToolIndex({ project, runtime })
    if (loading.index !== undefined) return loading.index
    throw unaskedServers(serverConfiguration(context)) ?? notKnown(loading)
  }

  return {
    async tools() {
      const loading = loadToolIndex({ project, runtime })
      const { index, state, diagnostics } = loading
      const { servers, diagnostics: configured } = serverConfiguration(context)
      const rows = await knownServers(context, servers)
      const addresses = new Map(
        servers.map((server) => [server.name, addressOf(shownServer(server))]),
      )
      return {
        state,
        message: index === undefined ? notKnownText(loading) : loading.message,
        refreshedAt: index?.refreshedAt,
        servers: rows.map((row) => ({ ...row, address: addresses.get(row.name) ?? '' })),
        tools: (index?.tools ?? []).map((tool) => {
          const { id, server, name, description, category, readOnly } = tool
          const caution = index?.caution(id)?.kind
          return { id, server, name, description, category, readOnly, caution }
        }),
        diagnostics: [...diagnostics, ...configured],
      }
    },
    tool(id) {
      const index = knownIndex()
      const tool = index.tool(id)
      if (tool === undefined) throw toolNotFound(id, index.tools)
      const definition = index.definition(id)
      const caution = index.caution(id)
      return {
        id,
        server: tool.server,
        description: definition?.description ?? tool.description,
        category: tool.category,
        readOnly: tool.readOnly === true,
        hints: hintText(definition),
        parameters: definition === undefined ? [] : describeParameters(definition.inputSchema),
        isDefined: definition !== undefined,
        caution: caution === undefined ? undefined : cautionText(caution, definition),
        workflows: guardsOf(tool, index, project).map(({ name, mode }) => `${name} (${mode})`),
        examples: tool.examples ?? [],
      }
    },
    async route(request) {
      const routing = await routingOf(request, knownIndex(), project, contextOf(context))
      return routeIn(routing, request, mostCandidates, true)
    },
  }
}

function notKnown(loading: ToolIndexLoading): ToolError {
  return new ToolError({
    code: 'tools-not-known',
    message: loading.state === 'corrupt' ? damaged(loading.path) : 'the tools are not known yet',
    hint: asking,
  })
}

/** The same as a remark; nothing where there is only nothing yet, which an empty list says. */
function notKnownText({ state, path }: ToolIndexLoading): string | undefined {
  return state === 'corrupt' ? `${damaged(path)}. ${asking}` : undefined
}

const damaged = (path: string): string => `the file that has the tools is damaged: ${path}`
const asking = '`skillrail tools refresh` asks the servers for theirs.'
