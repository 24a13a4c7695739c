import type { Diagnostic } from '../../core/diagnostic.ts'
import { messageOf } from '../../core/errors.ts'
import { safeLine } from '../../core/text.ts'
import type { ToolDefinition } from '../model.ts'
import { cutText, toolIdProblem } from './cache-file.ts'
import type { ServerFailure } from './tool-index.ts'

export interface ListingOptions {
  signal?: AbortSignal | undefined
  /** How long a server is waited for; undefined: as long as its own limits say. */
  patienceMs?: ((server: string) => number) | undefined
}

export interface ListingPool {
  /** Those that would be asked, where they may change while the pool lives. */
  readonly definitions?: readonly object[] | undefined
  list(options?: ListingOptions): Promise<ListedTools>
  get?(name: string, options?: { signal?: AbortSignal | undefined }): Promise<unknown>
}

interface ListOptions {
  signal?: AbortSignal | undefined
  onServer?: ((event: ServerEvent) => void) | undefined
}

export type ServerEvent = { server: string; state: 'starting' | 'running' | 'failed' }

interface ListedTools {
  tools: readonly ToolDefinition[]
  failures: readonly ServerFailure[]
  /** What was wrong with lists that were read. */
  diagnostics?: readonly Diagnostic[] | undefined
  /** How long the list of a server may be kept, by its name, where it says so. */
  ttlMs?: ReadonlyMap<string, number> | undefined
}

export interface ServerBar {
  /** `unresolved`: for its own configuration; otherwise for want of trust. */
  reason: 'untrusted' | 'changed' | 'unresolved'
  message: string
  hint?: string | undefined
}

export interface ServerListing extends ListedTools {
  /** Names of the servers that answered, tools or not. */
  listed: ReadonlySet<string>
  ttlMs: ReadonlyMap<string, number>
}

export async function listServers(
  pool: ListingPool,
  asked: readonly { name: string; blocked?: ServerBar | undefined }[],
  options: ListOptions,
): Promise<ServerListing> {
  const blocked = asked.flatMap(({ name, blocked: bar }) =>
    bar === undefined ? [] : [barred(name, bar)],
  )
  const startable = asked.filter((server) => server.blocked === undefined).map(({ name }) => name)
  const { tools, failures, diagnostics, ttlMs }: ListedTools =
    startable.length === 0 ? { tools: [], failures: [] } : await ask(pool, startable, options)
  const failed = [...blocked, ...failures.filter(({ server }) => startable.includes(server))]
  const listed = new Set(startable.filter((name) => !failed.some(({ server }) => server === name)))
  return {
    tools: tools.filter(({ server }) => listed.has(server)),
    failures: failed,
    listed,
    diagnostics,
    ttlMs: ttlMs ?? new Map<string, number>(),
  }
}

async function ask(pool: ListingPool, startable: readonly string[], options: ListOptions) {
  try {
    const listing = pool.list({ signal: options.signal })
    follow(pool, startable, options)
    return await listing
  } catch (error) {
    options.signal?.throwIfAborted()
    const message = messageOf(error).split('\n')[0] ?? ''
    return { tools: [], failures: startable.map((server) => ({ server, message, stderrTail: '' })) }
  }
}

/** Reports the start of each server, which the listing shares with this. */
function follow(
  pool: ListingPool,
  startable: readonly string[],
  { signal, onServer }: ListOptions,
): void {
  if (onServer === undefined || pool.get === undefined) return
  for (const server of startable) {
    onServer({ server, state: 'starting' })
    pool.get(server, { signal }).then(
      () => onServer({ server, state: 'running' }),
      () => onServer({ server, state: 'failed' }),
    )
  }
}

function barred(server: string, { reason, message, hint }: ServerBar): ServerFailure {
  const text = hint === undefined ? message : `${message.replace(/\.?$/, '.')} ${hint}`
  const notTrusted = reason === 'unresolved' ? undefined : true
  return { server, message: text, stderrTail: '', notTrusted }
}

const longestDescription = 64 * 1024
/** Characters of a whole definition as JSON. */
const largestDefinition = 1024 * 1024

/**
 * The definitions that can be kept, of those that servers listed: ids that can be used and printed,
 * each once, none of them huge. What is left out is reported.
 */
export function acceptDefinitions(listed: readonly ToolDefinition[]): {
  tools: ToolDefinition[]
  diagnostics: Diagnostic[]
} {
  const tools = new Map<string, ToolDefinition>()
  const diagnostics: Diagnostic[] = []
  for (const tool of listed) {
    const report = (code: string, problem: string): void => {
      const message = `tool ${JSON.stringify(safeLine(tool.id.slice(0, 80)))} ${problem}`
      diagnostics.push({ code, severity: 'warning', message, path: safeLine(tool.server) })
    }
    const problem = toolIdProblem(tool.id) ?? toolIdProblem(tool.name)
    if (problem !== undefined) {
      report('tool-name', `is left out: ${problem}`)
      continue
    }
    if (tools.has(tool.id)) {
      report('tool-repeated', 'is listed again; the first one counts')
      continue
    }
    const isLong = tool.description.length > longestDescription
    const cut = isLong
      ? { ...tool, description: cutText(tool.description, longestDescription) }
      : tool
    if (isLong) {
      report('tool-description', `has a description of ${tool.description.length} characters; cut`)
    }
    const size = sizeOf(cut)
    if (size === undefined || size > largestDefinition) {
      const reason =
        size === undefined ? 'its schema is nested too deeply' : `it has ${size} characters`
      report('tool-definition', `is left out: ${reason}`)
      continue
    }
    tools.set(tool.id, cut)
  }
  return { tools: [...tools.values()], diagnostics }
}

function sizeOf(tool: ToolDefinition): number | undefined {
  try {
    return JSON.stringify(tool).length
  } catch {
    return undefined
  }
}
