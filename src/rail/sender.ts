import { type ClientProcess, clientAbove, hasTerminal, isRunning } from '#core/agent-ancestry'
import { adapters, type Platform } from '#hooks/adapters'
import { isGuardedCommand } from '#hooks/guarded-command'
import type { RailEvent } from '#hooks/rail-hook'
import type { RailSession } from './session.ts'

/** The sender of an event: any client process, and even an agent's shell, can use the ID of a session. */
export type Sender =
  | { kind: 'client'; process: ClientProcess }
  /** Not the client of a user, as `why` says. */
  | { kind: 'agent'; why: string }
  | { kind: 'unknown' }

export interface SenderReader {
  senderOf(platform: Platform, env: Readonly<Record<string, string | undefined>>): Sender
  /** Undefined if that cannot be determined. */
  isRunning(process: ClientProcess): boolean | undefined
  /** Whether a client process can ask a user at a terminal; false if that cannot be determined. */
  hasTerminal(process: ClientProcess): boolean
}

export const systemSender: SenderReader = {
  senderOf(platform, env) {
    const { title } = adapters[platform]
    const mark = Object.keys(shellMarks).find((name) => shellMarks[name]?.test(env[name] ?? ''))
    if (mark !== undefined) return { kind: 'agent', why: 'the shell of an agent called the hook' }
    const above = clientAbove(process.pid, process.platform)
    if (above.kind !== 'client' || above.isBelowAgent === undefined) return { kind: 'unknown' }
    if (above.title !== title)
      return { kind: 'agent', why: `${above.title} called the hook of ${title}` }
    if (above.isBelowAgent) return { kind: 'agent', why: `an agent has started this ${title}` }
    // If the agent's shell calls the hook, the client's child process has another command line.
    const isHook = above.child.some((word) => isGuardedCommand(word))
    if (!isHook) return { kind: 'agent', why: `${title} itself did not call the hook` }
    return { kind: 'client', process: above.process }
  },
  isRunning: (one) => isRunning(one, process.platform),
  hasTerminal: ({ pid }) => hasTerminal(pid, process.platform),
}

/** Variables in the shell of an agent that hooks of the same client do not have. */
const shellMarks: Readonly<Record<string, RegExp>> = {
  AI_AGENT: /_agent$/,
  CODEX_CI: /./,
  CODEX_THREAD_ID: /./,
  COPILOT_AGENT_SESSION_ID: /./,
  GEMINI_CLI: /./,
  QWEN_CODE: /./,
}

/** Whether a prompt comes from the rail's client process. */
export type Verdict =
  /** `process`: the rail's client process from now on. */
  | { kind: 'same'; process: ClientProcess }
  | { kind: 'other'; why: string }
  | { kind: 'unknown'; why: string }

/** Judges a prompt that decides about a rail. */
export function judgePrompt(
  { platform, payload, runtime }: Pick<RailEvent, 'platform' | 'payload' | 'runtime'>,
  { clientProcess }: RailSession,
  reader: SenderReader,
): Verdict {
  const { title } = adapters[platform]
  if (typedMarks[platform]?.(payload) === false) {
    return { kind: 'other', why: `nobody typed it, as ${title} says` }
  }
  const sender = reader.senderOf(platform, runtime.env)
  if (sender.kind === 'agent') return { kind: 'other', why: sender.why }
  if (sender.kind === 'unknown') {
    return { kind: 'unknown', why: `the process of ${title} that sent it cannot be read` }
  }
  const { process } = sender
  if (!clientProcess) {
    return {
      kind: 'unknown',
      why: `it is not known in which process of ${title} the chain started`,
    }
  }
  if (isSameProcess(process, clientProcess)) return { kind: 'same', process }
  const runs = reader.isRunning(clientProcess)
  // The user has closed the client and continues the session in a new one.
  if (runs === false) return { kind: 'same', process }
  return {
    kind: 'other',
    why: `it comes from the process ${process.pid} of ${title}, and the chain runs in the process ${clientProcess.pid}`,
  }
}

/** Whether a user typed a prompt, as its event says. Claude Code says that later, in its transcript. */
const typedMarks: Partial<Record<Platform, (payload: RailEvent['payload']) => boolean>> = {
  pi: ({ source }) => source === 'interactive' || source === 'rpc',
  qwen: ({ hasTypedText }) => hasTypedText,
}

/** Returns the client process to record for a rail without one. */
export function processToNote(
  { platform, runtime }: Pick<RailEvent, 'platform' | 'runtime'>,
  reader: SenderReader,
): ClientProcess | undefined {
  const sender = reader.senderOf(platform, runtime.env)
  return sender.kind === 'client' ? sender.process : undefined
}

export function isSameProcess(one: ClientProcess, other: ClientProcess): boolean {
  return one.pid === other.pid && one.startedAt === other.startedAt
}
