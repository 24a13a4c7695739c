import { expect, it } from 'vitest'
import { canonicalPrompt, readPayload, type Sigil } from '../../src/hooks/prompt.ts'

const skills = {
  has: (name: string) => name === 'saw',
  textOf: (name: string) =>
    name === 'saw' ? '---\nname: saw\n---\n\n# Saw\n\nDo it.\n' : undefined,
}

const cases: [Sigil, string, string][] = [
  ['slash', '$saw x', '$saw x'],
  ['dollar', '$saw program x', '/saw program x'],
  ['dollar', ' $saw', '/saw'],
  ['dollar', '$saws program', '$saws program'],
  ['dollar', '$saw-mill program', '$saw-mill program'],
  ['dollar', '$HOME is here', '$HOME is here'],
  ['dollar', 'use $saw program', 'use $saw program'],
  ['dollar', '/saw program', '/saw program'],
  ['skill-colon', '/skill:saw program\nmore', '/saw program\nmore'],
  ['skill-colon', '/skill:other program', '/skill:other program'],
  ['expanded', '# Saw\n\nDo it.\n\n/saw program x', '/saw program x'],
  ['expanded', 'My own words\n\n/saw program x', 'My own words\n\n/saw program x'],
  ['expanded', '/saw program x', '/saw program x'],
]
it.each(cases)('reads for the sigil %s %j as %j', (sigil, prompt, canonical) => {
  expect(canonicalPrompt(prompt, sigil, skills)).toBe(canonical)
})

it("reads the typed text if a client sends the skill's text as the prompt", () => {
  const body =
    'Base directory: /x\n\n/saw amend\n\n\n/saw program x\n\nThe arguments are in a file.'
  const input = JSON.stringify({ prompt: body, submitted_prompt: '/saw program x' })
  expect(readPayload(input)).toMatchObject({ ok: true, payload: { prompt: '/saw program x' } })
  const again = JSON.stringify({ prompt: '', submitted_prompt: undefined })
  expect(readPayload(again)).toMatchObject({ ok: true, payload: { prompt: '' } })
})

it.each([
  ['', 'prompt'],
  ['UserPromptSubmit', 'prompt'],
  ['constructor', 'prompt'],
  ['preToolUse', 'before'],
  ['AfterTool', 'after'],
  ['PreCompact', 'compact'],
  ['PostCompact', 'compact'],
  ['SessionStart', 'compact'],
  ['subagentStart', 'subagent'],
])('recognises the event %j as %s', (name, event) => {
  const input = JSON.stringify({ hook_event_name: name, prompt: 'hello', tool_name: 'x' })
  expect(readPayload(input)).toMatchObject({ ok: true, payload: { event } })
})
