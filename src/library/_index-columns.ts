import { sep } from 'node:path'
import type { Diagnostic } from '../base/index.ts'
import { cells, choice, list, number, optional, record, text } from './_decode.ts'
import type { Listing } from './_listing.ts'
import type { Metadata, SkillHead } from './_metadata.ts'
import type { DirectoryIdentity } from './_read-directory.ts'
import type { FileIdentity } from './_read-head.ts'
import { keyOf, type Position } from './walk.ts'

/** What the index of a location knows about one directory. */
export interface DirectoryRecord extends DirectoryIdentity {
  listing: Listing
  metadata: Metadata | undefined
}

/**
 * The records of a location as columns of one JSON document. Columns of numbers are read several
 * times faster than thousands of rows, and nothing of a record is built before it is asked for.
 */
export interface IndexColumns {
  /** When the scan began. What had changed shortly before may change again unnoticed. */
  readonly scannedAtMs: number
  readonly size: number
  /** The number of the record of a directory. */
  find: (at: Position) => number | undefined
  key: (row: number) => string
  /** Whether the directory is the one that was read, unchanged. */
  isDirectory: (row: number, stats: DirectoryIdentity) => boolean
  listing: (row: number) => Listing
  /** Whether the skill file is the one that was read, unchanged. */
  isFile: (row: number, identity: FileIdentity) => boolean
  metadata: (row: number) => Metadata
  record: (row: number) => DirectoryRecord
}

/** Raised when the form of the file changes, or when the same head is read differently. */
const formatVersion = 1

export function encodeColumns(
  identity: { root: string; engine: string; scannedAtMs: number },
  records: readonly (readonly [key: string, record: DirectoryRecord])[],
): string {
  const heads = records.map(([, { metadata }]) => metadata?.head)
  const files = records.map(([, { metadata }]) => metadata?.identity)
  return JSON.stringify({
    version: formatVersion,
    ...identity,
    keys: records.map(([key]) => key),
    ctimes: records.map(([, { ctimeMs }]) => ctimeMs),
    inodes: records.map(([, { ino }]) => ino),
    skillFiles: records.map(([, { listing }]) => listing.skillFile ?? 0),
    directories: records.map(([, { listing }]) => orZero(listing.directories)),
    links: records.map(([, { listing }]) => orZero(listing.links)),
    sizes: files.map((file) => file?.size ?? -1),
    mtimes: files.map((file) => file?.mtimeMs ?? 0),
    fileCtimes: files.map((file) => file?.ctimeMs ?? 0),
    fileInodes: files.map((file) => file?.ino ?? 0),
    bodyTokens: records.map(([, { metadata }]) => metadata?.bodyTokens ?? 0),
    names: heads.map((head) => head?.name ?? 0),
    descriptions: heads.map((head) => head?.description ?? 0),
    chains: heads.map((head) => (head?.isChain === true ? 1 : 0)),
    fields: heads.map((head) => head?.fields ?? 0),
    diagnostics: records.map(([, { metadata }]) => orZero(metadata?.diagnostics ?? [])),
  })
}

/** Throws when the text is no index of this version for this place. */
export function decodeColumns(
  source: string,
  expected: { root: string; engine: string },
): IndexColumns {
  const file = record(JSON.parse(source))
  choice(file['version'], [formatVersion])
  choice(file['engine'], [expected.engine])
  choice(file['root'], [expected.root])
  const keys = cells(file['keys'])
  const column = (name: string): readonly unknown[] => {
    const values = cells(file[name])
    if (values.length !== keys.length) throw new TypeError('a column is too short')
    return values
  }
  const [ctimes, inodes] = [column('ctimes'), column('inodes')]
  const [skillFiles, directories, links] = [
    column('skillFiles'),
    column('directories'),
    column('links'),
  ]
  const [sizes, mtimes] = [column('sizes'), column('mtimes')]
  const [fileCtimes, fileInodes] = [column('fileCtimes'), column('fileInodes')]
  const [names, descriptions] = [column('names'), column('descriptions')]
  const [chains, fields] = [column('chains'), column('fields')]
  const [bodyTokens, diagnostics] = [column('bodyTokens'), column('diagnostics')]

  const listing = (row: number): Listing => ({
    skillFile: skillFiles[row] === 0 ? undefined : text(skillFiles[row]),
    directories: directories[row] === 0 ? none : list(directories[row], text),
    links: links[row] === 0 ? none : list(links[row], text),
    problem: undefined,
  })
  const head = (row: number): SkillHead => ({
    name: text(names[row]),
    description: text(descriptions[row]),
    isChain: chains[row] === 1,
    fields: text(fields[row]),
  })
  const metadata = (row: number): Metadata => ({
    identity: {
      size: number(sizes[row]),
      mtimeMs: number(mtimes[row]),
      ctimeMs: number(fileCtimes[row]),
      ino: number(fileInodes[row]),
    },
    bodyTokens: number(bodyTokens[row]),
    head: fields[row] === 0 ? undefined : head(row),
    diagnostics: diagnostics[row] === 0 ? none : list(diagnostics[row], decodeDiagnostic),
  })
  return {
    scannedAtMs: number(file['scannedAtMs']),
    size: keys.length,
    find: rowFinder(keys),
    key: (row) => text(keys[row]),
    isDirectory: (row, { ctimeMs, ino }) => ctimes[row] === ctimeMs && inodes[row] === ino,
    listing,
    isFile: (row, { size, mtimeMs, ctimeMs, ino }) =>
      sizes[row] === size &&
      mtimes[row] === mtimeMs &&
      fileCtimes[row] === ctimeMs &&
      fileInodes[row] === ino,
    metadata,
    record: (row) => ({
      ctimeMs: number(ctimes[row]),
      ino: number(inodes[row]),
      listing: listing(row),
      metadata: sizes[row] === -1 ? undefined : metadata(row),
    }),
  }
}

const none: readonly never[] = Object.freeze([])

/** A search meets the directories in the order in which they were written, as long as none is new. */
function rowFinder(keys: readonly unknown[]): (at: Position) => number | undefined {
  let next = 0
  let rows: Map<unknown, number> | undefined
  return (at) => {
    if (isKey(keys[next], at)) return next++
    rows ??= new Map(keys.map((known, row) => [known, row]))
    const row = rows.get(keyOf(at))
    if (row !== undefined) next = row + 1
    return row
  }
}

/** `key === keyOf(at)` without making a text of it. */
function isKey(key: unknown, { parent, name }: Position): boolean {
  if (typeof key !== 'string') return false
  if (name === '') return key === ''
  return (
    key.length === parent.length + 1 + name.length &&
    key.endsWith(name) &&
    key[parent.length] === sep &&
    key.startsWith(parent)
  )
}

function orZero(values: readonly unknown[]): readonly unknown[] | 0 {
  return values.length === 0 ? 0 : values
}

function decodeDiagnostic(value: unknown): Diagnostic {
  const diagnostic = record(value)
  return {
    code: text(diagnostic['code']),
    severity: choice(diagnostic['severity'], ['error', 'warning', 'info']),
    message: text(diagnostic['message']),
    path: text(diagnostic['path']),
    line: optional(diagnostic['line'], number),
    column: optional(diagnostic['column'], number),
    hint: optional(diagnostic['hint'], text),
    source: optional(diagnostic['source'], text),
  }
}
