import type { ModelMessage, ToolResultPart } from 'ai'
import { estimateTokens } from '../../skill/catalog.ts'

/** The tool that activates a skill; its results are kept whole wherever others are cut. */
export const skillToolName = 'skill'

/**
 * The skills whose content a message holds: in a prompt, where the user activated them, or in the
 * result of the skill tool. What other tools return may look the same and is not.
 */
export function skillsIn(message: ModelMessage): readonly string[] {
  const texts = message.role === 'user' ? messageTexts(message) : []
  for (const part of message.role === 'tool' ? message.content : []) {
    if (part.type !== 'tool-result' || part.toolName !== skillToolName) continue
    texts.push(resultText(part))
  }
  return texts.flatMap((text) =>
    Array.from(text.matchAll(/<skill_content name="([^"]*)">/g), ([, name = '']) => name),
  )
}

const ending = '</skill_content>'
const whole = /<skill_content name="([^"]*)">[\s\S]*?<\/skill_content>/g

/** The text with a note in place of each content that comes again later. */
export function withoutSkills(text: string, isLater: (name: string) => boolean): string {
  // Behind the last end none is whole: what only begins there is not searched for an end each time.
  const end = text.lastIndexOf(ending) + ending.length
  if (end < ending.length) return text
  const shorter = text
    .slice(0, end)
    .replaceAll(whole, (content, name: string) =>
      isLater(name) ? `[The content of the skill ${name} follows later.]` : content,
    )
  return shorter + text.slice(end)
}

/** Every text in a message: of prompts, answers, and results of tools. Not the inputs of calls. */
export function messageTexts({ content }: ModelMessage): string[] {
  if (typeof content === 'string') return [content]
  return content.flatMap((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return [part.text]
    return part.type === 'tool-result' ? [resultText(part)] : []
  })
}

/** What a tool's result says, as one text. */
export function resultText({ output }: ToolResultPart): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value)
    case 'execution-denied':
      return output.reason ?? ''
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  }
}

/** An image or a file, whose bytes say nothing of its tokens. */
const tokensOfFile = 1500

/** What the roles and names around a message cost. */
const tokensOfMessage = 4

/** Tokens of the messages, estimated as characters / 4. */
export function estimateMessages(messages: readonly ModelMessage[]): number {
  let sum = messages.length * tokensOfMessage
  for (const message of messages) {
    for (const text of messageTexts(message)) sum += estimateTokens(text)
    for (const part of typeof message.content === 'string' ? [] : message.content) {
      if (part.type === 'tool-call') sum += estimateTokens(JSON.stringify(part.input ?? null))
      else if (part.type === 'file' || part.type === 'image') sum += tokensOfFile
    }
  }
  return sum
}
