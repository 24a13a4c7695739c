import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { expect, it } from 'vitest'
import { adapters } from '../../src/hooks/adapters.ts'
import { ownCommands, withEntries, withoutEntries } from '../../src/hooks/edit-entries.ts'

const claude = adapters.claude.registration
const cursor = adapters.cursor.registration
if (claude.kind !== 'entry' || cursor.kind !== 'entry') throw new Error('no entries')
const command = '/data/skillrail/hook/skillrail-hook claude'

it('creates a missing file', () => {
  const handler = { type: 'command', command, timeout: 10 }
  const onTools = { hooks: [handler] }
  const atTurnEnd = { type: 'command', command, timeout: 40 }
  expect(JSON.parse(withEntries(undefined, claude, [command], 'f'))).toEqual({
    hooks: {
      UserPromptSubmit: [{ hooks: [handler] }],
      PreToolUse: [onTools],
      PostToolUse: [onTools],
      SessionStart: [{ matcher: 'compact|clear|resume', hooks: [handler] }],
      SubagentStart: [{ hooks: [handler] }],
      Stop: [{ hooks: [atTurnEnd] }],
    },
  })
  expect(JSON.parse(withEntries(' \n', cursor, ['c'], 'f'))).toMatchObject({ version: 1 })
})

it('keeps comments, order, indentation and foreign hooks', () => {
  const text = `{
    // mine
    "model": "opus", /* why not */
    "hooks": {
        "UserPromptSubmit": [
            { "hooks": [{ "type": "command", "command": "./other.sh" }] } // theirs
        ],
        "Stop": []
    }
}
`
  const edited = withEntries(text, claude, [command], 'f')
  expect(edited).toContain('    // mine\n    "model": "opus", /* why not */\n')
  expect(edited).toContain('"./other.sh"')
  expect(ownCommands(edited, 'f')).toEqual(Array(6).fill(command))
  expect(withEntries(edited, claude, [command], 'f')).toBe(edited)
  expect(parse(withoutEntries(edited, 'f', text))).toEqual(parse(text))
})

it('replaces an older Skillrail entry, and removes its handler from a foreign group', () => {
  const mixed = {
    hooks: {
      UserPromptSubmit: [
        { hooks: [{ command: 'x/skillrail-hook claude 1/2' }, { command: 'mine' }] },
      ],
    },
  }
  const edited = withEntries(JSON.stringify(mixed), claude, [command], 'f')
  expect(ownCommands(edited, 'f')).toEqual(Array(6).fill(command))
  expect(parse(withoutEntries(edited, 'f'))).toEqual({
    hooks: { UserPromptSubmit: [{ hooks: [{ command: 'mine' }] }] },
  })
})

it.each([
  ['{ "a": 1,\n "hooks": [', 'f:2'],
  ['{\n "hooks": []\n}', 'f:2: `hooks` is not an object'],
  ['{\n\n "hooks": { "UserPromptSubmit": {} } }', 'f:3: `hooks.UserPromptSubmit` is not an array'],
  ['[]', 'f:1: it is not a JSON object'],
  ['hello', 'f:1: it is not JSON'],
])('refuses %j with the line', (text, message) => {
  expect(() => withEntries(text, claude, [command], 'f')).toThrow(message)
})

const settings = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue())
const others = fc.array(fc.record({ hooks: fc.array(fc.record({ command: fc.string() })) }), {
  maxLength: 3,
})

it('restores the file after installing and uninstalling', () => {
  fc.assert(
    fc.property(
      settings,
      others,
      fc.constantFrom(0, 2, '\t'),
      fc.nat({ max: 3 }),
      (rest, groups, indent, more) => {
        const hooks = groups.length === 0 ? {} : { hooks: { UserPromptSubmit: groups } }
        const value = { ...rest, ...hooks }
        if (groups.length === 0) delete value['hooks']
        const text = JSON.stringify(value, undefined, indent)
        const commands = Array.from({ length: more + 1 }, (_, part) => `${command} ${part}`)
        const installed = withEntries(text, claude, commands, 'f')
        expect(ownCommands(installed, 'f')).toEqual(expect.arrayContaining(commands))
        expect(JSON.parse(withoutEntries(installed, 'f', text))).toEqual(JSON.parse(text))
      },
    ),
  )
})

it.each([
  '{}',
  '{"a": 1, "hooks": {}}',
  '{"hooks":{"Stop":[]}}',
  '{"hooks":{"UserPromptSubmit":[]}}',
  '\ufeff{\r\n\t"model":"opus" // best\r\n}\r\n',
])('restores the values of %j, empty ones too', (text) => {
  const installed = withEntries(text, claude, [command], 'f')
  const rest = withoutEntries(installed, 'f', text)
  expect(parse(rest.replace('\ufeff', ''))).toEqual(parse(text.replace('\ufeff', '')))
  expect(rest.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'))
  for (const comment of text.match(/\/\/.*/g) ?? []) expect(rest).toContain(comment.trim())
})

it('keeps the version field for foreign hooks that were added later', () => {
  const installed = withEntries('{}', cursor, [command], 'f')
  const later = installed.replace('"hooks": {', '"hooks": { "stop": [],')
  expect(JSON.parse(withoutEntries(later, 'f', '{}'))).toEqual({ version: 1, hooks: { stop: [] } })
})
