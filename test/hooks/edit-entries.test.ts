import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { expect, it } from 'vitest'
import { adapters } from '../../src/hooks/adapters.ts'
import { madeFor, ownCommands, withEntry, withoutEntries } from '../../src/hooks/edit-entries.ts'

const claude = adapters.claude.registration
const cursor = adapters.cursor.registration
if (claude.kind !== 'entry' || cursor.kind !== 'entry') throw new Error('no entries')
const command = '/data/skillrail/hook/skillrail-hook claude'

it('makes a file that is not there', () => {
  expect(JSON.parse(withEntry(undefined, claude, [command], 'f'))).toEqual({
    hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command, timeout: 10 }] }] },
  })
  expect(JSON.parse(withEntry(' \n', cursor, ['c'], 'f'))).toMatchObject({ version: 1 })
})

it('keeps comments, order, indentation and the hooks of others', () => {
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
  const edited = withEntry(text, claude, [command], 'f')
  expect(edited).toContain('    // mine\n    "model": "opus", /* why not */\n')
  expect(edited).toContain('"./other.sh"')
  expect(ownCommands(edited, claude, 'f')).toEqual([command])
  expect(withEntry(edited, claude, [command], 'f')).toBe(edited)
  expect(parse(withoutEntries(edited, claude, 'f'))).toEqual(parse(text))
})

it('replaces an older entry of ours, and takes a handler out of a group of others', () => {
  const mixed = {
    hooks: {
      UserPromptSubmit: [
        { hooks: [{ command: 'x/skillrail-hook claude 1/2' }, { command: 'mine' }] },
      ],
    },
  }
  const edited = withEntry(JSON.stringify(mixed), claude, [command], 'f')
  expect(ownCommands(edited, claude, 'f')).toEqual([command])
  expect(parse(withoutEntries(edited, claude, 'f'))).toEqual({
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
  expect(() => withEntry(text, claude, [command], 'f')).toThrow(message)
})

const settings = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue())
const others = fc.array(fc.record({ hooks: fc.array(fc.record({ command: fc.string() })) }), {
  maxLength: 3,
})

it('leaves after installing and uninstalling what was there', () => {
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
        const installed = withEntry(text, claude, commands, 'f')
        expect(ownCommands(installed, claude, 'f')).toEqual(commands)
        expect(JSON.parse(withoutEntries(installed, claude, 'f'))).toEqual(JSON.parse(text))
      },
    ),
  )
})

const foreign = '{ "hooks": [{ "type":"command","command":"echo hi" /* why */ }] }'

it.each([
  [
    'a comma and comments behind the last entry',
    `{\n  "hooks": {\n    "UserPromptSubmit": [ ${foreign}, // keep me\n      // and me\n    ],\n  },\n}\n`,
  ],
  [
    'a comment on the line of the last entry',
    `{\n  "hooks": {\n    "UserPromptSubmit": [\n      ${foreign} // theirs\n    ]\n  }\n}\n`,
  ],
  ['everything on one line', `{ "hooks": { "UserPromptSubmit": [ ${foreign} /* , */ ] } }`],
  ['a list with a comment only', '{\n  "hooks": { "UserPromptSubmit": [ /* none */ ] }\n}\n'],
  ['no list', '{\n  "hooks": { "Stop":[{"a":1}] /* stop */ }\n}\n'],
  ['no hooks, other line ends, a mark', '\ufeff{\r\n\t"model":"opus" // best\r\n}\r\n'],
])('takes out exactly what it put in beside %s', (_, text) => {
  const installed = withEntry(text, claude, [command], 'f')
  expect(ownCommands(installed, claude, 'f')).toEqual([command])
  // Everything of the file is there still, in its order.
  let at = 0
  for (const character of text) {
    at = installed.indexOf(character, at) + 1
    expect(at).toBeGreaterThan(0)
  }
  const own = installed.indexOf('skillrail-hook')
  for (const comment of text.match(/\/\/.*|\/\*.*?\*\//g) ?? []) {
    expect(installed.indexOf(comment)).toBeGreaterThan(-1)
    expect(installed.indexOf(comment)).toBeLessThan(own)
  }
  expect(withoutEntries(installed, claude, 'f')).toBe(text)
})

it('keeps what others wrote around our entry later', () => {
  const text = `{ "hooks": { "UserPromptSubmit": [\n  ${foreign}, // keep me\n] } }\n`
  const installed = withEntry(text, claude, [command], 'f')
  const close = installed.lastIndexOf('\n]')
  const later = `${installed.slice(0, close)} // ours\n  {"command":"late"}${installed.slice(close)}`
  expect(withoutEntries(later, claude, 'f')).toBe(
    `{ "hooks": { "UserPromptSubmit": [\n  ${foreign}, // keep me\n   // ours\n  {"command":"late"}\n] } }\n`,
  )
  const inline = '{"hooks":{"UserPromptSubmit":[ // first\n{"command":"skillrail-hook"}, {"a":1}]}}'
  expect(withoutEntries(inline, claude, 'f')).toBe(
    '{"hooks":{"UserPromptSubmit":[ // first\n {"a":1}]}}',
  )
})

const containers = ['{}', '{ }', '{"a": 1, "hooks": {}}', '{\n  "hooks": { },\n  "b": 2\n}\n']
const lists = [
  '{ "hooks": {\n  }, "a":1 }',
  '{"hooks":{"UserPromptSubmit":[ ]}}',
  '{\n\t"hooks": {\n\t\t"UserPromptSubmit": [\n\t\t]\n\t}\n}',
  '{"hooks":{"Stop":[]}}',
  `{"hooks":{"UserPromptSubmit":[${foreign}]}}`,
]

it.each([...containers, ...lists])(
  'gives %j back, the empty things that were there too',
  (text) => {
    const made = madeFor(text, claude, 'f')
    const installed = withEntry(text, claude, [command], 'f')
    expect(withoutEntries(installed, claude, 'f', made)).toBe(text)
    const again = withEntry(installed, claude, [`${command} 1/2`, `${command} 2/2`], 'f')
    expect(withoutEntries(again, claude, 'f', made)).toBe(text)
  },
)

it.each(['{}', '{ }', '{\n}\n', '{"version":1}', '{ "version": 1, "hooks": {} }'])(
  'gives %j back to Cursor, with the version only where it was there',
  (text) => {
    const made = madeFor(text, cursor, 'f')
    const installed = withEntry(text, cursor, [command], 'f')
    expect(JSON.parse(installed)).toMatchObject({ version: 1 })
    expect(withoutEntries(installed, cursor, 'f', made)).toBe(text)
  },
)

it('leaves the version that it wrote to the hooks of others that have come since', () => {
  const made = madeFor('{}', cursor, 'f')
  const installed = withEntry('{}', cursor, [command], 'f')
  const later = installed.replace('"hooks": {', '"hooks": { "stop": [],')
  expect(JSON.parse(withoutEntries(later, cursor, 'f', made))).toEqual({
    version: 1,
    hooks: { stop: [] },
  })
})

it('undoes an installation to the byte whatever else has changed since', () => {
  const blanks = fc.constantFrom('', ' ', '\n', '\n  ', '\r\n\t', '  ')
  const text = fc
    .tuple(blanks, blanks, blanks, blanks, fc.constantFrom('none', 'hooks', 'list', 'other'))
    .map(([a, b, c, d, kind]) => {
      const inner = {
        none: '',
        hooks: `,${b}"hooks":${c}{${d}}`,
        list: `,${b}"hooks":${c}{"UserPromptSubmit":${d}[${c}]}`,
        other: `,${b}"hooks":{${c}"Stop":[${d}]${b}}`,
      }[kind]
      return `{${a}"edited": 1${inner}${a}}`
    })
  fc.assert(
    fc.property(text, (before) => {
      const made = madeFor(before, claude, 'f')
      const installed = withEntry(before, claude, [command], 'f')
      const edited = installed.replace('"edited": 1', '"edited": [2, 3]')
      const after = withoutEntries(edited, claude, 'f', made)
      expect(after).toBe(before.replace('"edited": 1', '"edited": [2, 3]'))
    }),
  )
})
