import { messageOf, SkillrailError } from '#core/errors'
import { readsOnly } from '#tools/cache/tool-index'
import { ToolCallError, ToolRefusedError } from '#tools/errors'
import type {
  ToolCallOptions,
  ToolDefinition,
  ToolOutcome,
  ToolServer,
  ToolSummary,
} from '#tools/model'
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
import { suggestRecovery } from './failure-text.ts'
import { definitionOf, discoverOnce, findTool, suggestTools } from './find-tool.ts'
import { isRestricted, matchesAny, permissionOf } from '#tools/workflow/match'
import type { SchemaChecker } from './schema-checker.ts'

/**
 * The only way to a tool of a server: name, permissions, parameters, workflows, attempts, log.
 * A failed call is a report. Nothing was called after {@link ToolNotFoundError}, {@link
 * InvalidParametersError} and {@link ToolRefusedError}; a cancellation throws {@link ToolCallError}.
 */
export async function callTool(request: ToolRequest, context: CallContext): Promise<CallReport> {
  const { tool: summary, note = [] } = await findTool(request.tool, context)
  refuseForbidden(summary, context)
  const tool = await definitionOf(summary, context)
  const { params } = request
  const unchecked = await checkParameters(
    tool,
    params,
    context.schemas,
    context.rules(tool.server).files,
  )
  const notes = [note, unknownParameters(tool, params)].flat()
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
      const record = { ...facts, outcome: 'cancelled', error: messageOf(error) }
      await leaveTrace(record, tool.server, context)
    }
    throw error
  }
  const durationMs = elapsed()
  const found: Finding[] = unchecked === undefined ? [] : [['input-schema-unusable', unchecked]]
  if (result.ok) found.push(...(await checkOutput(tool, result.outcome, context.schemas)))
  const diagnostics = found.map(([code, message]) => {
    return { code, severity: 'warning' as const, message, path: tool.id }
  })
  const facts = { tool, category: summary.category, params, durationMs, notes, diagnostics }
  const report = await reportOf(facts, result, context)
  const { kind: outcome = 'success', message: error } =
    report.status === 'success' ? {} : report.failure
  const size = result.outcome?.size ?? 0
  const record = { tool: tool.id, durationMs, outcome, size, params, error }
  await leaveTrace(record, tool.server, context)
  return report
}

async function leaveTrace(
  record: CallRecord,
  server: string,
  { log, note }: CallContext,
): Promise<void> {
  const what = `The call of ${record.tool} is not in the log`
  await afterwards(what, note, async () => log?.(record, server))
}

/** The call was made: what fails after it is only noted. */
async function afterwards(what: string, note: CallContext['note'], work: () => Promise<void>) {
  try {
    await work()
  } catch (error) {
    note(`${what}: ${messageOf(error)}`)
  }
}

/** `delivery` learns when a server may have acted on an attempt. */
async function attempt(
  tool: ToolDefinition,
  summary: ToolSummary,
  { params, requestText }: ToolRequest,
  context: CallContext,
  delivery: { mayHaveActed: boolean },
): Promise<AttemptsResult> {
  const { gate, signal, progress, retry, note, permissions, servers } = context
  const { trusted, callTimeoutMs: timeoutMs } = context.rules(tool.server)
  const onProgress: ToolCallOptions['onProgress'] =
    progress && ((event) => progress(tool.id, event))
  const options = { signal, timeoutMs, onProgress, inputSchema: tool.inputSchema }
  const replaySafe = [...retry.replaySafe, ...(permissions?.readOnly ?? [])]
  let passed: CallAtGate | undefined
  if (!gate?.inTurn) return await made()
  const instance = (await servers.get(tool.server, { signal })).instance()
  return await gate.inTurn({ server: tool.server, instance, signal }, made)

  async function made(): Promise<AttemptsResult> {
    let text: string | undefined
    try {
      const result = await attemptCall(once, {
        replaySafe: isReplaySafe(tool, trusted, { ...retry, replaySafe }),
        waitsMs: retry.waitsMs,
        signal,
        isGone: () => isGone(tool, context),
        onRetry: (count, { message }, waitMs) => {
          const after = waitMs === 0 ? 'now' : `after ${waitMs / 1000} s`
          note(`Attempt ${count} of ${tool.id} failed: ${message}. Trying again ${after}.`)
        },
      })
      if (result.ok) text = outcomeText(result.outcome)
      return result
    } finally {
      const call = passed
      const what = `The workflows do not know of the call of ${tool.id}`
      if (call) await afterwards(what, note, async () => gate?.after(call, text))
    }
  }

  /** A restarted server has lost its state, so the gate is passed for each instance. */
  async function once(): Promise<ToolOutcome> {
    const server = await servers.get(tool.server, { signal })
    await refuseChanged(summary, server, context)
    const instance = server.instance()
    if (gate && passed?.instance !== instance) {
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
      const isUndelivered = error instanceof ToolCallError && error.failure.delivered === 'no'
      delivery.mayHaveActed ||= !isUndelivered
      throw error
    }
  }
}

/**
 * Compares a tool with its definition on the running server: it may have changed since the last refresh.
 *
 * @throws {ToolRefusedError} if it is not what the user accepted
 */
async function refuseChanged(tool: ToolSummary, server: ToolServer, context: CallContext) {
  const { hold, signal } = context
  if (!hold) return
  const { tools, problems } = await server.list({ signal, reuse: true }).catch((error: unknown) => {
    if (error instanceof SkillrailError) throw error
    const message = `the server ${tool.server} did not list its tools, so it is not known whether ${tool.id} changed: ${messageOf(error)}`
    throw new ToolCallError({ kind: 'protocol', message, delivered: 'no' }, { cause: error })
  })
  const definition = tools.find(({ name }) => name === tool.name)
  if (!definition && problems.length > 0) {
    // A definition that cannot be read is left out of the list, and is not the accepted one.
    const message = `${tool.id} is held back: its server does not list it in a form that can be read`
    const hint = 'Run `skillrail tools refresh`, which says why.'
    throw new ToolRefusedError({ code: 'tool-held-back', message, hint })
  }
  const held = definition && hold(tool, definition)
  if (held) throw new ToolRefusedError({ code: 'tool-held-back', ...held })
}

const listingMs = 5_000

/** Whether the server of a tool answers and no longer lists it. */
async function isGone({ server: name, name: tool }: ToolDefinition, context: CallContext) {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(listingMs)])
  try {
    const server = await context.servers.get(name, { signal })
    const { tools } = await server.list({ signal })
    return tools.every((other) => other.name !== tool)
  } catch {
    return false
  }
}

async function reportOf(
  facts: Omit<CallReport & { status: 'success' }, 'status' | 'attempts' | 'outcome'> & {
    notes: string[]
  },
  result: AttemptsResult,
  context: CallContext,
): Promise<CallReport> {
  const { id } = facts.tool
  const errors = result.failures.map(({ message }, index) => `Attempt ${index + 1}: ${message}`)
  if (result.ok) {
    const attempts = errors.length + 1
    if (attempts > 1) facts.notes.push(`A retry was needed: succeeded on attempt ${attempts}.`)
    return { ...facts, attempts, status: 'success', outcome: result.outcome }
  }
  const { last, because, outcome } = result
  const { kind, message, delivered } = last
  const attempts = errors.length
  const suggestions = [...suggestRecovery(kind, facts.category)]
  if (kind === 'tool-not-found') {
    await discoverOnce(context)
    const others = context.index.tools.filter((tool) => tool.id !== id)
    const near = suggestTools(id, others)
    if (near.length > 0) suggestions.push(`Use one of ${near.join(', ')}`)
  }
  if (because === 'unsafe' && delivered === 'unknown') {
    facts.notes.push(
      `Delivery unknown: ${id} may have acted. It was not called again, because nothing says that this is safe.`,
    )
  }
  return {
    ...facts,
    attempts,
    status: 'error',
    outcome,
    failure: { kind, message, delivered, suggestions },
    report: { tool: id, attempts, errors, suggestion: suggestions[0] ?? '' },
  }
}

export function stepCaller(context: CallContext): StepCaller {
  return async (tool, params, signal = context.signal) => {
    const inner: CallContext = { ...context, gate: undefined, signal }
    try {
      requireApprovedStep((await findTool(tool, inner)).tool, context)
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

/** Nobody is asked while the steps of a workflow run, and a tool of `tools.ask` always needs a yes. */
function requireApprovedStep({ id }: ToolSummary, context: CallContext): void {
  if (permissionOf(id, context.permissions) !== 'ask') return
  if (context.approvedSteps?.has(id) === true) return
  throw new ToolRefusedError({
    code: 'tool-needs-yes',
    message: `${id} needs your approval. The setting tools.ask names it.`,
    hint: `Call ${id} first: the step then counts as done.`,
  })
}

type Finding = readonly [code: string, message: string]

/** What is wrong with an answer: warnings, since the answer is there. */
async function checkOutput(
  { id, outputSchema }: ToolDefinition,
  { structured, problems = [] }: ToolOutcome,
  schemas: SchemaChecker,
): Promise<Finding[]> {
  const answer = `the answer of ${id}`
  const found = problems.map(({ code, message }): Finding => [code, `${answer}: ${message}`])
  if (!outputSchema) return found
  if (structured === undefined) {
    return [...found, ['output-not-structured', `${id} promises structured content and sent none`]]
  }
  const verdict = await schemas.check(outputSchema, structured)
  if (!verdict.checked || verdict.problems.length === 0) return found
  const breaches = verdict.problems
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'the whole'} ${message}`)
  const message = `${answer} breaks its own schema: ${breaches.join('; ')}`
  return [...found, ['output-schema-mismatch', message]]
}

/** Refuses a tool that its server's configuration does not allow, and one that is held back. */
export function refuseForbidden(tool: ToolSummary, context: CallContext): void {
  const { allow = ['*'], deny = [] } = context.rules(tool.server)
  const isNamed = (patterns: readonly string[]) =>
    [tool.name, tool.id].some((name) => matchesAny(patterns, name))
  if (!isNamed(allow) || isNamed(deny)) {
    throw new ToolRefusedError({
      code: 'tool-denied',
      message: `the configuration of ${tool.server} does not allow ${tool.name}`,
      hint: 'Change the allow and deny lists of the server to call it.',
    })
  }
  if (permissionOf(tool.id, context.permissions) === 'deny') {
    throw new ToolRefusedError({
      code: 'tool-denied',
      message: `the setting tools.deny forbids ${tool.id}`,
      hint: 'skillrail doctor names the files of your settings.',
    })
  }
  refuseHeld(tool, context)
}

/** @throws {ToolRefusedError} for a tool that waits for a user's second look */
export function refuseHeld(tool: ToolSummary, context: CallContext): void {
  const held = context.hold?.(tool)
  if (held) throw new ToolRefusedError({ code: 'tool-held-back', ...held })
}

/** By the user's settings, then the hints of a trusted server, then a verb that only reads. */
export function isReplaySafe(
  tool: Pick<ToolDefinition, 'id' | 'name' | 'annotations'>,
  trusted: boolean,
  settings: Pick<RetrySettings, 'replaySafe' | 'neverReplay'>,
): boolean {
  if (isRestricted(tool.id, settings.neverReplay)) return false
  if (matchesAny(settings.replaySafe, tool.id)) return true
  if (trusted && tool.annotations?.idempotentHint === true) return true
  return readsOnly(tool, trusted)
}
