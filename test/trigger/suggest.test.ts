import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { suggestTriggers, withTriggers } from '../../src/trigger/suggest.ts'
import { readTriggers } from '../../src/trigger/read-triggers.ts'
import { readTranscript, type TranscriptTurn } from '../../src/trigger/suggest.ts'

const directory = mkdtempSync(join(tmpdir(), 'skillrail-suggest-'))
afterAll(() => rmSync(directory, { recursive: true }))

const skill = { name: 'deploy', directory, path: join(directory, 'SKILL.md'), triggers: [] }
const turn = (prompt: string, ...skills: string[]): TranscriptTurn => ({
  prompt,
  skills,
  calls: [],
})
const lines = (...entries: readonly object[]): string =>
  entries.map((one) => JSON.stringify(one)).join('\n')

describe('a transcript', () => {
  it('contains prompts and the skills that followed, for Claude Code', () => {
    const read = readTranscript(
      lines(
        { type: 'user', message: { content: 'ship it' } },
        {
          type: 'assistant',
          message: { content: [{ type: 'tool_use', name: 'Skill', input: { skill: 'deploy' } }] },
        },
        { type: 'user', message: { content: [{ type: 'tool_result', content: 'x' }] } },
        { type: 'user', isMeta: true, message: { content: 'meta' } },
        { type: 'user', isSidechain: true, message: { content: 'of a subagent' } },
        { type: 'user', message: { content: [{ type: 'text', text: 'thanks' }] } },
      ),
    )
    expect(read.turns.map(({ prompt, skills }) => [prompt, ...skills])).toEqual([
      ['ship it', 'deploy'],
      ['thanks'],
    ])
  })

  it('contains prompts and the files that were read next, for Codex', () => {
    const call = {
      type: 'function_call',
      name: 'exec_command',
      arguments: '{"cmd":"cat skills/deploy/SKILL.md"}',
    }
    const read = readTranscript(
      lines(
        {
          type: 'event_msg',
          payload: {
            type: 'item_completed',
            item: { type: 'UserMessage', content: [{ type: 'text', text: 'hi' }] },
          },
        },
        { type: 'event_msg', payload: { type: 'user_message', message: 'ship it' } },
        { type: 'response_item', payload: call },
      ),
    )
    expect(read.turns).toMatchObject([
      { prompt: 'hi', calls: [] },
      { prompt: 'ship it', calls: [expect.stringContaining('/deploy/SKILL.md')] },
    ])
  })

  it('can contain any text', () => {
    const value = fc.jsonValue().map((one) => JSON.stringify(one))
    const entry = fc.record({
      type: fc.constantFrom('user', 'assistant', 'event_msg', 'response_item'),
      message: fc.jsonValue(),
      payload: fc.jsonValue(),
    })
    const line = fc.oneof(
      fc.string(),
      value,
      entry.map((one) => JSON.stringify(one)),
    )
    fc.assert(
      fc.property(fc.array(line), (all) => {
        const { turns, broken } = readTranscript(all.join('\n'))
        expect(turns.length + broken).toBeLessThanOrEqual(all.join('\n').split('\n').length)
      }),
    )
  })
})

const used = [
  'ship the api',
  'roll out billing',
  'staging needs a build',
  'release the shop',
  'bring it to production',
  'go live with search',
]
const others = [
  'explain this',
  'write a test',
  'why is it slow',
  'rename the variable',
  'add a button',
  'sort the list',
]
const turns = [
  ...used.map((prompt) => turn(prompt, 'deploy')),
  ...others.map((prompt) => turn(prompt)),
]

describe('suggestions', () => {
  it('do not depend on the order of prompts', () => {
    const first = suggestTriggers([skill], turns)
    expect(first.prompts).toEqual({ used: 6, others: 6 })
    expect(first.entries).toContain('examples: [')
    expect(suggestTriggers([skill], turns.toReversed())).toEqual(first)
  })

  it('never quote a held-out prompt, a call by name, or a prompt with a secret', () => {
    const secret = `use ${['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')} to deploy`
    const { entries, prompts, heldOut } = suggestTriggers(
      [skill],
      [...turns, turn(secret, 'deploy'), turn('/deploy now', 'deploy')],
    )
    expect(prompts.used).toBe(6)
    expect(entries).not.toMatch(/ghp_|\/deploy/)
    const named = used.filter((prompt) => entries.includes(prompt))
    expect(named.length + (heldOut?.suggested.recall.total ?? 0)).toBeLessThanOrEqual(used.length)
  })

  it('need four prompts', () => {
    expect(suggestTriggers([skill], turns.slice(3)).entries).toBe('')
  })

  it('contain a word only if other prompts could contain it', () => {
    const all = Array.from({ length: 30 }, (_, index) => `rollback number ${index}`)
    const alone = all.map((prompt) => turn(prompt, 'deploy'))
    expect(suggestTriggers([skill], alone).entries).not.toContain('match:')
    const foreign = Array.from({ length: 40 }, (_, index) => turn(`question number ${index}`))
    expect(suggestTriggers([skill], [...alone, ...foreign]).entries).toContain(
      "match: '(^| )[Rr]ollback( |$)'",
    )
  })
})

describe('the changed SKILL.md', () => {
  const entries = '  - examples: [a, "b: c"]\n    inject: r.md\n'
  it.each([
    '---\nname: deploy\ndescription: D.\n---\n# D\n',
    '---\nname: deploy\ntriggers:\n  - match: x\n    inject: r.md\ndescription: D.\n---\n# D\n',
    '---\nname: deploy\ndescription: D.\ntriggers:\n  - match: x\n    inject: r.md\n---\n# D\n',
  ])('contains the old and the new triggers: %j', (text) => {
    const changed = withTriggers(text, 'SKILL.md', entries)
    const matches = (all: string): string[] =>
      readTriggers(all, 'SKILL.md').triggers.map(({ match }) => match)
    expect(matches(changed ?? '')).toEqual(['examples: a | b: c', ...matches(text)])
  })

  it('is not written if triggers have a string form', () => {
    const text = '---\nname: deploy\ndescription: D.\nmetadata:\n  triggers: x => r.md\n---\n'
    expect(withTriggers(text, 'SKILL.md', entries)).toBeUndefined()
  })
})
