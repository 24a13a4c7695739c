import { isAbsolute } from 'node:path'
import { StateFileError, isObject } from '../base/index.ts'
import { type JsonPlace, offsetOf, syntaxErrorOffset } from './_json-offset.ts'
import { isDigest } from './_link.ts'
import type { AcceptedPart, Acceptance, ActingKind } from './model.ts'

const version = 1

/** The record as text, workspaces in the order given. */
export function serializeTrust(acceptances: readonly Acceptance[]): string {
  return `${JSON.stringify({ version, workspaces: acceptances }, undefined, 1)}\n`
}

/**
 * Reads the record. Every value is checked and copied, and what is not ours is refused as a whole:
 * half a record could trust what the user took back.
 *
 * @throws {StateFileError} `trust-file-newer`, or `trust-file-corrupt` with the place.
 */
export function parseTrust(text: string, path: string): Acceptance[] {
  const value = parseJson()
  if (!isObject(value)) return fail([], 'it must be an object')
  const found = value['version']
  if (typeof found === 'number' && found > version) throw newer(path, found)
  if (found !== version) return fail(['version'], `it must be ${version}`)
  const seen = new Set<string>()
  return list(value['workspaces'], ['workspaces']).map((item, index) => {
    const place = ['workspaces', index]
    const acceptance = readAcceptance(item, place)
    if (seen.has(acceptance.workspace)) return fail([...place, 'workspace'], 'it is there twice')
    seen.add(acceptance.workspace)
    return acceptance
  })

  function readAcceptance(item: unknown, place: JsonPlace): Acceptance {
    if (!isObject(item)) return fail(place, 'it must be an object')
    const { workspace, acceptedAt, pinned } = item
    if (typeof workspace !== 'string' || !isAbsolute(workspace)) {
      return fail([...place, 'workspace'], 'it must be an absolute path')
    }
    if (typeof acceptedAt !== 'string') return fail([...place, 'acceptedAt'], 'it must be a time')
    if (typeof pinned !== 'boolean') return fail([...place, 'pinned'], 'it must be true or false')
    const parts = list(item['parts'], [...place, 'parts']).map((part, index) =>
      readPart(part, [...place, 'parts', index]),
    )
    return { workspace, acceptedAt, pinned, parts }
  }

  function readPart(item: unknown, place: JsonPlace): AcceptedPart {
    if (!isObject(item)) return fail(place, 'it must be an object')
    const { owner, path: file, kind, digest, size } = item
    if (typeof owner !== 'string') return fail([...place, 'owner'], 'it must be text')
    if (typeof file !== 'string') return fail([...place, 'path'], 'it must be text')
    if (!isKind(kind)) return fail([...place, 'kind'], `it must be one of ${[...kinds].join(', ')}`)
    if (!isDigest(digest)) {
      return fail([...place, 'digest'], 'it must be a SHA-256 digest')
    }
    if (typeof size !== 'number') return fail([...place, 'size'], 'it must be a number')
    return { owner, path: file, kind, digest, size }
  }

  function list(item: unknown, place: JsonPlace): readonly unknown[] {
    return Array.isArray(item) ? item : fail(place, 'it must be a list')
  }

  function parseJson(): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw corrupt(path, `it is no JSON from offset ${syntaxErrorOffset(text)} on`)
    }
  }

  function fail(place: JsonPlace, problem: string): never {
    const at = place.length === 0 ? 'the whole' : place.join('.')
    throw corrupt(path, `${at} at offset ${offsetOf(text, place)} is wrong: ${problem}`)
  }
}

export function corrupt(path: string, problem: string): StateFileError {
  return new StateFileError({
    code: 'trust-file-corrupt',
    message: `the record of trusted workspaces ${path} is damaged: ${problem}`,
    hint: 'Mend it, or move it away and run skillrail trust again in the workspaces you trust.',
  })
}

function newer(path: string, found: number): StateFileError {
  return new StateFileError({
    code: 'trust-file-newer',
    message: `the record of trusted workspaces ${path} has version ${found}; this Skillrail knows ${version}`,
    hint: 'Use the newer Skillrail; the file was not touched.',
  })
}

function isKind(value: unknown): value is ActingKind {
  return typeof value === 'string' && kinds.has(value)
}

const kindTable = {
  script: true,
  run: true,
  hooks: true,
  'allowed-tools': true,
  chain: true,
  fork: true,
  agent: true,
  mcp: true,
  workflow: true,
  'client-hooks': true,
  configuration: true,
  text: true,
} as const satisfies Record<ActingKind, true>

const kinds: ReadonlySet<string> = new Set(Object.keys(kindTable))
