import { join } from 'node:path'
import { type Runtime, userDirectories } from '#core/runtime'
import type { ChainSkill, RailEvent } from '#hooks/rail-hook'
import { fingerprint } from '#core/fingerprint'

// The parts that the hook needs at every event, with or without a rail. It loads nothing else.

export function railsDirectory(runtime: Runtime): string {
  return join(userDirectories(runtime).state, 'rails')
}

/** The file of a session; its lock is stored beside it. */
export function railPath(runtime: Runtime, session: string): string {
  return join(railsDirectory(runtime), `${fingerprint(session)}.json`)
}

/** Exists while a process starts a rail in the session. */
export function startingPath(runtime: Runtime, session: string): string {
  return `${railPath(runtime, session)}.starting`
}

/** Returns the chain that a prompt calls, with the words after its name. */
export async function calledChain(
  { chainNamed }: RailEvent,
  prompt: string,
): Promise<{ chain: ChainSkill; words: string } | undefined> {
  const [whole = '', name] = /^\s*\/([\p{L}\p{N}_-]+)(?=\s|$)/u.exec(prompt) ?? []
  const chain = name === undefined ? undefined : await chainNamed(name)
  return chain && { chain, words: prompt.slice(whole.length).trim() }
}

/** Whether a call of the agent may start a chain; the lexer of shell lines is loaded only then. */
export function mayStartChain({ call, tool }: RailEvent['payload']): boolean {
  if (call?.kind === 'shell') return inOrder(call.command, [/skillrail/, /\bchain\b/, /\bstart\b/])
  return call === undefined && isStartTool(tool)
}

/** Whether each expression matches after the match of the one before. */
function inOrder(text: string, expressions: readonly RegExp[]): boolean {
  let rest = text
  return expressions.every((expression) => {
    const match = expression.exec(rest)
    rest = match === null ? rest : rest.slice(match.index + match[0].length)
    return match !== null
  })
}

/** Whether a tool is `chain_start`: every client writes the name of a server before that of its tool. */
export function isStartTool(tool: string): boolean {
  return /[^a-z\d]chain_start$/i.test(tool)
}
