import { objectOf, parseJson } from '#core/json'
import { adapters, type HookAdapter, type Platform } from './adapters.ts'
import type { Answered } from './answer-triggers.ts'
import { textOf } from './given.ts'
import { currentCache, type HookRequest } from './hook-call.ts'
import { canonicalPrompt, type HookPayload } from './prompt.ts'
import { type RailAnswer, tellBeginning } from './rail-hook.ts'
import type { TracedRail } from './trace.ts'
import type { TriggerCache } from './trigger-cache.ts'
import type { WorkflowAnswer } from './workflow-hook.ts'

/** The first of several registrations asks: a chain starts once. */
export async function askRail(
  { rail, runtime, part }: HookRequest,
  payload: HookPayload,
  platform: Platform,
): Promise<RailAnswer | undefined> {
  if (!rail || part.number > 1) return undefined
  const { sigil } = adapters[platform]
  const chainNamed = async (name: string) => (await currentCache(runtime)).chainNamed(name)
  const cacheOf = async () => await currentCache(runtime)
  const isTyped = payload.event === 'prompt'
  const prompt = isTyped ? await typedPrompt(payload.prompt, sigil, cacheOf) : ''
  return await rail.answer({ platform, kind: payload.event, payload, prompt, chainNamed, runtime })
}

/** Only a prompt that may call a skill requires the list of skills. */
async function typedPrompt(
  prompt: string,
  sigil: HookAdapter['sigil'],
  cacheOf: () => Promise<TriggerCache>,
): Promise<string> {
  if (sigil === 'slash' || !/[/$]/.test(prompt)) return prompt
  const cache = await cacheOf()
  return canonicalPrompt(prompt, sigil, {
    has: (name) => cache.pathOf(name) !== undefined,
    textOf: (name) => textOf(cache.pathOf(name) ?? ''),
  })
}

export function railAnswer(
  rail: Exclude<RailAnswer, { kind: 'context' }>,
  adapter: HookAdapter,
): Answered {
  const answer = {
    deny: (reason: string) => adapter.deny(reason),
    block: (reason: string) => ({ decision: 'block', reason }),
  }
  if (rail.kind === 'ask') {
    const { ask } = adapter
    const answered = ask ? ask(rail.question) : adapter.deny(rail.question)
    const stdout = `${JSON.stringify(answered)}\n`
    return { stdout, stderr: '', denied: !ask || undefined, rail: traced(rail) }
  }
  if (rail.kind !== 'tell') {
    const denied = rail.kind === 'deny' || undefined
    const hasStep = rail.kind === 'block' || rail.startsRail === true
    const mark = hasStep ? railMark(adapter, true) : {}
    const decided = { ...answer[rail.kind](rail.reason), ...mark }
    return { stdout: `${JSON.stringify(decided)}\n`, stderr: '', denied, rail: traced(rail) }
  }
  // If the client cannot show the user a message, the agent reports it.
  const userMessage = adapter.tell?.(rail.tell) ?? answer.block(`${tellBeginning}${rail.tell}`)
  return {
    stdout: `${JSON.stringify({ ...userMessage, ...railMark(adapter, false) })}\n`,
    stderr: '',
    rail: traced(rail),
  }
}

/** The answer of a rail for the log, without its text. */
function traced(rail: RailAnswer): TracedRail {
  const { kind, run } = rail
  const isStart = kind === 'deny' && rail.startsRail === true
  return { answer: isStart ? 'start' : kind, run, characters: agentText(rail).length }
}

function agentText(rail: RailAnswer): string {
  switch (rail.kind) {
    case 'context':
      return rail.text
    case 'deny':
    case 'block':
      return rail.reason
    case 'ask':
      return rail.question
    case 'tell':
      return ''
  }
}

/** For a client whose plugin continues the agent: whether the agent has a step, whose end is checked. */
function railMark({ marksRail }: HookAdapter, hasStep: boolean): object {
  return marksRail ? { rail: hasStep } : {}
}

/** The context of a rail and of workflows, which precedes the references of triggers. */
export function contextBefore(
  rail: (RailAnswer & { kind: 'context' }) | undefined,
  workflow: (WorkflowAnswer & { kind: 'context' }) | undefined,
  adapter: HookAdapter,
  payload: HookPayload,
): Answered | undefined {
  if (rail) {
    const text = workflow ? `${rail.text}\n\n${workflow.text}` : rail.text
    return contextOfRail({ ...rail, text }, adapter, payload)
  }
  if (!workflow) return undefined
  const event = payload.eventName || adapter.events[payload.event] || ''
  const { text } = workflow
  return {
    stdout: `${JSON.stringify(adapter.answer(text, event))}\n`,
    stderr: '',
    railContext: text,
  }
}

function contextOfRail(
  rail: RailAnswer & { kind: 'context' },
  adapter: HookAdapter,
  payload: HookPayload,
): Answered {
  const { text, tell, hasStep = false } = rail
  const event = payload.eventName || adapter.events[payload.event] || ''
  const userMessage = tell === undefined ? undefined : adapter.tell?.(tell)
  const answer = { ...adapter.answer(text, event), ...userMessage, ...railMark(adapter, hasStep) }
  return {
    stdout: `${JSON.stringify(answer)}\n`,
    stderr: '',
    railContext: text,
    rail: traced(rail),
  }
}

/** The context of a rail or of workflows, then the references of triggers. */
export function joined(
  rail: Answered,
  triggers: Answered | undefined,
  adapter: HookAdapter,
  payload: HookPayload,
): Answered {
  if (!triggers || triggers.stdout === '') return { ...rail, ...triggers, stdout: rail.stdout }
  const text = `${rail.railContext ?? ''}\n\n${triggers.context ?? ''}`
  const event = payload.eventName || adapter.events[payload.event] || ''
  const railOutput = objectOf(parseJson(rail.stdout))
  // A line of the rail is more important.
  const notice = triggers.notice === undefined ? undefined : adapter.tell?.(triggers.notice)
  const answer = { ...notice, ...railOutput, ...adapter.answer(text, event) }
  return { ...triggers, stdout: `${JSON.stringify(answer)}\n`, rail: rail.rail }
}
