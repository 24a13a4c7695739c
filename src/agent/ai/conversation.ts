import type { ModelMessage, UserModelMessage } from 'ai'
import { objectOf } from '../../core/json.ts'
import type { InvocationSource } from '../../library/activation.ts'
import { messageTexts, skillToolName } from '../conversation/compact.ts'
import { typedSkill } from '../skills/skill-set.ts'

/** An activation that a conversation asks for. */
export interface AskedSkill {
  name: string
  arguments: string
  source: InvocationSource
}

/**
 * Returns the activations that hold at the end of a conversation, in their order: calls of the tool
 * `skill` that succeeded, and `/name` of the user. With the lifetime `turn`, a message of the user
 * ends all of them.
 */
export function activationsIn(
  messages: readonly ModelMessage[],
  names: readonly string[],
  lifetime: 'turn' | 'conversation',
): AskedSkill[] {
  const held = new Map<string, AskedSkill>()
  const inputs = new Map<string, unknown>()
  for (const message of messages) {
    if (message.role === 'user') {
      if (lifetime === 'turn') held.clear()
      const typed = typedSkill(userText(message), names)
      if (typed !== undefined) {
        held.set(typed.name, { name: typed.name, arguments: typed.argumentText, source: 'user' })
      }
    }
    if (typeof message.content === 'string') continue
    for (const part of message.content) {
      if (part.type === 'tool-call' && part.toolName === skillToolName) {
        inputs.set(part.toolCallId, part.input)
      }
      if (part.type !== 'tool-result' || !inputs.has(part.toolCallId)) continue
      if (/^(?:error|execution-denied)/.test(part.output.type)) continue
      const { name, arguments: given, done, hook } = objectOf(inputs.get(part.toolCallId))
      if (typeof name !== 'string' || hook !== undefined) continue
      if (done === true) held.delete(name)
      else if (!held.has(name) || held.get(name)?.arguments !== given) {
        const argumentText = typeof given === 'string' ? given : ''
        held.set(name, { name, arguments: argumentText, source: 'model' })
      }
    }
  }
  return [...held.values()]
}

/** The text of a message of the user, without its files. */
export function userText({ content }: UserModelMessage): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
}

/** A message of the user with another text, and with its files. */
export function withText(message: UserModelMessage, text: string): UserModelMessage {
  if (typeof message.content === 'string') return { ...message, content: text }
  const files = message.content.filter(({ type }) => type !== 'text')
  return { ...message, content: [...files, { type: 'text', text }] }
}

/** Whether the model reads this text somewhere in these messages. */
export function hasText(messages: readonly ModelMessage[], text: string): boolean {
  return messages.some((message) => messageTexts(message).some((part) => part.includes(text)))
}
