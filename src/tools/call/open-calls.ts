import { join } from 'node:path'
import { loadToolIndex, type ToolIndex } from '#tools/cache/tool-index'
import {
  discoverTools,
  findAmongServers,
  type ToolContext,
  toolProject,
} from '#tools/project-tools'
import { configurationDiagnostics, requireServers } from '#tools/server/errors'
import { openProjectServers, type ProjectServers } from '#tools/server/project-servers'
import { openWorkflows, sessionOf } from '#tools/workflow/project-workflows'
import type { SavePlace } from './content.ts'
import type { ServerFailure } from '#tools/model'
import { callContext } from './call-context.ts'
import type { CallContext } from './context.ts'
import { projectGate } from './gate.ts'

/** What a user chooses for the calls of one command. */
export interface CallOptions {
  /** Where images and other files go; default `.skillrail/results`. */
  output?: string | undefined
  session?: string | undefined
  skipPrerequisites?: boolean | undefined
  /** Milliseconds for each call; default: as the server's configuration says. */
  timeout?: number | undefined
}

/** Who hears of calls while they are made. */
export interface CallListener {
  /** Asks whether the steps of a `warn` workflow run; undefined: they run. */
  ask: ((warning: string) => Promise<'run' | 'skip'>) | undefined
  progress: NonNullable<CallContext['progress']>
}

/** What calls of a project's tools need. */
export interface ToolCalls {
  project: string
  calls: CallContext
  /** Read at every use: a discovery replaces it. */
  index: () => ToolIndex
  place: SavePlace
}

/** Prepares what calls need, does the work, and ends the servers that were started for it. */
export async function withProjectCalls<T>(
  context: ToolContext,
  options: CallOptions,
  listener: CallListener,
  work: (tools: ToolCalls) => Promise<T>,
): Promise<T> {
  const { runtime, settings } = context
  const project = toolProject(context)
  const pool = openProjectServers({
    project,
    runtime,
    settings,
    onLog: (line) => context.note(line, 'detail'),
  })
  try {
    context.diagnose(configurationDiagnostics(pool.configuration))
    const calls = openCalls(context, options, project, pool, listener)
    return await findAmongServers(context, () => work(calls))
  } finally {
    await pool.close()
  }
}

export function openCalls(
  context: ToolContext,
  options: CallOptions,
  project: string,
  pool: ProjectServers,
  { ask, progress }: CallListener,
): ToolCalls {
  const { runtime, settings, signal } = context
  const note = (line: string): void => context.note(line)
  const loaded = cachedIndex(context, project, pool)
  let index = loaded
  let discovery: Promise<ToolIndex> | undefined
  const session = sessionOf(context, project, options.session)
  const { workflows, diagnostics } = openWorkflows(context)
  context.diagnose(diagnostics)
  const calls = callContext({
    project,
    runtime,
    settings,
    session,
    index,
    holdingIndexes: () => [loaded, index],
    serverDefinition: (name) => pool.definitions.find((one) => one.name === name),
    servers: pool,
    callTimeoutMs: options.timeout,
    async discover() {
      // Once for a request, however many of its calls miss something.
      index = await (discovery ??= discoverTools(context, pool, loaded))
      return index
    },
    gate: projectGate({
      project,
      permissions: settings.tools,
      workspaceTrust: settings.workspaceTrust,
      workflows,
      diagnostics,
      session,
      index: () => index,
      failures: () => unlistedServers(index),
      ask,
      skipPrerequisites: options.skipPrerequisites,
      note,
      runtime,
    }),
    signal,
    note,
    progress,
  })
  const place: SavePlace =
    options.output === undefined
      ? { directory: join(project, '.skillrail', 'results'), within: project, now: runtime.now() }
      : { directory: join(runtime.cwd, options.output), now: runtime.now() }
  return { project, calls, index: () => index, place }
}

function cachedIndex(
  context: ToolContext,
  project: string,
  { configuration }: ProjectServers,
): ToolIndex {
  const { runtime } = context
  const loading = loadToolIndex({ project, runtime })
  if (!loading.index) requireServers(configuration)
  context.diagnose(loading.diagnostics)
  if (loading.message !== undefined) context.note(loading.message)
  return loading.known
}

/** Servers that did not answer, unless an earlier answer says which tools they have. */
function unlistedServers({ servers }: ToolIndex): ServerFailure[] {
  return servers.flatMap(({ toolCount, unavailable }) =>
    unavailable && toolCount === 0 ? [unavailable] : [],
  )
}
