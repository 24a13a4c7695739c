import { compareText } from '../../core/diagnostic.ts'
import type { ToolDefinition } from '../model.ts'
import { type CachedTool, cutDescription } from './cache-file.ts'
import { digestTool, type RecordedTool, type RefreshRecord } from './stored-tools.ts'

export interface ToolChanges {
  added: readonly string[]
  removed: readonly string[]
  changed: readonly ChangedTool[]
  /** Tools that had the mark of an earlier change, or would have it now, and were accepted. */
  accepted: readonly string[]
}

export interface ChangedTool {
  id: string
  what: readonly ('description' | 'schema')[]
}

interface TrackInput {
  listed: readonly ToolDefinition[]
  /** Ids that are there, the listed ones and those kept from before. */
  current: ReadonlySet<string>
  /** Ids that the cache file had, with what it said. */
  cached: ReadonlyMap<string, CachedTool>
  record?: RefreshRecord | undefined
  earlier: (id: string) => ToolDefinition | undefined
  at: string
  /** Takes every tool as it is now: what changed before is no longer held against it. */
  accept: boolean
}

/**
 * Follows each tool from refresh to refresh. One whose description or schema changes keeps the mark
 * until it is accepted or changes back, also when it was away in between: a server must not swap a
 * tool that was looked at for another one. One that comes to a server that was listed before is
 * marked too, with empty digests.
 */
export function trackTools(input: TrackInput): {
  changes: ToolChanges
  tools: readonly RecordedTool[]
} {
  const { record, current, cached, at } = input
  const before = new Map(record?.tools.map((tool) => [tool.id, tool]))
  const tools = new Map<string, RecordedTool>()
  const changed: ChangedTool[] = []
  const accepted: string[] = []
  for (const tool of input.listed) {
    const known = before.get(tool.id)
    const now = { id: tool.id, ...digestTool(tool) }
    const mark = markOf(now, known, input, tool.server)
    tools.set(tool.id, { ...now, before: input.accept ? undefined : mark })
    if (input.accept && mark !== undefined) accepted.push(tool.id)
    const what = known === undefined ? textChange(tool, cached.get(tool.id)) : parts(now, known)
    if (what.length > 0) changed.push({ id: tool.id, what })
  }
  for (const [id, known] of before) {
    if (tools.has(id)) continue
    const gone = current.has(id) ? undefined : (known.removedAt ?? at)
    const mark = input.accept ? undefined : known.before
    tools.set(id, { ...known, before: mark, removedAt: gone })
    if (input.accept && known.before !== undefined && gone === undefined) accepted.push(id)
  }
  const sorted = [...tools.values()].toSorted((a, b) => compareText(a.id, b.id))
  return {
    changes: {
      added: [...current].filter((id) => !cached.has(id)).toSorted(compareText),
      removed: [...cached.keys()].filter((id) => !current.has(id)).toSorted(compareText),
      changed: changed.toSorted((a, b) => compareText(a.id, b.id)),
      accepted: accepted.toSorted(compareText),
    },
    tools: sorted,
  }
}

function markOf(
  now: ToolDigests & { id: string },
  known: RecordedTool | undefined,
  { at, earlier, record }: TrackInput,
  server: string,
): RecordedTool['before'] {
  if (known === undefined) {
    const isKnown = record?.servers.some(({ name, listedAt }) => name === server && listedAt !== '')
    return isKnown ? { description: '', schema: '', changedAt: at } : undefined
  }
  const { description, schema } = known.before ?? known
  if (parts(now, { description, schema }).length === 0) return undefined
  return known.before ?? { description, schema, changedAt: at, definition: earlier(now.id) }
}

function parts(now: ToolDigests, then: ToolDigests): ('description' | 'schema')[] {
  return (['description', 'schema'] as const).filter((part) => now[part] !== then[part])
}

/** Without a record only the description in the cache file can be compared. */
function textChange(tool: ToolDefinition, cached: CachedTool | undefined): 'description'[] {
  if (cached === undefined) return []
  return cached.description === cutDescription(tool.description) ? [] : ['description']
}

export interface ToolDigests {
  /** Of name, title and description: what a model reads. */
  description: string
  /** Of the schemas and annotations; the order of keys does not count. */
  schema: string
}
