// The library alone: a catalogue for a system prompt, and what a model gets when it uses a skill.
import assert from 'node:assert/strict'
import { prompts } from './library.mjs'

const { catalogue, content, diagnostics } = await prompts('release-notes', '2.1')
assert.match(catalogue, /release-notes\n[^]*Writes release notes from commits/)
assert.match(content, /^<skill_content name="release-notes">\n[^]*Write the notes of 2\.1:/)
// Skills of whoever runs this are found too, and may have warnings of their own.
assert.deepEqual(
  diagnostics.filter(({ path }) => path.startsWith(import.meta.dirname)),
  [],
)

await assert.rejects(prompts('no-such-skill', ''), { code: 'skill-not-found' })
