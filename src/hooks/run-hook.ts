import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../core/errors.ts'
import type { Runtime } from '../core/runtime.ts'
import { safeLine } from '../core/text.ts'
import { planInjection } from '../trigger/inject.ts'
import { matchPrompt, type TriggerMatch } from '../trigger/match.ts'
import { adapters, type Platform } from './adapters.ts'
import { shareContext } from './context.ts'
import { claimTurn, withoutGiven } from './given.ts'
import { launcherName } from './launcher.ts'
import { canonicalPrompt, type HookPayload, readPayload } from './prompt.ts'
import { type HookTrace, writeTrace } from './trace.ts'
import {
  type CachedSkill,
  cachePlace,
  openCache,
  readCache,
  type TriggerCache,
} from './trigger-cache.ts'

interface HookRequest {
  platform: Platform
  part: { number: number; of: number }
  input: string
  /** Of the process; the working directory of the client is in the input. */
  runtime: Runtime
}

/** What the process prints. Its exit code is always 0: a prompt is never blocked. */
export type HookAnswer = { stdout: string; stderr: string }

const deadlineMs = 8000

const silence: HookAnswer = { stdout: '', stderr: '' }

/** Answers one prompt. Never throws: an error is a line on stderr and in the log. */
export async function runHook(request: HookRequest): Promise<HookAnswer> {
  const { platform, part } = request
  // A child of our own run has its references in its prompt already.
  if (request.runtime.env['SKILLRAIL_RUN_ID']) return silence
  const started = request.runtime.elapsed()
  const reading = readPayload(request.input)
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
    const answer = await answerPrompt({ ...request, runtime }, payload, checkTime)
    if (answer === undefined) return silence
    const { stdout, stderr, ...facts } = answer
    trace(facts)
    return { stdout, stderr }
  } catch (error) {
    const message = messageOf(error)
    trace({ error: message })
    return { stdout: '', stderr: complaint(message) }
  }
}

async function answerPrompt(request: HookRequest, payload: HookPayload, checkTime: () => void) {
  const { part, runtime } = request
  const platform = platformOf(request, payload)
  if (platform === undefined) return undefined
  const adapter = adapters[platform]
  const cache = await currentCache(runtime)
  const prompt = canonicalPrompt(payload.prompt, adapter.sigil, {
    has: (name) => cache.pathOf(name) !== undefined,
    textOf: (name) => textOf(cache.pathOf(name)),
  })
  const matches: TriggerMatch<CachedSkill>[] = []
  for (const skill of cache.candidates(prompt)) {
    checkTime()
    matches.push(...matchPrompt(prompt, [skill]).matches)
  }
  if (matches.length === 0) return undefined
  const untrusted = await untrustedSkills(matches, runtime)
  const injection = planInjection(matches, { mayInject: ({ path }) => !untrusted.has(path) })
  checkTime()
  // Random ids would load half of Node's crypto; this one is only compared with itself.
  const turn = payload.turn ?? `${runtime.now()}-${runtime.elapsed()}`
  if (payload.turn !== undefined && !claimTurn(runtime, `${request.platform} ${turn}`, part)) {
    return undefined
  }
  const references =
    cache.repeat === 'session' && payload.session !== undefined
      ? withoutGiven(runtime, payload.session, turn, injection.injected)
      : injection.injected
  const { shares, rest } = shareContext(references, { ...adapter.limit, parts: part.of })
  const share = shares[part.number - 1] ?? ''
  const because = (reason: string) => (reference: { skill: string; path: string }) => {
    return { skill: reference.skill, path: reference.path, reason }
  }
  const deferred = injection.deferred.map((one) => because(one.reason)(one))
  const complaints = deferred.map(({ skill, path, reason }) =>
    complaint(`${skill}/${path} was not injected: ${reason}`),
  )
  const given = references.filter((reference) => !rest.includes(reference))
  const repeated = injection.injected.filter((reference) => !references.includes(reference))
  return {
    stdout: share === '' ? '' : `${JSON.stringify(adapter.answer(share))}\n`,
    stderr: part.number > 1 ? '' : complaints.join(''),
    injected: given.map(({ skill, path, text }) => ({ skill, path, characters: text.length })),
    withheld: [
      ...deferred,
      ...repeated.map(because('this session has it already')),
      ...rest.map(because('it is larger than the client takes; it was named instead')),
    ],
  }
}

/**
 * Cursor runs the hooks of Claude Code too: then it gets its own shape, from one of them. The one for
 * Claude Code keeps silent where our hook for Cursor itself is registered.
 */
function platformOf({ platform, runtime, part }: HookRequest, { fromCursor }: HookPayload) {
  const { cwd, home, env } = runtime
  if (platform !== 'claude' || !(fromCursor || env['CURSOR_VERSION'] !== undefined)) return platform
  const { home: own, files } = adapters.cursor
  const places = [join(home, own.path, files.user), join(cwd, files.project)]
  const isTwice = places.some((path) => textOf(path)?.includes(launcherName) === true)
  return part.number > 1 || isTwice ? undefined : 'cursor'
}

async function currentCache(runtime: Runtime): Promise<TriggerCache> {
  const place = cachePlace(runtime)
  const known = readCache(place)
  if (known !== undefined) return known
  const { refreshCache } = await import('./refresh-cache.ts')
  return openCache(refreshCache(runtime, place))
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

function textOf(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function complaint(message: string): string {
  return `skillrail: ${safeLine(message)}\n`
}
