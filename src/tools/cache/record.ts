import { createRequire } from 'node:module'
import type * as Zod from 'zod'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { type ProjectPlace, realProject, refreshRecordPath } from './places.ts'
import { readDefinition } from './sidecar.ts'

/**
 * What the last refreshes of a project saw on this machine: which servers answered, what was
 * generated and may therefore be generated again, and which tools have changed.
 */
export type RefreshRecord = Zod.infer<ReturnType<typeof recordSchema>>
export type RecordedServer = RefreshRecord['servers'][number]
export type RecordedTool = RefreshRecord['tools'][number]
export type EarlierTool = NonNullable<RecordedTool['before']>

function recordSchema(z: typeof Zod) {
  const text = z.string()
  const definition = z
    .object({ server: text })
    .loose()
    .transform((value) => readDefinition(value, value.server))
  const server = z.object({
    name: text,
    /** Of its configuration: the name of its sidecar. */
    digest: text,
    /** Whether its annotations were believed. */
    trusted: z.boolean(),
    /** When it was last listed, as an ISO date. */
    listedAt: text,
    /** How long its list may be kept, where it says so. */
    ttlMs: z.number().nonnegative().optional(),
    failure: z
      .object({ message: text, stderrTail: text, notTrusted: z.boolean().optional() })
      .optional(),
  })
  const tool = z.object({
    id: text,
    /** Digests of what it is now. */
    description: text,
    schema: text,
    /** The category that was generated for it. */
    category: text.optional(),
    /** When it was last missing from its server's list. */
    removedAt: text.optional(),
    /** Set while it is not what it was when it was first seen, or last accepted. */
    before: z
      .object({
        description: text,
        schema: text,
        changedAt: text,
        /** What a user has accepted, to show what changed; undefined where it was not kept. */
        definition: definition.optional(),
      })
      .optional(),
  })
  return z.object({
    version: z.literal(1),
    /** Real path. */
    project: text,
    refreshedAt: text,
    servers: z.array(server).readonly(),
    tools: z.array(tool).readonly(),
    /** Name in the cache and digest of the description and keywords that were generated for it. */
    categories: z
      .array(z.tuple([text, text]))
      .transform((pairs): ReadonlyMap<string, string> => new Map(pairs)),
  })
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
    return file.code === 'file-missing' ? { diagnostics: [] } : broken(path, file.message)
  }
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  let value: unknown
  try {
    value = JSON.parse(file.text)
  } catch {
    return broken(path, 'it is not JSON')
  }
  const read = recordSchema(z).safeParse(value)
  if (!read.success) return broken(path, `at ${read.error.issues[0]?.path.join('.') ?? ''}`)
  // Two long paths can have one name of a file.
  const isOfProject = read.data.project === realProject(place.project)
  return { record: isOfProject ? read.data : undefined, diagnostics: [] }
}

export function serializeRecord(record: RefreshRecord): string {
  return `${JSON.stringify({ ...record, categories: [...record.categories] })}\n`
}

function broken(path: string, problem: string): RecordReading {
  const message = `the record of the last refresh at ${path} cannot be used: ${problem}`
  const hint = 'Run `skillrail tools refresh` to write it again.'
  return { diagnostics: [{ code: 'refresh-record', severity: 'warning', message, path, hint }] }
}
