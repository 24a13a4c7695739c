import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { StateFileError } from '../../src/core/errors.ts'
import { actingKinds, skillPart } from '../../src/trust/model.ts'
import { parseTrust, serializeTrust } from '../../src/trust/store.ts'

const part = { owner: '', path: 'a', kind: 'script', digest: sha256(''), size: 0 }
const accepted = { workspace: '/w', acceptedAt: 't', pinned: false, parts: [part] }

function refusal(text: string): StateFileError {
  try {
    parseTrust(text, '/state/trust.json')
  } catch (error) {
    if (error instanceof StateFileError) return error
    throw error
  }
  throw new Error('it was read')
}

function record(workspaces: unknown, version: unknown = 1): string {
  return JSON.stringify({ version, workspaces })
}

function damage(text: string): string {
  const before = 'the record of trusted workspaces /state/trust.json is damaged: '
  const { code, message } = refusal(text)
  expect([code, message.slice(0, before.length)]).toEqual(['trust-file-corrupt', before])
  return message.slice(before.length)
}

describe('a value of the record that is wrong', () => {
  const invalid = 'entry 2 of workspaces has an invalid path, time, pin or part'

  it.each([
    ['workspace', 'w'],
    ['workspace', 7],
    ['acceptedAt', 7],
    ['pinned', 'no'],
    ['pinned', undefined],
    ['parts', {}],
    ['parts', [7]],
    ['parts', [null]],
    ['parts', [[]]],
  ])('is refused with the number of its entry: %s as %j', (field, value) => {
    const text = record([accepted, { ...accepted, workspace: '/x', [field]: value }])
    expect(damage(text)).toBe(invalid)
  })

  it.each([
    ['owner', 7],
    ['path', null],
    ['kind', 'x'],
    ['kind', 7],
    ['digest', 7],
    ['digest', `x${sha256('')}`],
    ['digest', `${sha256('')}0`],
    ['digest', sha256('').toUpperCase()],
    ['size', '0'],
  ])('is refused in a part with the number of its entry: %s as %j', (field, value) => {
    const parts = [part, { ...part, [field]: value }]
    expect(damage(record([accepted, { ...accepted, workspace: '/x', parts }]))).toBe(invalid)
  })

  it('is refused with a hint', () => {
    expect(refusal('[]').hint).toBe('Fix it, or move it away and run skillrail trust again.')
  })
})

describe('the version of the record', () => {
  it('is refused if it is newer', () => {
    const { code, message, hint } = refusal(record([], 4))
    expect([code, message, hint]).toEqual([
      'trust-file-newer',
      'the record of trusted workspaces /state/trust.json has version 4; this Skillrail knows 3',
      'Use the newer Skillrail; the file was not touched.',
    ])
  })

  it.each([0, '2', null])('is refused if it is %j', (version) => {
    expect(damage(record([], version))).toBe('its version must be from 1 to 3')
  })
})

it('an entry for single skills has version 2, which older programs refuse, and is read back', () => {
  const [whole] = parseTrust(record([accepted]), 'f')
  if (whole === undefined) throw new Error('it has no entry')
  const text = serializeTrust([{ ...whole, skills: ['s'] }])
  expect(JSON.parse(text)).toMatchObject({ version: 2 })
  expect(parseTrust(text, 'f')).toEqual([{ ...accepted, skills: ['s'] }])
  expect(JSON.parse(serializeTrust([whole]))).toMatchObject({ version: 1 })
})

it('an entry that names skills has version 3, and is read back', () => {
  const entry = { ...accepted, newText: true, parts: [skillPart('skills/a')] }
  const text = serializeTrust([entry])
  expect(JSON.parse(text)).toMatchObject({ version: 3 })
  expect(parseTrust(text, '/state/trust.json')).toEqual([entry])
})

it.each(actingKinds)('a part of the kind %s is read back', (kind) => {
  const text = record([{ ...accepted, parts: [{ ...part, kind, more: 1 }], more: 1 }])
  const read = parseTrust(text, 'f')
  expect(read).toEqual([{ ...accepted, parts: [{ ...part, kind }] }])
  expect(parseTrust(serializeTrust(read), 'f')).toEqual(read)
})
