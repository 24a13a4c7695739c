import type { ModelMessage, ToolResultPart } from 'ai'
import { estimateTokens } from '#core/text'

/** The tool that activates a skill. Its results stay whole where other results are cut. */
export const skillToolName = 'skill'

/** Returns the texts of prompts, answers and tool results in a message, not the inputs of calls. */
export function messageTexts({ content }: ModelMessage): string[] {
  if (typeof content === 'string') return [content]
  return content.flatMap((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return [part.text]
    return part.type === 'tool-result' ? [resultText(part)] : []
  })
}

export function hasText(messages: readonly ModelMessage[], text: string): boolean {
  return messages.some((message) => messageTexts(message).some((part) => part.includes(text)))
}

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

/** An image or a file: its size in bytes does not show how many tokens it takes. */
const tokensPerFile = 1500

/** The role of a message and the names around it. */
const tokensPerMessage = 4

export function estimateMessages(messages: readonly ModelMessage[]): number {
  let tokens = messages.length * tokensPerMessage
  for (const message of messages) {
    for (const text of messageTexts(message)) tokens += estimateTokens(text)
    for (const part of typeof message.content === 'string' ? [] : message.content) {
      if (part.type === 'tool-call') tokens += estimateTokens(JSON.stringify(part.input ?? null))
      else if (part.type === 'file' || part.type === 'image') tokens += tokensPerFile
      else if (part.type === 'tool-result' && part.output.type === 'content') {
        const files = part.output.value.filter(({ type }) => type !== 'text')
        tokens += files.length * tokensPerFile
      }
    }
  }
  return tokens
}
