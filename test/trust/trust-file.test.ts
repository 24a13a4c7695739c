import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { StateFileError } from '../../src/core/errors.ts'
import { parseTrust, serializeTrust } from '../../src/trust/store.ts'

const part = { owner: '', path: 'a', kind: 'script', digest: sha256(''), size: 0 }
const accepted = { workspace: '/w', acceptedAt: 't', pinned: false, parts: [part] }
const kinds =
  'script, run, hooks, allowed-tools, chain, fork, agent, mcp, workflow, client-hooks, ' +
  'configuration, text'

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
  it.each([
    ['workspace', 'w', 'it must be an absolute path'],
    ['workspace', 7, 'it must be an absolute path'],
    ['acceptedAt', 7, 'it must be a time'],
    ['pinned', 'no', 'it must be true or false'],
    ['parts', {}, 'it must be a list'],
  ])('%s as %j is shown with its place', (field, value, problem) => {
    const text = record([accepted, { ...accepted, workspace: '/x', [field]: value }])
    const at = text.lastIndexOf(`"${field}":`) + field.length + 3
    expect(damage(text)).toBe(`workspaces.1.${field} at offset ${at} is wrong: ${problem}`)
  })

  it.each([
    ['owner', 7, 'it must be text'],
    ['path', null, 'it must be text'],
    ['kind', 'x', `it must be one of ${kinds}`],
    ['kind', 7, `it must be one of ${kinds}`],
    ['digest', 7, 'it must be a SHA-256 digest'],
    ['digest', `x${sha256('')}`, 'it must be a SHA-256 digest'],
    ['digest', `${sha256('')}0`, 'it must be a SHA-256 digest'],
    ['digest', sha256('').toUpperCase(), 'it must be a SHA-256 digest'],
    ['size', '0', 'it must be a number'],
  ])('%s of a part as %j is shown with its place', (field, value, problem) => {
    const text = record([{ ...accepted, parts: [part, { ...part, [field]: value }] }])
    const at = text.lastIndexOf(`"${field}":`) + field.length + 3
    expect(damage(text)).toBe(`workspaces.0.parts.1.${field} at offset ${at} is wrong: ${problem}`)
  })

  it.each([
    ['an entry', record([7]), 'workspaces.0'],
    ['a part', record([{ ...accepted, parts: [7] }]), 'workspaces.0.parts.0'],
    ['a part that is nothing', record([{ ...accepted, parts: [null] }]), 'workspaces.0.parts.0'],
    ['a part that is a list', record([{ ...accepted, parts: [[]] }]), 'workspaces.0.parts.0'],
  ])('%s that is not an object is shown with its place', (_what, text, place) => {
    const at = /(7|null|\[\])\]/.exec(text)?.index
    expect(damage(text)).toBe(`${place} at offset ${at} is wrong: it must be an object`)
  })

  it('that is missing is shown with the place of what it is missing from', () => {
    const { pinned: _none, ...rest } = accepted
    const text = record([accepted, { ...rest, workspace: '/x' }])
    const at = text.lastIndexOf('{"workspace"')
    expect(damage(text)).toBe(
      `workspaces.1.pinned at offset ${at} is wrong: it must be true or false`,
    )
  })

  it('comes with what to do', () => {
    expect(refusal('[]').hint).toBe(
      'Fix it, or move it away and run skillrail trust again in the workspaces you trust.',
    )
  })
})

describe('the version of the record', () => {
  it('may not be newer', () => {
    const { code, message, hint } = refusal(record([], 2))
    expect([code, message, hint]).toEqual([
      'trust-file-newer',
      'the record of trusted workspaces /state/trust.json has version 2; this Skillrail knows 1',
      'Use the newer Skillrail; the file was not touched.',
    ])
  })

  it.each([0, '2', null])('may not be %j', (version) => {
    expect(damage(record([], version))).toBe('version at offset 11 is wrong: it must be 1')
  })
})

it.each(kinds.split(', '))('a part of the kind %s is read back', (kind) => {
  const text = record([{ ...accepted, parts: [{ ...part, kind, more: 1 }], more: 1 }])
  const read = parseTrust(text, 'f')
  expect(read).toEqual([{ ...accepted, parts: [{ ...part, kind }] }])
  expect(parseTrust(serializeTrust(read), 'f')).toEqual(read)
})
