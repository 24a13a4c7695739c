import type { Diagnostic } from '../../core/diagnostic.ts'
import { messageOf, SkillrailError } from '../../core/errors.ts'
import { readsOnly } from '../cache/tool-index.ts'
import { ToolCallError } from '../errors.ts'
import type {
  JsonObject,
  ToolCallOptions,
  ToolDefinition,
  ToolOutcome,
  ToolSummary,
} from '../model.ts'
import { matchesName } from '../workflow/match.ts'
import { attemptCall, type AttemptsResult, type RetrySettings } from './attempts.ts'
import { checkParameters, unknownParameters } from './check-parameters.ts'
import { outcomeText, outcomeValue } from './content.ts'
import type {
  CallAtGate,
  CallContext,
  CallRecord,
  CallReport,
  StepCaller,
  ToolRequest,
} from './context.ts'
import { ToolRefusedError } from './errors.ts'
import { suggestRecovery } from './failure-text.ts'
import { definitionOf, discoverOnce, findTool, suggestTools } from './find-tool.ts'
import { permissionOf } from '../workflow/match.ts'
import type { SchemaChecker } from './schema-checker.ts'

/**
 * Calls a tool: the only way from Skillrail to a tool of a server. Resolves the name, refuses what
 * is forbidden, checks the parameters, passes the workflow gate, calls (again where that is safe),
 * checks the answer, logs. An answer that is an error, or no answer, is a report with `status:
 * 'error'`. Nothing was called after {@link ToolNotFoundError}, {@link InvalidParametersError},
 * {@link ToolRefusedError} and {@link WorkflowPrerequisiteError}; a cancellation throws {@link
 * ToolCallError}.
 */
export async function callTool(request: ToolRequest, context: CallContext): Promise<CallReport> {
  const { tool: summary, note } = await findTool(request.tool, context)
  refuseForbidden(summary, context)
  const tool = await definitionOf(summary, context)
  const { params } = request
  const unchecked = await checkParameters(tool, params, context.schemas)
  const notes = [...(note === undefined ? [] : [note]), ...unknownParameters(tool, params)]
  const started = context.runtime.elapsed()
  const elapsed = (): number => Math.round(context.runtime.elapsed() - started)
  const delivery = { mayHaveActed: false }
  let result: AttemptsResult
  try {
    result = await attempt(tool, summary, request, context, delivery)
  } catch (error) {
    const isCancelled =
      context.signal.aborted ||
      (error instanceof ToolCallError && error.failure.kind === 'cancelled')
    if (delivery.mayHaveActed && isCancelled) {
      const facts = { tool: tool.id, durationMs: elapsed(), size: 0, params }
      await leaveTrace({ ...facts, outcome: 'cancelled', error: messageOf(error) }, context)
    }
    throw error
  }
  const durationMs = elapsed()
  const found: Finding[] = unchecked === undefined ? [] : [['input-schema-unusable', unchecked]]
  if (result.ok) found.push(...(await checkOutput(tool, result.outcome, context.schemas)))
  const diagnostics = found.map(([code, message]) => {
    return { code, severity: 'warning' as const, message, path: tool.id }
  })
  const answer = await reportOf(tool, summary, params, result, context, durationMs, diagnostics)
  const report = { ...answer, notes: [...notes, ...answer.notes] }
  const failure = report.status === 'success' ? undefined : report.failure
  const size = result.outcome?.size ?? 0
  const outcome = failure?.kind ?? 'success'
  const error = failure?.message
  await leaveTrace({ tool: tool.id, durationMs, outcome, size, params, error }, context)
  return report
}

async function leaveTrace(record: CallRecord, { log, note }: CallContext): Promise<void> {
  await afterwards(`The call of ${record.tool} is not in the log`, note, async () => log?.(record))
}

async function afterwards(what: string, note: CallContext['note'], work: () => Promise<void>) {
  try {
    await work()
  } catch (error) {
    note(`${what}: ${messageOf(error)}`)
  }
}

/** `delivery` is called when a server may have acted on an attempt. */
async function attempt(
  tool: ToolDefinition,
  summary: ToolSummary,
  { params, requestText }: ToolRequest,
  context: CallContext,
  delivery: { mayHaveActed: boolean },
): Promise<AttemptsResult> {
  const { gate, signal, progress, retry, note } = context
  const { readOnly = [] } = context.permissions ?? {}
  const { trusted, callTimeoutMs: timeoutMs } = context.rules(tool.server)
  const { inputSchema } = tool
  const onProgress: ToolCallOptions['onProgress'] =
    progress === undefined ? undefined : (event) => progress(tool.id, event)
  const options = { signal, timeoutMs, onProgress, inputSchema }
  let passed: CallAtGate | undefined
  let answered: ToolOutcome | undefined
  if (gate?.inTurn === undefined) return await made()
  const instance = (await context.servers.get(tool.server, { signal })).instance()
  return await gate.inTurn({ server: tool.server, instance, signal }, made)

  async function made(): Promise<AttemptsResult> {
    try {
      const result = await attemptCall(once, {
        replaySafe: isReplaySafe(tool, trusted, {
          ...retry,
          replaySafe: [...retry.replaySafe, ...readOnly],
        }),
        waitsMs: retry.waitsMs,
        signal,
        onRetry: (count, { message }, waitMs) => {
          const after = waitMs === 0 ? 'now' : `after ${waitMs / 1000} s`
          note(`Attempt ${count} of ${tool.id} failed: ${message}. Trying again ${after}.`)
        },
      })
      if (result.ok) answered = result.outcome
      return result
    } finally {
      const call = passed
      if (call !== undefined) {
        const text = answered === undefined ? undefined : outcomeText(answered)
        const what = `The workflows do not know of the call of ${tool.id}`
        await afterwards(what, note, async () => gate?.after(call, text))
      }
    }
  }

  /** A restarted server has lost its state, so the gate is passed for each instance. */
  async function once(): Promise<ToolOutcome> {
    const server = await context.servers.get(tool.server, { signal })
    const instance = server.instance()
    if (gate !== undefined && passed?.instance !== instance) {
      const call = { tool: summary, params, request: requestText, instance, signal }
      if (gate.lacks?.(call) === true) await discoverOnce(context)
      await gate.pass(call, stepCaller(context))
      passed = call
    }
    try {
      const outcome = await server.call(tool.name, params, options)
      delivery.mayHaveActed = true
      return outcome
    } catch (error) {
      delivery.mayHaveActed ||=
        !(error instanceof ToolCallError) || error.failure.delivered !== 'no'
      throw error
    }
  }
}

async function reportOf(
  tool: ToolDefinition,
  { category }: ToolSummary,
  params: JsonObject,
  result: AttemptsResult,
  context: CallContext,
  durationMs: number,
  diagnostics: readonly Diagnostic[],
): Promise<CallReport> {
  const errors = result.failures.map(({ message }, index) => `Attempt ${index + 1}: ${message}`)
  const attempts = errors.length + (result.ok ? 1 : 0)
  const facts = { tool, category, params, attempts, durationMs, diagnostics }
  if (result.ok) {
    const notes = attempts === 1 ? [] : [`A retry was needed: succeeded on attempt ${attempts}.`]
    return { ...facts, status: 'success', outcome: result.outcome, notes }
  }
  const { last, because, outcome } = result
  const suggestions = [...suggestRecovery(last.kind, last.message, category)]
  if (last.kind === 'tool-not-found') {
    await discoverOnce(context)
    const others = context.index.tools.filter(({ id }) => id !== tool.id)
    const near = suggestTools(tool.id, others, context.ranking)
    if (near.length > 0) suggestions.push(`Use one of ${near.join(', ')}`)
  }
  const unclear = `Delivery unknown: ${tool.id} may have acted. It was not called again, because nothing says that this is safe.`
  const notes = because === 'unsafe' && last.delivered === 'unknown' ? [unclear] : []
  const report = { tool: tool.id, attempts, errors, suggestion: suggestions[0] ?? '' }
  const failure = { kind: last.kind, message: last.message, delivered: last.delivered, suggestions }
  return { ...facts, status: 'error', outcome, failure, report, notes }
}

export function stepCaller(context: CallContext): StepCaller {
  return async (tool, params, signal = context.signal) => {
    const inner: CallContext = { ...context, gate: undefined, signal }
    try {
      const report = await callTool({ tool, params }, inner)
      if (report.status === 'success') {
        return { ok: true, text: outcomeText(report.outcome), value: outcomeValue(report.outcome) }
      }
      return { ok: false, error: report.failure.message, suggestion: report.report.suggestion }
    } catch (error) {
      if (signal.aborted || !(error instanceof SkillrailError)) throw error
      return { ok: false, error: error.message, suggestion: error.hint }
    }
  }
}

type Finding = readonly [code: string, message: string]

const largeAnswer = 65_536

/**
 * What is wrong with an answer: unusable parts, and violations of the output schema. These are
 * warnings, since the answer is there.
 */
async function checkOutput(
  { id, outputSchema }: ToolDefinition,
  { structured, size, problems = [] }: ToolOutcome,
  schemas: SchemaChecker,
): Promise<Finding[]> {
  const found = problems.map(({ code, message }): Finding => [
    code,
    `the answer of ${id}: ${message}`,
  ])
  if (outputSchema === undefined) return found
  if (structured === undefined) {
    return [...found, ['output-not-structured', `${id} promises structured content and sent none`]]
  }
  const verdict = await schemas.check(outputSchema, structured, size > largeAnswer)
  if (!verdict.checked) {
    const message = `the answer of ${id} was not checked: ${verdict.reason}`
    return [...found, ['output-schema-unusable', message]]
  }
  if (verdict.problems.length === 0) return found
  const breaches = verdict.problems
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'the whole'} ${message}`)
  const message = `the answer of ${id} breaks its own schema: ${breaches.join('; ')}`
  return [...found, ['output-schema-mismatch', message]]
}

/** Refuses a tool that its server's configuration does not allow, and one that is held back. */
export function refuseForbidden(tool: ToolSummary, context: CallContext): void {
  const { allow, deny } = context.rules(tool.server)
  const isNamed = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => matchesName(pattern, tool.name) || matchesName(pattern, tool.id))
  const isAllowed = allow === undefined || isNamed(allow)
  const denied = (message: string, hint: string) =>
    new ToolRefusedError({ code: 'tool-denied', message, hint })
  if (!isAllowed || isNamed(deny ?? [])) {
    const message = `the configuration of ${tool.server} does not allow ${tool.name}`
    throw denied(message, 'Change the allow and deny lists of the server to call it.')
  }
  if (permissionOf(tool.id, context.permissions) === 'deny') {
    const message = `the setting tools.deny forbids ${tool.id}`
    throw denied(message, 'skillrail doctor names the files of your settings.')
  }
  refuseHeld(tool, context)
}

/** @throws {ToolRefusedError} for a tool that waits for a user's second look */
export function refuseHeld(tool: ToolSummary, context: CallContext): void {
  const held = context.hold?.(tool)
  if (held !== undefined) throw new ToolRefusedError({ code: 'tool-held-back', ...held })
}

/**
 * Whether a call may be made again after it may have had its effect: the user's settings first,
 * then the hints of a trusted server, then a verb that only reads.
 */
export function isReplaySafe(
  tool: Pick<ToolDefinition, 'id' | 'name' | 'annotations'>,
  trusted: boolean,
  settings: Pick<RetrySettings, 'replaySafe' | 'neverReplay'>,
): boolean {
  if (settings.neverReplay.some((pattern) => matchesName(pattern, tool.id))) return false
  if (settings.replaySafe.some((pattern) => matchesName(pattern, tool.id))) return true
  if (trusted && tool.annotations?.idempotentHint === true) return true
  return readsOnly(tool, trusted)
}
