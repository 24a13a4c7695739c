import type { Context } from '#core/command'
import { type Diagnostic, exitCode, type ExitCode, SkillrailError } from '#core/errors'
import { amount } from '#core/text'
import { findWorkspace } from '#core/read-files'
import { discoverOnce } from './cache/discover.ts'
import {
  indexDefinitions,
  loadToolIndex,
  type ToolIndex,
  type ToolIndexLoading,
} from './cache/tool-index.ts'
import { isKnown, namedTool } from './call/find-tool.ts'
import type { ServerConfiguration } from './config/model.ts'
import { readServerConfiguration } from './config/read-configuration.ts'
import { isDenied } from './config/tool-rules.ts'
import { ToolError } from './errors.ts'
import type { ToolSummary } from './model.ts'
import { openProjectServers, type ProjectServers } from './server/project-servers.ts'
import {
  NoServersError,
  configurationDiagnostics,
  requireServers,
  ServersNotTrustedError,
  unaskedServers,
} from './server/errors.ts'

export type ToolContext = Pick<
  Context,
  'runtime' | 'settings' | 'signal' | 'interactive' | 'note' | 'diagnose' | 'ask'
>

/** The context to read what a project has; it prints and asks nothing. */
export type ProjectContext = Pick<ToolContext, 'runtime' | 'settings'>

export function toolProject({ runtime }: ProjectContext): string {
  return findWorkspace(runtime.cwd, runtime)
}

/**
 * Runs work that looks for tools. If servers were not asked, a not-found error says so; untrusted servers
 * make the exit code 4, which takes precedence over 3.
 */
export async function findAmongServers<T>(
  context: ToolContext,
  find: () => T | Promise<T>,
): Promise<T> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof SkillrailError) || error.exitCode !== exitCode.notFound) throw error
    const serversError = unaskedServers(serverConfiguration(context))
    if (!serversError || error.code === serversError.code) throw error
    // The hint replaces the advice to ask the servers again.
    const lines = error.message.split('\n').filter((line) => !line.startsWith('Next: '))
    const { code, hint, diagnostics, exitCode: status } = serversError
    const message = [...lines, `${serversError.message}.`].join('\n')
    throw new ToolError({ code, message, hint, diagnostics, exitCode: status })
  }
}

export function serverConfiguration(context: ProjectContext): ServerConfiguration {
  const { runtime, settings } = context
  const project = toolProject(context)
  return readServerConfiguration({ project, runtime, trust: settings.workspaceTrust })
}

/** Whether no call of a tool is allowed in this project. */
export function denials(context: ProjectContext): (tool: ToolSummary) => boolean {
  const { servers } = serverConfiguration(context)
  return (tool) => isDenied(tool, servers, context.settings.tools)
}

export async function answerOf(
  context: Pick<ToolContext, 'ask'>,
  text: string,
  about: string,
): Promise<string | undefined> {
  const noAnswer = new SkillrailError({ code: 'no-answer', message: 'no answer was given' })
  try {
    return await context.ask({ text, about: () => about, otherwise: () => noAnswer })
  } catch (error) {
    if (error === noAnswer) return undefined
    throw error
  }
}

export function sayUnasked(context: ToolContext): ExitCode {
  const serversError = unaskedServers(serverConfiguration(context))
  if (!serversError) return exitCode.notFound
  context.note(`${serversError.message}.`, 'failure')
  if (serversError.hint !== undefined) context.note(serversError.hint, 'failure')
  return serversError.exitCode
}

/** The tools of a project, and a way to ask its servers for them, once. */
interface ProjectTools extends Omit<ToolIndexLoading, 'index'> {
  project: string
  index: ToolIndex
  discover: () => Promise<ToolIndex>
}

/**
 * Returns the project's tools from its cache; without a usable cache the servers are asked. Problems of the
 * cache go to stderr. Throws {@link ServersNotTrustedError} and {@link NoServersError} if there is no cache
 * and no server may be asked.
 */
export async function loadProjectTools(context: ToolContext): Promise<ProjectTools> {
  const project = toolProject(context)
  const loading = loadToolIndex({ project, runtime: context.runtime })
  context.diagnose(loading.diagnostics)
  let discovery: Promise<ToolIndex> | undefined
  const discover = (): Promise<ToolIndex> =>
    (discovery ??= askServers(context, project, loading.known))
  const index = loading.index ?? (await discover())
  if (loading.message !== undefined) context.note(loading.message)
  return { ...loading, project, index, discover }
}

export async function listableTools(
  context: ToolContext,
): Promise<Pick<ProjectTools, 'index' | 'state' | 'path' | 'diagnostics'>> {
  try {
    return await loadProjectTools(context)
  } catch (error) {
    if (!(error instanceof ServersNotTrustedError || error instanceof NoServersError)) throw error
    const loading = loadToolIndex({ project: toolProject(context), runtime: context.runtime })
    return { ...loading, index: indexDefinitions([]) }
  }
}

/** Collects the diagnostics of work that looks for tools; see {@link findAmongServers}. */
export async function hearing<T>(
  context: ToolContext,
  work: (context: ToolContext) => Promise<T>,
): Promise<{ found: T; diagnostics: readonly Diagnostic[] }> {
  const diagnostics: Diagnostic[] = []
  const collectingContext = {
    ...context,
    diagnose: (more: readonly Diagnostic[]) => void diagnostics.push(...more),
  }
  try {
    return {
      found: await findAmongServers(collectingContext, () => work(collectingContext)),
      diagnostics,
    }
  } catch (error) {
    context.diagnose(diagnostics)
    throw error
  }
}

async function askServers(context: ToolContext, project: string, index: ToolIndex | undefined) {
  const { runtime, settings } = context
  const pool = openProjectServers({ project, runtime, settings })
  context.diagnose(configurationDiagnostics(pool.configuration))
  try {
    requireServers(pool.configuration)
    return await discoverTools(context, pool, index)
  } finally {
    await pool.close()
  }
}

/**
 * Finds the tool that a name means in this project. With `discover`, the servers are asked once for an
 * unknown name. Notes a different spelling. Throws {@link ToolNotFoundError} with suggestions, {@link
 * ToolRequestError} for an ambiguous name.
 */
export async function toolNamed(
  name: string,
  { index, discover }: Pick<ProjectTools, 'index'> & Partial<Pick<ProjectTools, 'discover'>>,
  context: ToolContext,
): Promise<{ tool: ToolSummary; index: ToolIndex }> {
  const asksServers = discover !== undefined && !isKnown(name, index.tools)
  const currentIndex = asksServers ? await discover() : index
  const { tool, note } = namedTool(name, currentIndex.tools)
  if (note !== undefined) context.note(note)
  return { tool, index: currentIndex }
}

/**
 * Asks the servers for their tools, once while the pool is open, and reports slow and failed ones. If a
 * cache exists, the wait for a server that hangs or failed before is short.
 */
export async function discoverTools(
  { runtime, note, signal }: ToolContext,
  pool: ProjectServers,
  index: ToolIndex | undefined,
): Promise<ToolIndex> {
  const servers = pool.definitions.filter(({ disabled }) => !disabled)
  const failedServers = new Set(
    index?.servers.flatMap(({ name, unavailable }) => (unavailable ? [name] : [])),
  )
  const isKnown = index !== undefined && index.tools.length > 0
  const slow = setTimeout(() => {
    note(`Asking ${amount(servers.length, 'server')} for their tools …`)
  }, patienceMs.silent)
  try {
    const freshIndex = await discoverOnce({
      pool,
      index,
      trusted: new Set(servers.flatMap(({ name, trusted }) => (trusted ? [name] : []))),
      refreshedAt: new Date(runtime.now()).toISOString(),
      patienceMs: isKnown
        ? (server) => (failedServers.has(server) ? patienceMs.failed : patienceMs.known)
        : undefined,
      signal,
    })
    for (const { unavailable } of freshIndex.servers) {
      if (unavailable && unavailable.notTrusted !== true) {
        note(`Not asked: ${unavailable.message}`)
      }
    }
    return freshIndex
  } finally {
    clearTimeout(slow)
  }
}

const patienceMs = { silent: 1500, failed: 3000, known: 5000 } as const
