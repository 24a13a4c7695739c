import { SettingsError } from '#core/settings-error'
import { messageOf } from '#core/errors'
import { homeDirectory, type Runtime } from '#core/runtime'
import { adapters, type Platform } from './adapters.ts'
import { type Answered, answerTriggers } from './answer-triggers.ts'
import { askRail, contextBefore, joined, railAnswer } from './ask-rail.ts'
import { askWorkflows, workflowDenial } from './ask-workflows.ts'
import { answerFaultySettings, faultText } from './faulty-settings.ts'
import { countCalls } from './given.ts'
import {
  complaint,
  currentCache,
  type HookAnswer,
  type HookCall,
  type HookRequest,
  platformOf,
} from './hook-call.ts'
import { type HookPayload, readPayload } from './prompt.ts'
import { type HookTrace, writeTrace } from './trace.ts'
import type { WorkflowAnswer } from './workflow-hook.ts'

const deadlineMs = 8000

const silence: HookAnswer = { stdout: '', stderr: '' }

/** Answers one event of a client. Never throws: an error is a line on stderr and in the log. */
export async function runHook(request: HookRequest): Promise<HookAnswer> {
  const startedAt = request.runtime.elapsed()
  const reading = readPayload(request.input, request.event)
  if (!reading.ok) return { stdout: '', stderr: complaint(reading.message) }
  const { payload } = reading
  let runtime: Runtime
  try {
    runtime = runtimeOf(request, payload)
  } catch (error) {
    // Without a home directory there is no log.
    return { stdout: '', stderr: complaint(messageOf(error)) }
  }
  const located = { ...request, runtime }
  const trace = tracer(located, payload, startedAt)
  try {
    const answer = await answerEvent(located, payload, startedAt, trace)
    if (!answer) return silence
    const { stdout, stderr, context: _text, railContext: _rail, notice: _line, ...facts } = answer
    trace(facts)
    return { stdout, stderr }
  } catch (error) {
    const message = faultText(error)
    const answer = answerFailure(error, located, payload)
    trace({ error: message, denied: answer?.denied })
    return { stdout: answer?.stdout ?? '', stderr: complaint(message) }
  }
}

/** The runtime of the client's working directory, which is in the input. */
function runtimeOf({ runtime }: HookRequest, payload: HookPayload): Runtime {
  const cwd = payload.cwd ?? runtime.cwd
  if (cwd === runtime.cwd) return runtime
  return { ...runtime, cwd, home: homeDirectory(runtime.env, cwd) }
}

/** Writes the log line of the event, from the first part of the answer only. */
function tracer(
  { runtime, platform, part }: HookRequest,
  payload: HookPayload,
  startedAt: number,
): (facts: Partial<HookTrace>) => void {
  return (facts) => {
    if (part.number > 1) return
    writeTrace(runtime, {
      at: new Date(runtime.now()).toISOString(),
      platform,
      cwd: runtime.cwd,
      session: payload.session,
      prompt: payload.prompt,
      event: payload.event === 'prompt' ? undefined : payload.event,
      injected: [],
      withheld: [],
      durationMs: Math.round(runtime.elapsed() - startedAt),
      ...facts,
    })
  }
}

/** Asks the rail of the session first, then the workflows of the project, then the triggers. */
async function answerEvent(
  request: HookRequest,
  payload: HookPayload,
  startedAt: number,
  trace: (facts: Partial<HookTrace>) => void,
): Promise<Answered | undefined> {
  const platform = platformOf(request, payload)
  if (!platform) return undefined
  const adapter = adapters[platform]
  const rail = await askRail(request, payload, platform)
  if (rail?.kind === 'deny') return railAnswer(rail, adapter)
  const workflow = await workflowAnswer(request, payload, platform, trace)
  if (workflow?.kind === 'deny') return workflowDenial(workflow, adapter)
  if (rail && rail.kind !== 'context') return railAnswer(rail, adapter)
  const first = contextBefore(rail, workflow, adapter, payload)
  if (payload.event === 'stop' || (await isStepOfRun(request.runtime))) return first
  try {
    const call = await openCall(request, payload, platform, startedAt)
    for (const error of call.cache.problems) trace({ error })
    const answer = await answerTriggers(call)
    if (first === undefined || answer?.denied) return answer
    return joined(first, answer, adapter, payload)
  } catch (error) {
    if (first === undefined || error instanceof SettingsError) throw error
    // The rail has recorded that the agent gets this text, and does not repeat it.
    trace({ error: messageOf(error) })
    return first
  }
}

/** Never throws after a call: then nothing can be denied, and what follows has to be answered. */
async function workflowAnswer(
  request: HookRequest,
  payload: HookPayload,
  platform: Platform,
  trace: (facts: Partial<HookTrace>) => void,
): Promise<WorkflowAnswer | undefined> {
  try {
    return await askWorkflows(request, payload, platform)
  } catch (error) {
    if (payload.event === 'before') throw error
    trace({ error: faultText(error) })
    return undefined
  }
}

/** An agent that a run started has its references in its prompt. */
async function isStepOfRun(runtime: Runtime): Promise<boolean> {
  if ((runtime.env['SKILLRAIL_RUN_ID'] ?? '') === '') return false
  const { isRunningStep } = await import('./running-step.ts')
  return isRunningStep(runtime)
}

/** Collects the data that the triggers need for an answer. */
async function openCall(
  request: HookRequest,
  payload: HookPayload,
  platform: Platform,
  startedAt: number,
): Promise<HookCall> {
  const { runtime } = request
  const adapter = adapters[platform]
  const cache = await currentCache(runtime)
  const { session, agent, event } = payload
  const most = adapter.callsRemembered
  const isCounted = most !== undefined && session !== undefined
  const now = isCounted ? countCalls(runtime, session, event === 'before') : 0
  const calls = isCounted ? { most, now } : undefined
  return {
    request,
    payload,
    platform,
    adapter,
    cache,
    conversation: session === undefined ? undefined : { session, agent, calls },
    // Random IDs would load half of Node's crypto; this one is only compared with itself.
    turn: payload.turn ?? `${runtime.now()}-${runtime.elapsed()}`,
    checkTime() {
      if (runtime.elapsed() - startedAt > deadlineMs) {
        throw new Error('the time was up before all triggers were tested')
      }
    },
  }
}

function answerFailure(
  error: unknown,
  request: HookRequest,
  payload: HookPayload,
): Pick<Answered, 'stdout' | 'denied'> | undefined {
  if (!(error instanceof SettingsError)) return undefined
  return answerFaultySettings(error, request, payload)
}
