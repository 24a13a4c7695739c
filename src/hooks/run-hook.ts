import { join } from 'node:path'
import { messageOf } from '#core/errors'
import { objectOf, parseJson } from '#core/json'
import { findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { safeLine } from '#core/text'
import { type InjectedReference, planInjection } from '#trigger/inject'
import { matchPrompt, type TriggerMatch } from '#trigger/match'
import { matchToolCall, type ToolCall } from '#trigger/tool-call'
import {
  adapters,
  type HookAdapter,
  type HookEvent,
  launcherName,
  type Platform,
} from './adapters.ts'
import { shareContext } from './context.ts'
import {
  claimDenial,
  claimReference,
  claimTurn,
  type Conversation,
  countCalls,
  forgetGiven,
  givenReferences,
  textOf,
} from './given.ts'
import { canonicalPrompt, type HookPayload, readPayload } from './prompt.ts'
import { type HookTrace, writeTrace } from './trace.ts'
import {
  type CachedSkill,
  cachePlace,
  fingerprint,
  openCache,
  ownPlugin,
  readCache,
  type TriggerCache,
} from './trigger-cache.ts'

interface HookRequest {
  platform: Platform
  part: { number: number; of: number }
  /** The client's name for the event, where its input does not say it. */
  event?: string | undefined
  input: string
  /** Of the process; the working directory of the client is in the input. */
  runtime: Runtime
}

/** What the process prints. Its exit code is always 0: a prompt is never blocked. */
export type HookAnswer = { stdout: string; stderr: string }

type Answered = HookAnswer & Partial<HookTrace>

const deadlineMs = 8000

const silence: HookAnswer = { stdout: '', stderr: '' }

/** Answers one prompt or tool call. Never throws: an error is a line on stderr and in the log. */
export async function runHook(request: HookRequest): Promise<HookAnswer> {
  const { platform, part } = request
  // A child of our own run has its references in its prompt already.
  if (request.runtime.env['SKILLRAIL_RUN_ID']) return silence
  const started = request.runtime.elapsed()
  const reading = readPayload(request.input, request.event)
  if (!reading.ok) return { stdout: '', stderr: complaint(reading.message) }
  const { payload } = reading
  const runtime = { ...request.runtime, cwd: payload.cwd ?? request.runtime.cwd }
  const trace = (facts: Partial<HookTrace>): void => {
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
      durationMs: Math.round(runtime.elapsed() - started),
      ...facts,
    })
  }
  const checkTime = (): void => {
    if (runtime.elapsed() - started > deadlineMs) {
      throw new Error('the time was up before all triggers were tested')
    }
  }
  try {
    const answer = await answerEvent({ ...request, runtime }, payload, checkTime, trace)
    if (!answer) return silence
    const { stdout, stderr, ...facts } = answer
    trace(facts)
    return { stdout, stderr }
  } catch (error) {
    const message = messageOf(error)
    trace({ error: message })
    return { stdout: '', stderr: complaint(message) }
  }
}

interface Asked {
  request: HookRequest
  payload: HookPayload
  adapter: HookAdapter
  cache: TriggerCache
  /** Undefined where the client names no session: then nothing is denied or remembered. */
  conversation: Conversation | undefined
  turn: string
  checkTime: () => void
}

async function answerEvent(
  request: HookRequest,
  payload: HookPayload,
  checkTime: () => void,
  trace: (facts: Partial<HookTrace>) => void,
): Promise<Answered | undefined> {
  const { runtime } = request
  const platform = platformOf(request, payload)
  if (!platform) return undefined
  const adapter = adapters[platform]
  const cache = await currentCache(runtime)
  for (const error of cache.problems) trace({ error })
  const { session, agent, event } = payload
  const most = adapter.callsRemembered
  const isCounted = most !== undefined && session !== undefined
  const now = isCounted ? countCalls(runtime, session, event === 'before') : 0
  const calls = isCounted ? { most, now } : undefined
  const asked = {
    request,
    payload,
    adapter,
    cache,
    conversation: session === undefined ? undefined : { session, agent, calls },
    // Random ids would load half of Node's crypto; this one is only compared with itself.
    turn: payload.turn ?? `${runtime.now()}-${runtime.elapsed()}`,
    checkTime,
  }
  if (event === 'prompt') return await answerPrompt(asked)
  if (event === 'before' || event === 'after') return await answerTool(asked, event)
  return await giveAgain(asked, event)
}

async function answerPrompt(asked: Asked): Promise<Answered | undefined> {
  const { payload, adapter, cache, conversation, turn, checkTime } = asked
  const prompt = canonicalPrompt(payload.prompt, adapter.sigil, {
    has: (name) => cache.pathOf(name) !== undefined,
    textOf: (name) => textOf(cache.pathOf(name) ?? ''),
  })
  const matches: TriggerMatch<CachedSkill>[] = []
  for (const skill of cache.candidates(prompt)) {
    checkTime()
    matches.push(...matchPrompt(prompt, [skill]).matches)
  }
  const index = cache.indexFor(prompt)
  if (index) {
    const { matchStoredExamples } = await import('./example-index.ts')
    matches.push(...matchStoredExamples(prompt, index, cache))
    checkTime()
  }
  const { injected, deferred } = await referencesOf(asked, matches)
  if (matches.length === 0 || !claim(asked)) return undefined
  // What a subagent was given at its start counts; a prompt of a person always gets everything.
  const isOnce = cache.repeat === 'session' || payload.agent !== ''
  const { runtime } = asked.request
  const isNew = injected.map(
    (one) => conversation === undefined || claimReference(runtime, conversation, one, turn),
  )
  const references = injected.filter((_, index) => !isOnce || isNew[index] === true)
  const repeated = injected.filter((one) => !references.includes(one))
  return contextAnswer(asked, references, [
    ...deferred,
    ...repeated.map(because('this session has it already')),
  ])
}

async function answerTool(asked: Asked, event: 'before' | 'after'): Promise<Answered | undefined> {
  const { payload, adapter, cache, conversation, turn } = asked
  const { runtime } = asked.request
  const { call } = payload
  if (!call || !conversation) return undefined
  const skills = [...cache.skills(true)]
  const place = { cwd: runtime.cwd, root: findWorkspace(runtime.cwd, runtime) }
  const isAll = event === 'after' || adapter.givesBefore === true
  const matches = matchToolCall(call, skills, place).filter((match) => isAll || isRequired(match))
  const read = event === 'after' ? skills.flatMap((skill) => readBy(call, skill)) : []
  if (matches.length + read.length === 0 || !claim(asked)) return undefined
  const { injected, deferred } = await referencesOf(asked, matches)
  // The model has it in the result of this call.
  const { injected: known } = await referencesOf(asked, read)
  for (const reference of known) claimReference(runtime, conversation, reference, turn)
  const id = fingerprint(payload.toolInput)
  const required = matches.filter(isRequired).map(({ trigger: { inject } }) => inject)
  const isDenied = (one: InjectedReference): boolean =>
    required.includes(one.path) && claimDenial(runtime, conversation, one, id)
  const denied = event === 'before' ? injected.filter(isDenied) : []
  if (denied.length === 0) {
    const own = injected.filter(({ path }) => event === 'after' || !required.includes(path))
    const isNew = own.filter((one) => claimReference(runtime, conversation, one, turn))
    return isNew.length + deferred.length === 0 ? undefined : contextAnswer(asked, isNew, deferred)
  }
  const amount = Math.min(adapter.limit.amount, longestReason)
  const limit = { ...adapter.limit, amount, parts: 1, tokens: cache.budget }
  const { shares, rest } = shareContext(denied, limit)
  const reason = `Read this before the call of this tool, then make the call again.\n\n${shares[0] ?? ''}`
  return {
    stdout: `${JSON.stringify(adapter.deny(reason))}\n`,
    denied: true,
    ...outcome(denied, rest, deferred),
  }
}

/** After a compaction, and to a subagent, what the conversation was given. */
async function giveAgain(asked: Asked, event: HookEvent): Promise<Answered | undefined> {
  const { payload, adapter, cache, conversation, turn } = asked
  const { runtime, input } = asked.request
  const isStart = payload.eventName === 'SessionStart'
  const { source } = objectOf(parseJson(input))
  if (!conversation) return undefined
  if (isStart && source !== 'compact' && source !== 'clear') return undefined
  const from = event === 'subagent' ? { ...conversation, agent: '' } : conversation
  const marks = givenReferences(runtime, from)
  if (event === 'compact') forgetGiven(runtime, conversation)
  if (marks.length === 0 || source === 'clear') return undefined
  if (adapter.events[event] !== payload.eventName || (event === 'compact' && !isStart))
    return undefined
  const matches = [...cache.skills(false)].flatMap((skill) =>
    skill.triggers
      .filter(({ inject }) => marks.some((one) => one.skill === skill.name && one.path === inject))
      .map((trigger) => ({ skill, trigger, text: '', promptLine: 0 })),
  )
  if (!claim(asked)) return undefined
  const { injected, deferred } = await referencesOf(asked, matches)
  for (const reference of injected) claimReference(runtime, conversation, reference, turn)
  return contextAnswer(asked, injected, deferred)
}

function isRequired({ trigger: { when } }: TriggerMatch): boolean {
  return when !== undefined && 'require' in when && when.require
}

/** Text for a denial that every client passes on whole. */
const longestReason = 9000

function readBy(call: ToolCall, skill: CachedSkill): TriggerMatch<CachedSkill>[] {
  const isLoaded = call.kind === 'skill' && call.paths.includes(skill.name)
  const isIn = (file: string): boolean =>
    call.kind === 'read' ? call.paths.includes(file) : call.command.includes(file)
  return skill.triggers
    .filter(({ inject, base }) => {
      const file = join(base ?? skill.directory, inject)
      return (isLoaded && inject === 'SKILL.md') || isIn(file)
    })
    .map((trigger) => ({ skill, trigger, text: '', promptLine: 0 }))
}

function claim({ request: { platform, part, runtime }, payload: { turn, event } }: Asked): boolean {
  const own = ownPlugin(runtime) ?? ''
  return turn === undefined || claimTurn(runtime, `${platform} ${event} ${turn}${own}`, part)
}

async function referencesOf({ request, checkTime }: Asked, matches: TriggerMatch<CachedSkill>[]) {
  const untrusted = await untrustedSkills(matches, request.runtime)
  const plan = planInjection(matches, { mayInject: ({ path }) => !untrusted.has(path) })
  checkTime()
  return plan
}

type Withheld = HookTrace['withheld'][number]

function contextAnswer(
  { request: { part }, payload, adapter, cache }: Asked,
  references: readonly InjectedReference[],
  withheld: readonly Withheld[],
): Answered {
  const limit = { ...adapter.limit, parts: part.of, tokens: cache.budget }
  const { shares, rest } = shareContext(references, limit)
  const share = shares[part.number - 1] ?? ''
  const answer = adapter.answer(share, payload.eventName || adapter.events[payload.event] || '')
  const { stderr, ...facts } = outcome(references, rest, withheld)
  return {
    stdout: share === '' ? '' : `${JSON.stringify(answer)}\n`,
    stderr: part.number > 1 ? '' : stderr,
    ...facts,
  }
}

function outcome(
  references: readonly InjectedReference[],
  rest: readonly InjectedReference[],
  withheld: readonly Withheld[],
) {
  const given = references.filter((reference) => !rest.includes(reference))
  const complaints = withheld
    .filter(({ reason }) => reason !== 'this session has it already')
    .map(({ skill, path, reason }) => complaint(`${skill}/${path} was not injected: ${reason}`))
  return {
    stderr: complaints.join(''),
    injected: given.map(({ skill, path, text }) => ({ skill, path, characters: text.length })),
    withheld: [...withheld, ...rest.map(because(tooLarge))],
  }
}

const tooLarge = 'it is larger than the client or hooks.budget takes'

function because(reason: string) {
  return ({ skill, path }: { skill: string; path: string }): Withheld => ({ skill, path, reason })
}

/** Cursor and Copilot CLI run the hooks of Claude Code too: one hook answers, in their own shape. */
function platformOf({ platform, runtime, part }: HookRequest, payload: HookPayload) {
  const { cwd, home, env } = runtime
  const isCopilot = payload.fromCopilot && env['COPILOT_CLI'] !== undefined
  const isCursor = payload.fromCursor || env['CURSOR_VERSION'] !== undefined
  if (platform !== 'claude' || !(isCursor || isCopilot)) return platform
  const real = isCursor ? 'cursor' : 'copilot'
  const { home: own, files } = adapters[real]
  const places = [join(home, own.path, files.user), join(cwd, files.project)]
  const isTwice = places.some((path) => textOf(path).includes(launcherName))
  return part.number > 1 || isTwice ? undefined : real
}

async function currentCache(runtime: Runtime): Promise<TriggerCache> {
  const place = cachePlace(runtime)
  const known = readCache(place)
  if (known) return known
  const { refreshCache } = await import('./refresh-cache.ts')
  const { file, index } = refreshCache(runtime, place)
  return openCache(file, index)
}

async function untrustedSkills(matches: readonly TriggerMatch<CachedSkill>[], runtime: Runtime) {
  const untrusted = new Set<string>()
  for (const { path, trust } of new Set(matches.map(({ skill }) => skill))) {
    if (trust === '-') untrusted.add(path)
    if (trust !== '?') continue
    const { isStillTrusted } = await import('./refresh-cache.ts')
    if (!isStillTrusted(runtime, path)) untrusted.add(path)
  }
  return untrusted
}

function complaint(message: string): string {
  return `skillrail: ${safeLine(message)}\n`
}
