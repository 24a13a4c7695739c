import { join } from 'node:path'
import { objectOf, parseJson } from '#core/json'
import { mayBeMcpName } from '#core/mcp-names'
import { findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { safeLine } from '#core/text'
import { type InjectedReference, planInjection } from '#trigger/inject'
import { matchPrompt, type TriggerMatch } from '#trigger/match'
import { isRequired, matchToolCall, type McpCall, type ToolCall } from '#trigger/tool-call'
import type { HookEvent } from './adapters.ts'
import { shareContext } from './context.ts'
import { claimDenial, claimReference, forgetGiven, givenReferences, textOf } from './given.ts'
import { claimEvent, complaint, type HookAnswer, type HookCall } from './hook-call.ts'
import { canonicalPrompt } from './prompt.ts'
import type { HookTrace } from './trace.ts'
import type { CachedSkill } from './trigger-cache.ts'
import { fingerprint } from '#core/fingerprint'

/** An answer, with the facts for the log and the texts for the agent. */
export interface Answered extends HookAnswer, Partial<HookTrace> {
  /** The references. */
  context?: string
  /** What the rail says. */
  railContext?: string
  /** One line for the user about the references. */
  notice?: string | undefined
}

/** Answers an event with the references of triggers; undefined if no trigger fires. */
export async function answerTriggers(hook: HookCall): Promise<Answered | undefined> {
  const { event } = hook.payload
  if (event === 'prompt') return await answerPrompt(hook)
  if (event === 'before' || event === 'after') return await answerTool(hook, event)
  return await giveAgain(hook, event)
}

/** Returns the references of the triggers that the prompt fires. */
async function answerPrompt(hook: HookCall): Promise<Answered | undefined> {
  const { payload, adapter, cache, conversation, turn, checkTime } = hook
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
  const { injected, deferred } = await referencesOf(hook, matches)
  if (matches.length === 0 || !claimEvent(hook)) return undefined
  // A subagent has the references of its start; a user's prompt always gets every reference.
  const isOnce = cache.repeat === 'session' || payload.agent !== ''
  const { runtime } = hook.request
  const isNew = injected.map(
    (one) => conversation === undefined || claimReference(runtime, conversation, one, turn),
  )
  const references = injected.filter((_, index) => !isOnce || isNew[index] === true)
  const repeated = injected.filter((one) => !references.includes(one))
  return contextAnswer(hook, references, [
    ...deferred,
    ...repeated.map(because('this session has it already')),
  ])
}

/** Returns the references of the triggers that a tool call fires; denies a call that requires one. */
async function answerTool(
  hook: HookCall,
  event: 'before' | 'after',
): Promise<Answered | undefined> {
  const { payload, adapter, cache, conversation, turn } = hook
  const { runtime } = hook.request
  const call = payload.call ?? mcpCallOf(hook)
  if (!call || !conversation) return undefined
  const skills = [...cache.skills(call.kind === 'mcp' ? 'mcp' : 'tools')]
  const place = { cwd: runtime.cwd, root: findWorkspace(runtime.cwd, runtime) }
  const isAll = event === 'after' || adapter.givesBefore === true
  const fired = await matchToolCall(call, skills, place)
  const matches = fired.filter(({ trigger }) => isAll || isRequired(trigger))
  const read = event === 'after' ? skills.flatMap((skill) => readBy(call, skill)) : []
  if (matches.length + read.length === 0 || !claimEvent(hook)) return undefined
  const { injected, deferred } = await referencesOf(hook, matches)
  // The model gets these files as the result of the call.
  const { injected: readNow } = await referencesOf(hook, read)
  for (const reference of readNow) claimReference(runtime, conversation, reference, turn)
  const id = fingerprint(payload.toolInput)
  const required = matches.flatMap(({ trigger }) => (isRequired(trigger) ? trigger.inject : []))
  const { slowness = 1 } = hook.request
  const isDenied = (one: InjectedReference): boolean =>
    required.includes(one.path) && claimDenial(runtime, conversation, one, id, slowness)
  const denied = event === 'before' ? injected.filter(isDenied) : []
  if (denied.length === 0) {
    const optional = injected.filter(({ path }) => event === 'after' || !required.includes(path))
    const added = optional.filter((one) => claimReference(runtime, conversation, one, turn))
    return added.length + deferred.length === 0 ? undefined : contextAnswer(hook, added, deferred)
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

/** Returns the references of the conversation again, after a compaction or for a subagent. */
async function giveAgain(hook: HookCall, event: HookEvent): Promise<Answered | undefined> {
  const { payload, adapter, cache, conversation, turn } = hook
  const { runtime, input } = hook.request
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
  const matches = [...cache.skills('anything')].flatMap((skill) =>
    skill.triggers
      .filter(({ inject }) => marks.some((one) => one.skill === skill.name && one.path === inject))
      .map((trigger) => ({ skill, trigger, text: '', promptLine: 0 })),
  )
  if (!claimEvent(hook)) return undefined
  const { injected, deferred } = await referencesOf(hook, matches)
  for (const reference of injected) claimReference(runtime, conversation, reference, turn)
  return contextAnswer(hook, injected, deferred)
}

/** The length of a denial, in characters, that no client cuts. */
const longestReason = 9000

/** A tool that is none of the client's own may be one of an MCP server. */
function mcpCallOf({ payload: { tool }, platform }: HookCall): McpCall | undefined {
  return mayBeMcpName(tool, platform) ? { kind: 'mcp', tool, client: platform } : undefined
}

function readBy(call: ToolCall | McpCall, skill: CachedSkill): TriggerMatch<CachedSkill>[] {
  if (call.kind === 'mcp') return []
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

async function referencesOf(
  { request, checkTime }: HookCall,
  matches: TriggerMatch<CachedSkill>[],
) {
  const untrusted = await untrustedSkills(matches, request.runtime)
  const plan = planInjection(matches, { mayInject: ({ path }) => !untrusted.has(path) })
  checkTime()
  return plan
}

type Withheld = HookTrace['withheld'][number]

function contextAnswer(
  { request: { part }, payload, adapter, cache }: HookCall,
  references: readonly InjectedReference[],
  withheld: readonly Withheld[],
): Answered {
  const limit = { ...adapter.limit, parts: part.of, tokens: cache.budget }
  const { shares, rest } = shareContext(references, limit)
  const share = shares[part.number - 1] ?? ''
  const answer = adapter.answer(share, payload.eventName || adapter.events[payload.event] || '')
  const { stderr, ...facts } = outcome(references, rest, withheld)
  const isShown = cache.notice === 'line' && payload.event === 'prompt' && part.number === 1
  const notice = isShown ? noticeOf(facts.injected) : undefined
  const shown = notice === undefined ? undefined : adapter.tell?.(notice)
  return {
    notice,
    stdout: share === '' ? '' : `${JSON.stringify({ ...answer, ...shown })}\n`,
    stderr: part.number > 1 ? '' : stderr,
    context: share,
    ...facts,
  }
}

function outcome(
  references: readonly InjectedReference[],
  rest: readonly InjectedReference[],
  withheld: readonly Withheld[],
) {
  const added = references.filter((reference) => !rest.includes(reference))
  const complaints = withheld
    .filter(({ reason }) => reason !== 'this session has it already')
    .map(({ skill, path, reason }) => complaint(`${skill}/${path} was not injected: ${reason}`))
  return {
    stderr: complaints.join(''),
    injected: added.map(({ skill, path, text, file }) => {
      return { skill, path, characters: text.length, file }
    }),
    withheld: [...withheld, ...rest.map(because(tooLarge))],
  }
}

const mostNamed = 3

/** Such as `Skillrail added deploy/references/staging.md`. */
function noticeOf(injected: HookTrace['injected']): string | undefined {
  if (injected.length === 0) return undefined
  const names = injected.slice(0, mostNamed).map(({ skill, path }) => `${skill}/${path}`)
  const rest = injected.length - names.length
  return safeLine(`Skillrail added ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`)
}

const tooLarge = 'it is larger than the client or hooks.budget takes'

function because(reason: string) {
  return ({ skill, path }: { skill: string; path: string }): Withheld => ({ skill, path, reason })
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
