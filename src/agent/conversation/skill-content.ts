import type { ModelMessage } from 'ai'
import { messageTexts, resultText } from './message-text.ts'

/** The tool that activates a skill; its results are kept whole wherever others are cut. */
export const skillToolName = 'skill'

const opening = /<skill_content name="([^"]*)">/g

/**
 * The skills whose content a message holds: in a prompt, where a person activated them, or in the
 * result of the skill tool. What other tools return may look the same and is not.
 */
export function skillsIn(message: ModelMessage): readonly string[] {
  if (message.role === 'user') return messageTexts(message).flatMap(skillNames)
  if (message.role !== 'tool') return []
  return message.content.flatMap((part) =>
    part.type === 'tool-result' && part.toolName === skillToolName
      ? skillNames(resultText(part))
      : [],
  )
}

export function skillNames(text: string): string[] {
  return Array.from(text.matchAll(opening), ([, name = '']) => name)
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
