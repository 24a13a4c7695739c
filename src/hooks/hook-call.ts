import { join } from 'node:path'
import { clientFolder } from '#core/client-folders'
import type { Runtime } from '#core/runtime'
import { safeLine } from '#core/text'
import { adapters, type HookAdapter, launcherName, type Platform } from './adapters.ts'
import { claimTurn, type Conversation, textOf } from './given.ts'
import type { HookPayload } from './prompt.ts'
import type { RailHook } from './rail-hook.ts'
import type { WorkflowHook } from './workflow-hook.ts'
import { cachePlace, openCache, ownPlugin, readCache, type TriggerCache } from './trigger-cache.ts'

/** One call of the hook by a client. */
export interface HookRequest {
  platform: Platform
  /** Some clients register the hook several times, since one answer would be too short. */
  part: { number: number; of: number }
  /** The client's name for the event, if its input does not say it. */
  event?: string | undefined
  input: string
  /** The runtime of the process; the client's working directory is in the input. */
  runtime: Runtime
  /** How many times longer than on an idle machine a process takes now, at least 1; default: 1. */
  slowness?: number
  /** Enforces a chain in the session; it is asked before any trigger. */
  rail?: RailHook | undefined
  /** Applies workflows to MCP calls. */
  workflows?: WorkflowHook | undefined
}

/** What the process prints. Its exit code is always 0: a prompt is never blocked. */
export interface HookAnswer {
  stdout: string
  stderr: string
}

/** Everything that the answer to an event needs. */
export interface HookCall {
  request: HookRequest
  payload: HookPayload
  /** The client that answers; not always the one whose registration called the hook. */
  platform: Platform
  adapter: HookAdapter
  cache: TriggerCache
  /** Undefined if the client names no session: then nothing is denied or remembered. */
  conversation: Conversation | undefined
  turn: string
  /** Throws if the client will not wait much longer. */
  checkTime: () => void
}

/**
 * Cursor and Copilot CLI run the hooks of Claude Code too: one hook answers, in their own shape. The event
 * itself must say so: a project can set variables of Claude Code, which ignores a denial in another shape.
 */
export function platformOf(
  { platform, runtime, part }: HookRequest,
  payload: HookPayload,
): Platform | undefined {
  const { cwd, env } = runtime
  const isCopilot = payload.fromCopilot && env['COPILOT_CLI'] !== undefined
  if (platform !== 'claude' || !(payload.fromCursor || isCopilot)) return platform
  const real = payload.fromCursor ? 'cursor' : 'copilot'
  const { files } = adapters[real]
  const places = [join(clientFolder(real, runtime), files.user), join(cwd, files.project)]
  const isTwice = places.some((path) => textOf(path).includes(launcherName))
  if (part.number > 1) return undefined
  // A file that only contains the name must not silence a guard: a call may be denied twice.
  return isTwice && payload.event !== 'before' ? undefined : real
}

/** Whether this process answers the event: a client may call several hooks for it. */
export function claimEvent({
  request: { platform, part, runtime },
  payload: { turn, event },
}: Pick<HookCall, 'request' | 'payload'>): boolean {
  const plugin = ownPlugin(runtime) ?? ''
  return turn === undefined || claimTurn(runtime, `${platform} ${event} ${turn}${plugin}`, part)
}

const caches = new WeakMap<Runtime, Promise<TriggerCache>>()

/**
 * The cache of the skills; read once for an event, since a look compares the times of all files.
 */
export async function currentCache(runtime: Runtime): Promise<TriggerCache> {
  const cached = caches.get(runtime)
  const cache = cached ?? readOrMakeCache(runtime)
  caches.set(runtime, cache)
  return await cache
}

async function readOrMakeCache(runtime: Runtime): Promise<TriggerCache> {
  const place = cachePlace(runtime)
  const current = readCache(place)
  if (current) return current
  const { refreshCache } = await import('./refresh-cache.ts')
  const { file, index } = refreshCache(runtime, place)
  return openCache(file, index)
}

export function complaint(message: string): string {
  return `skillrail: ${safeLine(message)}\n`
}
