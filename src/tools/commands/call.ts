import { join } from 'node:path'
import {
  type Context,
  defineCommand,
  type Notes,
  option,
  type OptionSpecs,
  type Progress,
  type Screen,
  type Values,
} from '#core/command'
import { inputText } from '#core/input-text'
import { linesText, safeLine, safeText } from '#core/text'
import type { JsonValue, JsonObject } from '#core/json'
import { callTool } from '#tools/call/call-tool'
import { parseParameters, readPairs } from '#tools/call/check-parameters'
import {
  outcomeText,
  outcomeValue,
  saveContent,
  type SavedFile,
  type SavePlace,
  saveText,
} from '#tools/call/content'
import type { CallContext, CallReport, ServerRules } from '#tools/call/context'
import { ToolRequestError } from '#tools/errors'
import { callFailureText } from '#tools/call/failure-text'
import { findDefinition } from '#tools/call/find-tool'
import { summarise } from '#tools/call/summarise'
import type { ToolDefinition } from '#tools/model'
import { exitCode, type ExitCode, type Diagnostic } from '#core/errors'
import { holdOf, indexDefinitions, loadToolIndex, type ToolIndex } from '#tools/cache/tool-index'
import { projectGate } from '#tools/call/gate'
import { createSchemaChecker } from '#tools/call/schema-checker'
import type { StepListener } from '#tools/call/steps'
import { configurationDiagnostics, requireServers } from '#tools/server/errors'
import { openProjectServers, type ProjectServers } from '#tools/server/project-servers'
import {
  answerOf,
  discoverTools,
  foundAmongAsked,
  type ToolContext,
  toolProject,
} from './project-tools.ts'
import { openWorkflows, sessionOf } from './workflow-project.ts'

export type CallResult = Awaited<ReturnType<typeof callResult>>

export type ShownCall = CallResult & { text?: string | undefined; raw?: true | undefined }

export const callOptions = {
  output: option.text(
    '--output <dir>',
    'where images and other files go; default .skillrail/results',
  ),
  session: option.text('--session <id>', 'the session that holds completed prerequisites'),
  skipPrerequisites: option.flag(
    '--skip-prerequisites',
    'skip prerequisites of workflows with mode warn',
  ),
  timeout: option.seconds('--timeout <seconds>', 'time limit of each call'),
} as const satisfies OptionSpecs

export const rawOption = option.flag('--raw', 'print the full result')

export const dryRunOption = option.flag('--dry-run', 'show what would be called and call nothing')

export const command = defineCommand<ShownCall, CallEvent>()({
  arguments: {
    '<tool>': 'SERVER__TOOL, or a name that only one server has',
    '[parameters...]': 'a JSON object, @FILE, - for stdin, or name=value',
  },
  options: { ...callOptions, raw: rawOption },
  examples: ['tools call chrome__navigate_page type=url url=http://127.0.0.1:8080'],
  async run(context, { arguments: [name = '', ...given], ...options }) {
    return await withToolCalls(context, options, async ({ calls, place }) => {
      const tool = await findDefinition(name, calls)
      const params = await readParameters(given, tool, context)
      const report = await callTool({ tool: name, params }, calls)
      return await shownCall(report, place, options.raw)
    })
  },
  ...viewedBy(viewOf),
  progress: callProgress,
})

async function readParameters(
  given: readonly string[],
  tool: ToolDefinition,
  context: Pick<Context, 'runtime' | 'stdin'>,
): Promise<JsonObject> {
  const [first] = given
  if (first === undefined) return {}
  const isText = first === '-' || first.startsWith('@') || first.trimStart().startsWith('{')
  if (!isText) return readPairs(given, tool)
  if (given.length === 1) return parseParameters(await inputText(first, context))
  throw new ToolRequestError({
    code: 'wrong-parameters',
    message: 'parameters are one JSON object or name=value pairs, not both',
  })
}

function viewOf(result: ShownCall): ResultView {
  const code = result.status === 'success' ? exitCode.done : exitCode.failed
  return { code, ...callView(result) }
}

export function callView(shown: ShownCall): Pick<ResultView, 'text' | 'notes'> {
  const { diagnostics, notes, text } = shown
  if (shown.status === 'error') {
    return { text: '', notes: [diagnostics, { failure: text ?? '' }] }
  }
  const { raw, result, summary, files } = shown
  if (raw !== true) {
    const lines = text === undefined ? summary : [...summary, text]
    return { text: linesText(lines), notes: [diagnostics, notes] }
  }
  const value = typeof result === 'string' ? result : JSON.stringify(result, null, 2)
  const paths = files.map(({ path }) => `Path: ${path}`)
  return { text: `${safeText(text ?? value)}\n`, notes: [diagnostics, paths, notes] }
}

export async function shownCall(
  report: CallReport,
  place: SavePlace,
  raw: boolean,
): Promise<ShownCall> {
  if (report.status === 'error') {
    return { ...(await callResult(report, place)), text: callFailureText(report) }
  }
  const { result, content } = await succeeded(report, place, raw)
  if (!raw) return content === undefined ? result : { ...result, text: content }
  const written = outcomeText(report.outcome)
  const isSame = written === '' || written === result.result
  return isSame ? { ...result, raw } : { ...result, raw, text: written }
}

export async function callResult(report: CallReport, place: SavePlace) {
  if (report.status === 'success') return (await succeeded(report, place, false)).result
  const { status, failure } = report
  const { kind, message, delivered } = failure
  const error = { code: kind, message, hint: report.report.suggestion }
  return { ...factsOf(report), status, error, delivered, report: report.report }
}

type Succeeded = CallReport & { status: 'success' }

async function succeeded(report: Succeeded, place: SavePlace, raw: boolean) {
  const { outcome, category, tool, params } = report
  const saved = saveContent(outcome, tool.name, place)
  const summary = summarise(outcome, { name: tool.name, category }, params, saved)
  const value = valueWithPaths(report, saved)
  const files = saved.map(({ path, mimeType, size }) => ({ path, mimeType, size }))
  const { size } = outcome
  const result = raw ? value : await boundedValue(value, tool.name, place)
  const facts = { ...factsOf(report), status: report.status, size, summary: summary.lines }
  return { result: { ...facts, files, result }, content: summary.content }
}

function factsOf<S extends CallReport['status']>({
  tool,
  params,
  status,
  attempts,
  durationMs,
  notes,
  diagnostics,
}: CallReport & { status: S }) {
  return { tool: tool.id, params, status, attempts, durationMs, notes, diagnostics }
}

export async function valueOfReport(report: Succeeded, place: SavePlace): Promise<JsonValue> {
  const files = saveContent(report.outcome, report.tool.name, place)
  return valueWithPaths(report, files)
}

function valueWithPaths({ outcome }: Succeeded, files: readonly SavedFile[]): JsonValue {
  return outcomeValue(outcome, (block) => files.find((file) => file.block === block)?.path)
}

/** A larger value goes to a file, unless all of it was asked for. */
const mostInline = 1_048_576

export async function boundedValue(
  value: JsonValue,
  name: string,
  place: SavePlace,
): Promise<JsonValue> {
  const isText = typeof value === 'string'
  const text = isText ? value : JSON.stringify(value)
  if (text.length <= mostInline) return value
  const path = saveText(text, name, isText ? 'txt' : 'json', place)
  return { path, size: Buffer.byteLength(text) }
}

type CallOptions = Partial<Omit<Values<typeof callOptions>, 'arguments'>>

export type ToolCalls = ReturnType<typeof openCalls>

export interface ResultView {
  code: ExitCode
  text: string
  notes: Notes
}

export function viewedBy<R>(view: (result: R) => ResultView) {
  return {
    exitCode: (result: R) => view(result).code,
    render: (result: R) => view(result).text,
    notes: (result: R) => view(result).notes,
  }
}

/** Prepares what calls need, does the work, and ends the servers that were started for it. */
export async function withToolCalls<T>(
  context: Context<CallEvent>,
  options: CallOptions,
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
  const diagnose = (diagnostics: readonly Diagnostic[]): void =>
    context.emit({ kind: 'diagnostics', diagnostics })
  try {
    diagnose(configurationDiagnostics(pool.configuration))
    const listener = terminalListener(context)
    const calls = openCalls({ ...context, diagnose }, options, project, pool, listener)
    return await foundAmongAsked(context, () => work(calls))
  } finally {
    await pool.close()
  }
}

export type CallEvent =
  | { kind: 'progress'; line: string }
  | { kind: 'diagnostics'; diagnostics: readonly Diagnostic[] }
  | {
      kind: 'step'
      tool: string
      count: string
      status: 'running' | 'success' | 'failed'
      durationMs?: number | undefined
    }

export function callProgress({ style }: Screen): Progress<CallEvent> {
  let live = ''
  return {
    compact: true,
    event(event) {
      if (event.kind === 'diagnostics') return { diagnostics: event.diagnostics }
      if (event.kind === 'progress') {
        live = event.line
        return undefined
      }
      const { tool, count, status, durationMs } = event
      live = status === 'running' ? `… ${count} ${safeLine(tool)}` : ''
      if (status === 'running') return undefined
      const mark = status === 'failed' ? style('red', '✗') : style('green', '✓')
      const time = durationMs === undefined ? '' : `  ${durationMs} ms`
      return { line: `${mark} ${count} ${safeLine(tool)}${time}` }
    },
    live: () => live,
  }
}

export function stepListener(
  { emit }: Pick<Context<CallEvent>, 'emit'>,
  total?: number,
): StepListener {
  return ({ index, tool, result, report }) => {
    const count = total === undefined ? `${index + 1}.` : `${index + 1}/${total}`
    const ended = (result ?? report)?.status
    const status = ended === undefined ? 'running' : ended === 'success' ? 'success' : 'failed'
    emit({ kind: 'step', tool, count, status, durationMs: report?.durationMs })
  }
}

export interface CallListener {
  ask: ((warning: string) => Promise<'run' | 'skip'>) | undefined
  progress: NonNullable<CallContext['progress']>
}

export function openCalls(
  context: ToolContext,
  options: CallOptions,
  project: string,
  pool: ProjectServers,
  { ask, progress }: CallListener,
) {
  const { runtime, settings, signal } = context
  const note = (line: string): void => context.note(line)
  const loaded = knownIndex(context, project, pool)
  let index = loaded
  let discovery: Promise<ToolIndex> | undefined
  const session = sessionOf(context, project, options.session)
  const { workflows, diagnostics } = openWorkflows(context)
  context.diagnose(diagnostics)
  const { retryWaits, replaySafe, neverReplay } = settings.tools
  const calls: CallContext = {
    index,
    servers: pool,
    rules: rulesOf(pool, options.timeout),
    async discover() {
      // Once for a request, however many of its calls miss something.
      index = await (discovery ??= discoverTools(context, pool, loaded))
      return index
    },
    // A discovery removes nothing that the cache knows.
    hold: ({ id }) => holdOf(id, loaded) ?? holdOf(id, index),
    permissions: settings.tools,
    gate: projectGate({
      project,
      permissions: settings.tools,
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
  const place: SavePlace =
    options.output === undefined
      ? { directory: join(project, '.skillrail', 'results'), within: project, now: runtime.now() }
      : { directory: join(runtime.cwd, options.output), now: runtime.now() }
  return { project, calls, index: () => index, place }
}

function terminalListener(context: Context<CallEvent>): CallListener {
  return {
    ask: context.interactive ? (warning) => askWhetherToRun(context, warning) : undefined,
    progress(tool, { progress, total, message }) {
      const share = total === undefined ? String(progress) : `${progress}/${total}`
      const line = safeLine(`${tool} ${share} ${message ?? ''}`).trimEnd()
      context.emit({ kind: 'progress', line })
      context.note(line, 'detail')
    },
  }
}

function knownIndex(context: ToolContext, project: string, { configuration }: ProjectServers) {
  const { runtime } = context
  const loading = loadToolIndex({ project, runtime })
  if (!loading.index) requireServers(configuration)
  context.diagnose(loading.diagnostics)
  if (loading.message !== undefined) context.note(loading.message)
  return loading.index ?? indexDefinitions([])
}

function rulesOf(pool: ProjectServers, limitMs: number | undefined): (name: string) => ServerRules {
  return (name) => {
    const definition = pool.definitions.find((one) => one.name === name)
    if (!definition) return { trusted: false }
    const { trusted, allow, deny, callTimeoutMs } = definition
    return { trusted, allow, deny, callTimeoutMs: limitMs ?? callTimeoutMs }
  }
}

async function askWhetherToRun(context: Pick<Context, 'ask'>, warning: string) {
  const answer = await answerOf(context, 'Run them first? [Y/n] ', `${safeText(warning)}\n`)
  return answer !== undefined && /^no?$/i.test(answer.trim()) ? 'skip' : 'run'
}
