import { quoteText } from './_quote.ts'

/**
 * The text of a new `SKILL.md`, with instructions to replace. It is valid, and there is no advice to
 * give about it, unless `description` is given and asks for some.
 */
export function newSkillText(name: string, description?: string): string {
  const title = name.replaceAll('-', ' ').replace(/^./u, (letter) => letter.toUpperCase())
  const text = description?.trim().replace(/\s+/g, ' ') ?? defaultDescription(title)
  return `---
name: ${quoteText(name)}
description: ${quoteText(text)}
---

# ${title}

Replace this text with the instructions an agent follows once the skill is active.

## Steps

1. Say what to look at first, and where it is.
2. Say what to do with it, one step a line.
3. Say how to check the result before reporting it.

## Example

Input: what a user might ask for.

Output: what the agent should hand back.

## When something is wrong

Say what to do when the input is missing, unreadable or ambiguous.
`
}

function defaultDescription(title: string): string {
  return `Describes in one sentence what "${title}" produces and from which input. Use when the user asks for it, and name the words the user would say.`
}
