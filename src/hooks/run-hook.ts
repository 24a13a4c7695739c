import { readFileSync } from 'node:fs'
import { messageOf, type Runtime, safeLine } from '../base/index.ts'
import { type DeferredReference, type Injection, planInjection } from '../trigger/index.ts'
import { adapters } from './adapters.ts'
import { shareContext } from './context.ts'
import { claimTurn, withoutGiven } from './given.ts'
import { indexPlace } from './index-place.ts'
import { canonicalPrompt, type Sigil } from './invocation.ts'
import { type MatchedSkill, matchIndex, TimeIsUp } from './match-index.ts'
import { type HookPayload, readPayload } from './payload.ts'
import type { Platform } from './platform.ts'
import { type HookIndex, openIndex, readIndex } from './read-index.ts'
import type { IndexWork } from './index-work.ts'
import { type HookTrace, writeTrace } from './trace.ts'
import { isOtherHookInCursor } from './cursor-guard.ts'

export interface HookRequest {
  platform: Platform
  /** Which part of the context this process prints, from 1, and how many there are. */
  part: { number: number; of: number }
  /** All of standard input. */
  input: string
  /** Of the process; the working directory of the client is in the input. */
  runtime: Runtime
  /** Loads what is needed only when the index is made anew or a workspace looked at. */
  loadWork(): Promise<IndexWork>
}

/** What the process prints. Its exit code is always 0: a prompt is never blocked. */
export interface HookAnswer {
  stdout: string
  stderr: string
}

/** Our own deadline, before any client's. */
const deadlineMs = 8000

/** Answers one prompt. Never throws; what goes wrong is a line on standard error and in the log. */
export async function runHook(request: HookRequest): Promise<HookAnswer> {
  const { runtime, platform, part } = request
  // A child of our own run has its references in its prompt already.
  if (runtime.env['SKILLRAIL_RUN_ID']) return { stdout: '', stderr: '' }
  const started = runtime.elapsed()
  const reading = readPayload(request.input)
  if (!reading.ok) return { stdout: '', stderr: complaint(reading.message) }
  const { payload } = reading
  const place = payload.cwd === undefined ? runtime : { ...runtime, cwd: payload.cwd }
  const trace: HookTrace = {
    at: new Date(runtime.now()).toISOString(),
    platform,
    cwd: place.cwd,
    session: payload.session,
    prompt: payload.prompt,
    injected: [],
    withheld: [],
    durationMs: 0,
  }
  try {
    const answer = await answerPrompt(
      request,
      payload,
      place,
      () => runtime.elapsed() - started > deadlineMs,
    )
    if (answer === undefined) return { stdout: '', stderr: '' }
    if (part.number === 1) {
      const durationMs = Math.round(runtime.elapsed() - started)
      writeTrace(runtime, { ...trace, ...answer.trace, durationMs })
    }
    return answer
  } catch (error) {
    const message = messageOf(error)
    if (part.number === 1) {
      const durationMs = Math.round(runtime.elapsed() - started)
      writeTrace(runtime, { ...trace, error: message, durationMs })
    }
    return { stdout: '', stderr: complaint(message) }
  }
}

type PromptAnswer = HookAnswer & { trace: Pick<HookTrace, 'injected' | 'withheld'> }

async function answerPrompt(
  request: HookRequest,
  payload: HookPayload,
  runtime: Runtime,
  isOver: () => boolean,
): Promise<PromptAnswer | undefined> {
  const { part } = request
  const platform = platformOf(request, payload)
  if (platform === undefined) return undefined
  const adapter = adapters[platform]
  const index = await currentIndex(runtime, request.loadWork)
  const matches = matchesOf(index, payload.prompt, adapter.sigil, isOver)
  if (matches.length === 0) return undefined
  const untrusted = await untrustedSkills(
    matches.map(({ skill }) => skill),
    runtime,
    request.loadWork,
  )
  const injection = planInjection(matches, { mayInject: (skill) => !untrusted.has(skill.path) })
  if (isOver()) throw new TimeIsUp()
  // Random ids would load half of Node's crypto; this one is only compared with itself.
  const turn = payload.turn ?? `${runtime.now()}-${runtime.elapsed()}`
  if (payload.turn !== undefined && !claimTurn(runtime, `${request.platform} ${turn}`, part)) {
    return undefined
  }
  const references =
    index.head.repeat === 'session' && payload.session !== undefined
      ? withoutGiven(runtime, payload.session, turn, injection.injected)
      : injection.injected
  const { shares, rest } = shareContext(references, { ...adapter.limit, parts: part.of })
  const share = shares[part.number - 1]
  const isFirst = part.number === 1
  return {
    stdout: share === undefined || share === '' ? '' : `${JSON.stringify(adapter.answer(share))}\n`,
    stderr: isFirst ? remarks(injection.deferred) : '',
    trace: {
      injected: references
        .filter((reference) => !rest.includes(reference))
        .map(({ skill, path, text }) => ({ skill, path, characters: text.length })),
      withheld: [
        ...injection.deferred.map(({ skill, path, reason }) => ({ skill, path, reason })),
        ...repeated(injection, references),
        ...rest.map(({ skill, path }) => ({
          skill,
          path,
          reason: 'it is larger than the client takes; it was named instead',
        })),
      ],
    },
  }
}

function matchesOf(
  index: HookIndex,
  typed: string,
  sigil: Sigil,
  isOver: () => boolean,
): ReturnType<typeof matchIndex> {
  try {
    const prompt = canonicalPrompt(typed, sigil, {
      has: (name) => index.pathOf(name) !== undefined,
      textOf: (name) => textOf(index.pathOf(name)),
    })
    return matchIndex(index, prompt, isOver)
  } finally {
    index.close()
  }
}

/** Cursor runs the hooks of Claude Code too: then it gets its own shape, from one of them. */
function platformOf(
  { platform, runtime, part }: HookRequest,
  { fromCursor }: HookPayload,
): Platform | undefined {
  const inCursor = fromCursor || runtime.env['CURSOR_VERSION'] !== undefined
  if (platform !== 'claude' || !inCursor) return platform
  return part.number > 1 || isOtherHookInCursor(runtime) ? undefined : 'cursor'
}

async function currentIndex(
  runtime: Runtime,
  loadWork: HookRequest['loadWork'],
): Promise<HookIndex> {
  const place = indexPlace(runtime)
  const known = readIndex(place)
  if (known !== undefined) return known
  const { buildIndex } = await loadWork()
  return openIndex(buildIndex(runtime, place))
}

/** The paths of the skills among `matched` whose text may not be given. */
async function untrustedSkills(
  matched: readonly MatchedSkill[],
  runtime: Runtime,
  loadWork: HookRequest['loadWork'],
): Promise<ReadonlySet<string>> {
  const untrusted = new Set<string>()
  for (const { path, trust } of matched) {
    if (trust === '-') untrusted.add(path)
    if (trust !== '?' || untrusted.has(path)) continue
    const { isStillTrusted } = await loadWork()
    if (!isStillTrusted(runtime, path)) untrusted.add(path)
  }
  return untrusted
}

function textOf(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function repeated(
  { injected }: Injection,
  references: readonly { file: string }[],
): { skill: string; path: string; reason: string }[] {
  return injected
    .filter((reference) => !references.includes(reference))
    .map(({ skill, path }) => ({ skill, path, reason: 'this session has it already' }))
}

function remarks(deferred: readonly DeferredReference[]): string {
  return deferred
    .map(({ skill, path, reason }) => complaint(`${skill}/${path} was not injected: ${reason}`))
    .join('')
}

function complaint(message: string): string {
  return `skillrail: ${safeLine(message)}\n`
}
