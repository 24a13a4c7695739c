import type { ModelMessage, ToolResultPart } from 'ai'

/** Every text in a message: of prompts, answers, and results of tools. Not the inputs of calls. */
export function messageTexts({ content }: ModelMessage): readonly string[] {
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
