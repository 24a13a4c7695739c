import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { StateFileError } from '../../src/core/errors.ts'
import { parseTrust, serializeTrust, TrustStore } from '../../src/trust/store.ts'
import type { ActingPart } from '../../src/trust/model.ts'
import { runtimeIn, temporaryDirectory } from './_project.ts'

function part(text: string, facts: Partial<ActingPart> = {}): ActingPart {
  const path = '.skillrail/skills/a/scripts/run.sh'
  return {
    owner: '.skillrail/skills/a',
    path,
    kind: 'script',
    digest: sha256(text),
    size: text.length,
    text,
    ...facts,
  }
}

function newStore(): TrustStore {
  return new TrustStore(runtimeIn(temporaryDirectory()))
}

function storeHolding(text: string): TrustStore {
  const store = newStore()
  mkdirSync(dirname(store.path), { recursive: true })
  writeFileSync(store.path, text)
  return store
}

describe('the store', () => {
  it('is empty before the first acceptance, and reading creates no file', () => {
    const store = newStore()
    expect(store.read()).toEqual({ acceptances: [], diagnostics: [] })
    expect(store.find('/nowhere')).toBeUndefined()
    expect(statSync(store.path, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('stores, replaces and revokes an acceptance', async () => {
    const store = newStore()
    await store.accept('/w/a', [part('one')])
    await store.accept('/w/b', [])
    await store.accept('/w/a', [part('two')], { pinned: true })
    expect(store.find('/w/a')).toMatchObject({
      acceptedAt: '2026-11-21T00:00:00.000Z',
      pinned: true,
      parts: [{ kind: 'script', digest: sha256('two'), size: 3 }],
    })
    expect(store.find('/w/b')).toMatchObject({ workspace: '/w/b', pinned: false, parts: [] })
    expect(store.read().acceptances.map((item) => item.workspace)).toEqual(['/w/a', '/w/b'])
    expect(await store.revoke('/w/a')).toBe(true)
    expect(await store.revoke('/w/a')).toBe(false)
    expect(store.read().acceptances.map((item) => item.workspace)).toEqual(['/w/b'])
  })

  it.runIf(process.platform !== 'win32')('is readable by its owner alone', async () => {
    const store = newStore()
    await store.accept('/w/a', [part('text')])
    expect(statSync(store.path).mode & 0o777).toBe(0o600)
    const texts = join(dirname(store.path), 'trust')
    for (const name of readdirSync(texts)) {
      expect(statSync(join(texts, name)).mode & 0o777).toBe(0o600)
    }
  })

  it('keeps accepted texts for a diff, and drops texts that are no longer needed', async () => {
    const store = newStore()
    await store.accept('/w/a', [part('one')])
    await store.accept('/w/b', [part('one'), part('two', { path: 'x' })])
    await store.revoke('/w/b')
    expect(store.texts.read(sha256('one'))).toBe('one')
    expect(store.texts.read(sha256('two'))).toBeUndefined()
  })

  it('finds the texts that earlier versions kept', async () => {
    const store = newStore()
    const texts = join(dirname(store.path), 'trust')
    await store.accept('/w/a', [part('one')])
    expect(readdirSync(texts)).toEqual([`${sha256('one').slice('sha256:'.length)}.txt`])
  })

  it('keeps no text with another digest, and drops no text that is needed', async () => {
    const store = newStore()
    const texts = join(dirname(store.path), 'trust')
    await store.accept('/w/a', [part('one')])
    await store.accept('/w/b', [part('one'), part('another', { path: 'x', digest: sha256('two') })])
    expect(store.texts.read(sha256('one'))).toBe('one')
    expect(readdirSync(texts)).toHaveLength(1)
  })

  it('writes nothing if there is nothing to revoke, and an empty record after the last revocation', async () => {
    const store = newStore()
    expect(await store.revoke('/w/a')).toBe(false)
    expect(statSync(store.path, { throwIfNoEntry: false })).toBeUndefined()
    await store.accept('/w/a', [])
    await store.revoke('/w/a')
    expect(JSON.parse(readFileSync(store.path, 'utf8'))).toEqual({ version: 1, workspaces: [] })
  })

  it('keeps no text that contains a secret', async () => {
    const store = newStore()
    const text = 'API_KEY=abcdefghijklmnop\n'
    await store.accept('/w/a', [part(text)])
    expect(store.texts.read(sha256(text))).toBeUndefined()
  })

  it('does not return a kept text that was edited', async () => {
    const store = newStore()
    await store.accept('/w/a', [part('one')])
    const texts = join(dirname(store.path), 'trust')
    for (const name of readdirSync(texts)) writeFileSync(join(texts, name), 'another')
    expect(store.texts.read(sha256('one'))).toBeUndefined()
    expect(store.texts.read('../../../etc/passwd')).toBeUndefined()
  })

  it.each([
    ['is not a regular file', 'is not a regular file'],
    [undefined, 'cannot be read'],
  ])('accepts no part that cannot be read: %s', async (problem, said) => {
    const store = newStore()
    const broken = part('', { digest: 'unreadable', problem })
    await expect(store.accept('/w/a', [part('one'), broken])).rejects.toMatchObject({
      code: 'trust-part-unreadable',
      message: `.skillrail/skills/a/scripts/run.sh ${said}, so it cannot be verified`,
      hint: 'Remove it or make it readable, then trust the workspace again.',
    })
    expect(store.find('/w/a')).toBeUndefined()
  })
})

const entry = { workspace: '/w', acceptedAt: 't', pinned: false, parts: [] as unknown[] }
const stored = { owner: '', path: 'a', kind: 'script', digest: sha256(''), size: 0 }
const file = (workspaces: unknown, version: unknown = 1) => JSON.stringify({ version, workspaces })

describe('a record that Skillrail did not write', () => {
  it.each([
    ['empty', '', 'it is not JSON'],
    ['cut off', '{"version": 1, "workspaces": [', 'it is not JSON'],
    ['not JSON', 'xyz', 'it is not JSON'],
    ['commented', '{ /* hello */ "version": 1 }', 'it is not JSON'],
    ['a list', '[]', 'its version must be from 1 to 3'],
    ['without a version', '{"workspaces": []}', 'its version must be from 1 to 3'],
    ['with a wrong version', '{"version": "1"}', 'its version must be from 1 to 3'],
    ['without workspaces', file(undefined), 'it must have a list of workspaces'],
    ['with a number for an entry', file([7]), 'entry 1 of workspaces'],
    ['with a relative path', file([{ ...entry, workspace: 'w' }]), 'entry 1 of workspaces'],
    ['with a workspace twice', file([entry, entry]), '/w is there twice'],
    ['with pinned as text', file([{ ...entry, pinned: 'no' }]), 'entry 1 of workspaces'],
    [
      'with an unknown kind',
      file([{ ...entry, parts: [{ ...stored, kind: 'x' }] }]),
      'entry 1 of workspaces',
    ],
    [
      'with an unreadable digest',
      file([{ ...entry, parts: [{ ...stored, digest: 'unreadable' }] }]),
      'entry 1 of workspaces',
    ],
    [
      'with a prototype',
      '{"version":1,"workspaces":[{"__proto__":{"workspace":"/w"}}]}',
      'entry 1 of workspaces',
    ],
  ])('is refused if it is %s', async (_what, text, sentence) => {
    const store = storeHolding(text)
    expect(store.read()).toMatchObject({
      acceptances: [],
      diagnostics: [{ code: 'trust-file-corrupt', severity: 'error', path: store.path }],
    })
    expect(store.read().diagnostics[0]?.message).toContain(sentence)
    expect(store.read().diagnostics[0]?.message).toContain(store.path)
    expect(() => store.find('/w')).toThrow(StateFileError)
    await expect(store.accept('/w', [])).rejects.toThrow(StateFileError)
    await expect(store.revoke('/w')).rejects.toThrow(StateFileError)
    expect(readFileSync(store.path, 'utf8')).toBe(text)
  })

  it('is refused and left unchanged if a newer Skillrail wrote it', async () => {
    const text = file([entry], 4)
    const store = storeHolding(text)
    expect(store.read().diagnostics[0]?.code).toBe('trust-file-newer')
    await expect(store.accept('/w', [])).rejects.toMatchObject({ code: 'trust-file-newer' })
    expect(readFileSync(store.path, 'utf8')).toBe(text)
  })

  it('is refused if it is a directory', async () => {
    const store = newStore()
    mkdirSync(store.path, { recursive: true })
    expect(store.read().diagnostics[0]?.message).toContain('is a directory')
    await expect(store.accept('/w', [])).rejects.toMatchObject({ code: 'trust-file-corrupt' })
  })
})

describe('the record as text', () => {
  const name = fc.string({ minLength: 1 })
  const accepted = fc.record({
    owner: name,
    path: name,
    kind: fc.constantFrom('script' as const, 'hooks' as const, 'text' as const),
    digest: name.map(sha256),
    size: fc.nat(),
  })
  const acceptances = fc.uniqueArray(
    fc.record({
      workspace: name.map((text) => `/${text}`),
      acceptedAt: name,
      pinned: fc.boolean(),
      parts: fc.array(accepted, { maxLength: 5 }),
    }),
    { selector: (item) => item.workspace },
  )

  it('reads back as it was written', () => {
    fc.assert(
      fc.property(acceptances, (items) => {
        expect(parseTrust(serializeTrust(items), 'f')).toEqual(items)
      }),
    )
  })

  it('is read or refused, whatever the text is', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((value) => file(value)),
      fc.tuple(acceptances, fc.nat(), fc.string()).map(([items, at, noise]) => {
        const text = serializeTrust(items)
        return text.slice(0, at % text.length) + noise + text.slice((at % text.length) + 1)
      }),
    )
    fc.assert(
      fc.property(anything, (text) => {
        const read = attempt(() => parseTrust(text, 'f'))
        const workspaces = Array.isArray(read) ? read.map((item) => item.workspace) : []
        expect(Array.isArray(read) || read instanceof StateFileError).toBe(true)
        expect(workspaces.every((path) => path.startsWith('/'))).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

function attempt(action: () => unknown): unknown {
  try {
    return action()
  } catch (error) {
    return error
  }
}
