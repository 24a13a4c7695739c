import type { ModelMessage } from 'ai'
import { SubagentDelegationError } from '../errors.ts'

/** The task with what else the subagent is to know, as its first prompt. */
export function taskPrompt(task: string, context: string | undefined): string {
  if (context === undefined || context.trim() === '') return task
  return `${task}\n\n<context>\n${context.trim()}\n</context>`
}

/** @throws {SubagentDelegationError} for a task without a word in it. */
export function requireTask(task: string, name: string): string {
  if (typeof task === 'string' && task.trim() !== '') return task
  throw new SubagentDelegationError({
    code: 'task-empty',
    message: `The task for ${name} is empty: a subagent knows nothing but its task.`,
    hint: 'Say what to do, with everything that is needed for it.',
  })
}

/**
 * Messages of another conversation as a history to begin with: copies, without calls that have no
 * result and results that have no call, which no provider takes.
 *
 * @throws {SubagentDelegationError} for a message that is none.
 */
export function contextHistory(messages: readonly ModelMessage[]): ModelMessage[] {
  const copies = messages.map(copy)
  const calls = idsOf(copies, 'assistant', 'tool-call')
  const results = idsOf(copies, 'tool', 'tool-result')
  return copies.flatMap((message): ModelMessage[] => {
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      const content = message.content.filter(
        (part) => part.type !== 'tool-call' || results.has(part.toolCallId),
      )
      return content.length === 0 ? [] : [{ ...message, content }]
    }
    if (message.role === 'tool') {
      const content = message.content.filter(
        (part) => part.type === 'tool-result' && calls.has(part.toolCallId),
      )
      return content.length === 0 ? [] : [{ ...message, content }]
    }
    return [message]
  })
}

function copy(message: ModelMessage): ModelMessage {
  if (message.role === 'system') {
    throw new SubagentDelegationError({
      code: 'context-system-message',
      message: 'A system message cannot be part of the context of a subagent.',
      hint: 'Put it into `systemPrompt` of its definition, or pass it as the text `context`.',
    })
  }
  return structuredClone(message)
}

function idsOf(
  messages: readonly ModelMessage[],
  role: 'assistant' | 'tool',
  type: 'tool-call' | 'tool-result',
): Set<string> {
  const ids = messages.flatMap((message) => {
    if (message.role !== role || typeof message.content === 'string') return []
    return message.content.flatMap((part) =>
      part.type === type && 'toolCallId' in part ? [part.toolCallId] : [],
    )
  })
  return new Set(ids)
}
