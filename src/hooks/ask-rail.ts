import { objectOf, parseJson } from '#core/json'
import { adapters, type HookAdapter, type Platform } from './adapters.ts'
import type { Answered } from './answer-triggers.ts'
import { textOf } from './given.ts'
import { currentCache, type HookRequest } from './hook-call.ts'
import { canonicalPrompt, type HookPayload } from './prompt.ts'
import { type RailAnswer, tellBeginning } from './rail-hook.ts'
import type { TriggerCache } from './trigger-cache.ts'

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
    return { stdout: `${JSON.stringify(answered)}\n`, stderr: '', denied: !ask || undefined }
  }
  if (rail.kind !== 'tell') {
    const denied = rail.kind === 'deny' || undefined
    const hasStep = rail.kind === 'block' || rail.startsRail === true
    const mark = hasStep ? railMark(adapter, true) : {}
    const decided = { ...answer[rail.kind](rail.reason), ...mark }
    return { stdout: `${JSON.stringify(decided)}\n`, stderr: '', denied }
  }
  // If the client cannot show the user a message, the agent reports it.
  const userMessage = adapter.tell?.(rail.tell) ?? answer.block(`${tellBeginning}${rail.tell}`)
  return {
    stdout: `${JSON.stringify({ ...userMessage, ...railMark(adapter, false) })}\n`,
    stderr: '',
  }
}

/** For a client whose plugin continues the agent: whether the agent has a step, whose end is checked. */
function railMark({ marksRail }: HookAdapter, hasStep: boolean): object {
  return marksRail ? { rail: hasStep } : {}
}

export function contextOfRail(
  { text, tell, hasStep = false }: RailAnswer & { kind: 'context' },
  adapter: HookAdapter,
  payload: HookPayload,
): Answered {
  const event = payload.eventName || adapter.events[payload.event] || ''
  const userMessage = tell === undefined ? undefined : adapter.tell?.(tell)
  const answer = { ...adapter.answer(text, event), ...userMessage, ...railMark(adapter, hasStep) }
  return { stdout: `${JSON.stringify(answer)}\n`, stderr: '', railContext: text }
}

/** The context of a rail, then the references of triggers. */
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
  const answer = { ...railOutput, ...adapter.answer(text, event) }
  return { ...triggers, stdout: `${JSON.stringify(answer)}\n` }
}
