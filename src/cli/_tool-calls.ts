import { join } from 'node:path'
import { contextOf } from './legacy.ts'
import { exitCode, type ExitCode, safeLine, safeText } from '../base/index.ts'
import {
  type CallContext,
  createSchemaChecker,
  indexDefinitions,
  loadToolIndex,
  openProjectServers,
  projectRouter,
  type ProjectServers,
  remarksOn,
  requireServers,
  type SavePlace,
  type ServerRules,
  type ToolCaution,
  type ToolIndex,
  projectGate,
} from '../tools/index.ts'
import { amongAskedServers, discoverTools, toolProject } from '../tools/commands/project-tools.ts'
import { milliseconds } from '../base/option-values.ts'
import { cautionText } from '../tools/commands/describe-tool.ts'
import { openWorkflows, sessionOf } from '../tools/commands/workflow-project.ts'
import type { CommandContext } from './command.ts'

/** What every command that calls tools understands. */
export interface CallOptions {
  session?: string | undefined
  skipPrerequisites?: boolean | undefined
  /** A directory for images and other files of an answer. */
  output?: string | undefined
  /** Seconds for each call, as given. */
  timeout?: string | undefined
}

export interface ToolCalls {
  project: string
  calls: CallContext
  /** The index as it is now; discovery replaces it. */
  index(): ToolIndex
  place: SavePlace
}

/**
 * Makes everything that calls need, does the work, and ends the servers that were started for it.
 * Ctrl-C cancels the call that is going on and ends with exit code 130.
 */
export async function withToolCalls(
  context: CommandContext,
  options: CallOptions,
  work: (tools: ToolCalls) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { runtime, settings, output, signal } = context
  const project = toolProject(context)
  const pool = openProjectServers({
    project,
    runtime,
    settings,
    onLog: ({ server, message }) => output.detail(`${server}: ${message}`),
  })
  try {
    if (!context.options.json) output.diagnostics(remarksOn(pool.configuration))
    const calls = openCalls(context, options, project, pool)
    return await amongAskedServers(contextOf(context), () => work(calls))
  } catch (error) {
    if (!signal.aborted) throw error
    if (context.options.json) output.json({ error: { code: 'cancelled', message: 'Cancelled.' } })
    else output.note('Cancelled.')
    return exitCode.interrupted
  } finally {
    output.live('')
    await pool.close()
  }
}

/** Who calls may ask, and who sees how far they are: the person at the terminal, or a client. */
export interface CallListener {
  ask: ((warning: string) => Promise<'run' | 'skip'>) | undefined
  progress: NonNullable<CallContext['progress']>
}

export function openCalls(
  context: CommandContext,
  options: CallOptions,
  project: string,
  pool: ProjectServers,
  { ask, progress }: CallListener = terminalListener(context),
): ToolCalls {
  const { runtime, settings, output, signal } = context
  const note = (line: string): void => output.note(line)
  const loaded = knownIndex(context, project, pool)
  let index = loaded
  let discovery: Promise<ToolIndex> | undefined
  const session = sessionOf(contextOf(context), project, options.session)
  const { workflows, diagnostics } = openWorkflows(context)
  if (!context.options.json) output.diagnostics(diagnostics)
  const { retryWaits, replaySafe, neverReplay } = settings.tools
  const calls: CallContext = {
    index,
    rank: (text) => rankTools(text, index, project, context),
    servers: pool,
    rules: rulesOf(pool, milliseconds('--timeout', options.timeout)),
    async discover() {
      // Once for a request, however many of its calls miss something.
      index = await (discovery ??= discoverTools(contextOf(context), pool, loaded))
      return index
    },
    hold({ id }) {
      // What a discovery finds never makes less of what the cache knows.
      const caution = [loaded, index].map((one) => one.caution(id)).find(isChange)
      if (caution === undefined) return undefined
      return { message: `${id} is held back.`, hint: cautionText(caution, index.definition(id)) }
    },
    gate: projectGate({
      project,
      workspaceTrust: settings.workspaceTrust,
      workflows,
      diagnostics,
      session,
      index: () => index,
      ask,
      skipPrerequisites: options.skipPrerequisites,
      note,
      runtime,
    }),
    log: (record) => session.log(record),
    retry: { waitsMs: retryWaits.map((seconds) => seconds * 1000), replaySafe, neverReplay },
    schemas: createSchemaChecker(),
    runtime,
    signal,
    note,
    progress,
  }
  return { project, calls, index: () => index, place: savePlace(options.output, project, context) }
}

function terminalListener(context: CommandContext): CallListener {
  const { output } = context
  return {
    ask: context.interactive ? (warning) => askWhetherToRun(context, warning) : undefined,
    progress(tool, { progress, total, message }) {
      const share = total === undefined ? String(progress) : `${progress}/${total}`
      const line = safeLine(`${tool} ${share} ${message ?? ''}`).trimEnd()
      output.live(line)
      output.detail(line)
    },
  }
}

/** The cache as it is; without one nothing is known until the servers are asked. */
function knownIndex(
  context: CommandContext,
  project: string,
  { configuration }: ProjectServers,
): ToolIndex {
  const { runtime, output, options } = context
  const loading = loadToolIndex({ project, runtime })
  if (loading.index === undefined) requireServers(configuration)
  if (!options.json) output.diagnostics(loading.diagnostics)
  if (loading.message !== undefined) output.note(loading.message)
  return loading.index ?? indexDefinitions([])
}

function isChange(caution: ToolCaution | undefined): caution is ToolCaution & { kind: 'changed' } {
  return caution?.kind === 'changed'
}

/** By meaning: the words of an id are routed as a request. */
function rankTools(
  id: string,
  index: ToolIndex,
  project: string,
  { runtime }: CommandContext,
): string[] {
  const { router } = projectRouter(index, { project, runtime })
  return router.route(id.replaceAll(/[_.-]+/g, ' ')).candidates.map(({ tool }) => tool)
}

function rulesOf(pool: ProjectServers, limitMs: number | undefined): (name: string) => ServerRules {
  return (name) => {
    const definition = pool.definitions.find((one) => one.name === name)
    if (definition === undefined) return { trusted: false }
    const { trusted, allow, deny, callTimeoutMs } = definition
    return { trusted, allow, deny, callTimeoutMs: limitMs ?? callTimeoutMs }
  }
}

function savePlace(
  directory: string | undefined,
  project: string,
  { runtime }: CommandContext,
): SavePlace {
  const now = runtime.now()
  if (directory !== undefined) return { directory: join(runtime.cwd, directory), now }
  return { directory: join(project, '.skillrail', 'results'), within: project, now }
}

async function askWhetherToRun(context: CommandContext, warning: string): Promise<'run' | 'skip'> {
  const answer = await context.ask(`${safeText(warning)}\nRun them first? [Y/n] `)
  return answer !== undefined && /^no?$/i.test(answer.trim()) ? 'skip' : 'run'
}
