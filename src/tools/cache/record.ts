import type { Diagnostic } from '../../core/diagnostic.ts'
import { isObject } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import type { JsonValue } from '../../skill/model.ts'
import { readStrings } from './cache-file.ts'
import type { ServerFailure } from './tool-index.ts'
import type { ToolDefinition } from '../model.ts'
import { type ProjectPlace, realProject, refreshRecordPath } from './places.ts'
import { readDefinition } from './sidecar.ts'

/**
 * What the last refreshes of a project saw on this machine: which servers answered, what was
 * generated and may therefore be generated anew, and which tools are no longer what they were.
 */
export interface RefreshRecord {
  version: 1
  /** Real path. */
  project: string
  refreshedAt: string
  servers: readonly RecordedServer[]
  tools: readonly RecordedTool[]
  /** Name in the cache → digest of the description and keywords that were generated for it. */
  categories: ReadonlyMap<string, string>
}

export interface RecordedServer {
  name: string
  /** Of its configuration: the name of its sidecar. */
  digest: string
  /** Whether its annotations were believed. */
  trusted: boolean
  /** When it was last listed, as an ISO date. */
  listedAt: string
  /** How long its list may be kept, where it says so. */
  ttlMs?: number | undefined
  failure?: Omit<ServerFailure, 'server'> | undefined
}

export interface RecordedTool {
  id: string
  /** Digests of what it is now. */
  description: string
  schema: string
  /** The category that was generated for it. */
  category?: string | undefined
  /** When it was last missing from its server's list. */
  removedAt?: string | undefined
  /** Set while it is not what it was when it was first seen, or last accepted. */
  before?: EarlierTool | undefined
}

export interface EarlierTool {
  /** Digests. */
  description: string
  schema: string
  changedAt: string
  /** What a user has accepted, to show what changed; undefined where it was not kept. */
  definition?: ToolDefinition | undefined
}

const maxBytes = 64 * 1024 * 1024

export interface RecordReading {
  record?: RefreshRecord | undefined
  diagnostics: readonly Diagnostic[]
}

/** The record of a project; one that is broken counts as none and is reported. */
export function readRefreshRecord(place: ProjectPlace): RecordReading {
  const path = refreshRecordPath(place)
  const file = readRegularFile(path, { maxBytes })
  if (!file.ok) {
    if (file.code === 'file-missing') return { diagnostics: [] }
    return broken(path, file.message)
  }
  let value: unknown
  try {
    value = JSON.parse(file.text)
  } catch {
    return broken(path, 'it is not JSON')
  }
  if (!isObject<JsonValue>(value) || value['version'] !== 1)
    return broken(path, 'it has no known version')
  if (value['project'] !== realProject(place.project)) return { diagnostics: [] }
  return { record: parseRecord(value), diagnostics: [] }
}

export function serializeRecord(record: RefreshRecord): string {
  return `${JSON.stringify({ ...record, categories: [...record.categories] })}\n`
}

function broken(path: string, problem: string): RecordReading {
  const message = `the record of the last refresh at ${path} cannot be used: ${problem}`
  const hint = 'Run `skillrail tools refresh` to write it anew.'
  return { diagnostics: [{ code: 'refresh-record', severity: 'warning', message, path, hint }] }
}

type Fields = Readonly<Record<string, unknown>>

function parseRecord(value: Fields): RefreshRecord {
  return {
    version: 1,
    project: text(value['project']),
    refreshedAt: text(value['refreshedAt']),
    servers: objects(value['servers']).map(parseServer),
    tools: objects(value['tools']).map(parseTool),
    categories: new Map(pairs(value['categories'])),
  }
}

function parseServer(value: Fields): RecordedServer {
  const { failure, ttlMs } = value
  return {
    name: text(value['name']),
    digest: text(value['digest']),
    trusted: value['trusted'] === true,
    listedAt: text(value['listedAt']),
    ttlMs: typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : undefined,
    failure: isObject<JsonValue>(failure)
      ? {
          message: text(failure['message']),
          stderrTail: text(failure['stderrTail']),
          notTrusted: failure['notTrusted'] === true ? true : undefined,
        }
      : undefined,
  }
}

function parseTool(value: Fields): RecordedTool {
  const { category, before, removedAt } = value
  return {
    id: text(value['id']),
    description: text(value['description']),
    schema: text(value['schema']),
    category: typeof category === 'string' ? category : undefined,
    removedAt: typeof removedAt === 'string' ? removedAt : undefined,
    before: isObject<JsonValue>(before)
      ? {
          description: text(before['description']),
          schema: text(before['schema']),
          changedAt: text(before['changedAt']),
          definition: isObject<JsonValue>(before['definition'])
            ? readDefinition(before['definition'], text(before['definition']['server']))
            : undefined,
        }
      : undefined,
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function objects(value: unknown): Fields[] {
  return Array.isArray(value)
    ? value.filter((item: unknown): item is Fields => isObject<JsonValue>(item))
    : []
}

function pairs(value: unknown): [string, string][] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    const [name, digest] = readStrings(item)
    return name === undefined || digest === undefined
      ? []
      : [[name, digest] satisfies [string, string]]
  })
}
