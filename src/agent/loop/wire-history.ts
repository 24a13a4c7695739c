import type { AssistantModelMessage } from 'ai'
import { wireName } from '../tool-names.ts'

/**
 * An answer as it is kept: a model can call a tool by a name that no provider would take back in the
 * history of the next call.
 */
export function withWireNames(message: AssistantModelMessage): AssistantModelMessage {
  const { content } = message
  if (typeof content === 'string') return message
  return {
    ...message,
    content: content.map((part) =>
      part.type === 'tool-call' ? { ...part, toolName: wireName(part.toolName) } : part,
    ),
  }
}

/** The answer without calls that are not carried out, or undefined when nothing is left. */
export function withoutCalls(
  message: AssistantModelMessage | undefined,
): AssistantModelMessage | undefined {
  if (message === undefined || typeof message.content === 'string') return message
  const content = message.content.filter(
    (part) => part.type !== 'tool-call' || part.providerExecuted === true,
  )
  return content.some((part) => part.type === 'text') ? { ...message, content } : undefined
}
