import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseDirective, readDirective } from '../../../src/tools/call/directive-text.ts'
import { ToolRequestError } from '../../../src/tools/errors.ts'

const two = '[{"tool": "screenshot"}, {"tool": "click", "params": {"selector": "#btn"}}]'
const steps = [
  { tool: 'screenshot', params: {} },
  { tool: 'click', params: { selector: '#btn' } },
]

it.each([
  [`BATCH: ${two}`],
  [`Please do BATCH: ${two} and tell me.`],
  [`BATCH:${two}`],
  [`BATCH:\n${two}\n`],
  [two],
  [`\uFEFF  ${two}\n`],
])('reads the batch in %j', (text) => {
  expect(parseDirective(text, 'batch')).toMatchObject(steps)
})

it('reads a chain with its variables', () => {
  const text =
    'CHAIN: [{"tool": "get_element", "params": {"selector": "#btn"}, "output_as": "el"}, {"tool": "click", "params": {"element": "$el"}}]'
  expect(parseDirective(text, 'chain')).toEqual([
    { tool: 'get_element', params: { selector: '#btn' }, outputAs: 'el' },
    { tool: 'click', params: { element: '$el' }, outputAs: undefined },
  ])
})

it.each([
  ['a batch: [1, 2] in lower case'],
  ['BATCH: of cookies'],
  ['DEBATCH: [1]'],
  ['MY_CHAIN: [1]'],
  ['the word CHAIN: and nothing'],
  [''],
])('reads no directive in %j', (text) => {
  expect(readDirective(text)).toBeUndefined()
})

it.each([
  ['BATCH: [{"tool": "x"}', 'its list is never closed'],
  ['BATCH: [{"tool": "x"},]', 'its list is not JSON'],
  ['BATCH: ["x"]', 'member 1 must be an object'],
  ['BATCH: [{"tool": "x"}, {"params": {}}]', 'member 2 has no "tool"'],
  ['BATCH: [{"tool": "x", "params": [1]}]', 'has "params" that are not an object'],
  ['BATCH: [{"tool": "x", "output_as": "y"}]', 'which only a chain can have'],
  ['CHAIN: [{"tool": "x", "output_as": "a b"}]', 'not a name of letters, digits and _'],
  [`BATCH: ${two} then CHAIN: ${two}`, 'only one BATCH or CHAIN'],
])('reports %s as invalid: %s', (text, message) => {
  expect(() => readDirective(text)).toThrow(message)
})

it('distinguishes a batch from a chain if the caller requires one of them', () => {
  expect(() => parseDirective(`BATCH: ${two}`, 'chain')).toThrow(
    'the chain cannot be read: this is a batch, not a chain',
  )
})

it('ignores brackets and directives inside strings', () => {
  const params = { text: 'a ] } [ "quoted" \\ CHAIN: [x]' }
  const text = `go BATCH: ${JSON.stringify([{ tool: 'echo', params }])} now`
  expect(readDirective(text)).toMatchObject({ kind: 'batch', steps: [{ tool: 'echo', params }] })
})

it('reads every batch that was written into prose', () => {
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,20}$/)
  const step = fc.record({ tool: name, params: fc.dictionary(fc.string(), fc.jsonValue()) })
  const prose = fc.string().filter((text) => !/BATCH|CHAIN/.test(text))
  fc.assert(
    fc.property(prose, fc.array(step), prose, (before, written, after) => {
      const reading = readDirective(`${before} BATCH: ${JSON.stringify(written)} ${after}`)
      expect(reading).toMatchObject({
        kind: 'batch',
        steps: JSON.parse(JSON.stringify(written)),
      })
    }),
  )
})

it('reads a directive, refuses it or reports none for any text', () => {
  const piece = fc.constantFrom(
    'BATCH:',
    'CHAIN:',
    ' ',
    '[',
    ']',
    '{',
    '}',
    '"',
    '\\',
    '"tool":',
    ',',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
      const read = () => readDirective(pieces.join(''))?.kind
      let kind: string | undefined
      try {
        kind = read()
      } catch (error) {
        if (!(error instanceof ToolRequestError)) throw error
      }
      expect(['batch', 'chain', undefined]).toContain(kind)
    }),
  )
})
