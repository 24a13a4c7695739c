import { programWord } from '#core/packaged-program'
import type { Runtime } from '#core/runtime'
import type { RailAnswer } from '#hooks/rail-hook'

/** A Skillrail command in a text, without npx. */
const commandLine =
  /(?<!npx )(?<![\w./@-])skillrail (?=(?:chain|hooks|rail|runs|trust|validate)\b)/g

/**
 * Replaces `skillrail` with what works in this installation, if the search path has no such program: the command
 * line of the client's package, or `npx skillrail`.
 */
export function runnableText(text: string, runtime: Runtime, own?: string): string {
  if (text.search(commandLine) < 0) return text
  const program = programWord(runtime, own)
  if (program === 'skillrail') return text
  return text.replaceAll(commandLine, () => `${program ?? 'npx skillrail'} `)
}

export function runnableAnswer(answer: RailAnswer, runtime: Runtime): RailAnswer {
  const runnable = (text: string): string => runnableText(text, runtime)
  switch (answer.kind) {
    case 'context': {
      const { kind, text, tell } = answer
      return { kind, text: runnable(text), tell: tell === undefined ? undefined : runnable(tell) }
    }
    case 'ask':
      return { kind: answer.kind, question: runnable(answer.question) }
    case 'deny':
    case 'block':
      return { ...answer, reason: runnable(answer.reason) }
    case 'tell':
      return { kind: answer.kind, tell: runnable(answer.tell) }
  }
}
