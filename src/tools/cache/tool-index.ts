import { compareText, type Diagnostic } from '#core/errors'
import {
  canonicalCategory,
  categorise,
  type Category,
  contractCategoriesOf,
  describeCategories,
} from '#tools/category/categorise'
import { readingVerbs } from '#tools/contract'
import { readSchema, type SchemaPlace } from '#tools/schema/read-schema'
import type { ServerFailure, ToolDefinition, ToolSummary } from '#tools/model'
import {
  type CachedTool,
  cachedTools,
  cutDescription,
  nameInServer,
  readCacheFile,
  serverOfId,
  type ToolCache,
} from './cache-file.ts'
import {
  digestTool,
  type ProjectPlace,
  readableCachePath,
  readRefreshRecord,
  storedDefinitions,
  type RefreshRecord,
} from './stored-tools.ts'

export interface ToolIndex {
  /** When the servers were last asked, as an ISO date. */
  refreshedAt: string
  servers: readonly IndexedServer[]
  tools: readonly ToolSummary[]
  categories: readonly Category[]
  tool(id: string): ToolSummary | undefined
  /**
   * With the full schemas; undefined where only a refresh or a running server knows them. Of a tool
   * that is held back only the name, here and in `tools`: a model must not read the rest.
   */
  definition(id: string): ToolDefinition | undefined
  /** The whole definition, also of a tool that is held back: for a user who decides about it. */
  reviewed(id: string): ToolDefinition | undefined
  /** Whether its server was listed on this machine before, and did not have it. */
  isNew(tool: Pick<ToolSummary, 'id' | 'server'>): boolean
  /** Why a known tool should not be called without a second look; undefined when nothing is wrong. */
  caution(id: string): ToolCaution | undefined
}

export interface IndexedServer {
  name: string
  toolCount: number
  unavailable?: ServerFailure | undefined
}

export type ToolCaution =
  | { kind: 'unavailable'; message: string }
  | {
      kind: 'changed'
      since: string
      added?: true | undefined
      /** What it was, where that was kept. */
      before?: ToolDefinition | undefined
    }

export interface ToolIndexLoading {
  index?: ToolIndex | undefined
  state: 'fresh' | 'stale' | 'missing' | 'corrupt'
  /** What to tell the user unless the state is `fresh`. */
  message?: string | undefined
  path: string
  diagnostics: readonly Diagnostic[]
}

export const refreshAdvice =
  'Cache appears stale or missing. Run `skillrail tools refresh` to rebuild tool metadata.'

/**
 * The project's tools as the last refresh left them: from the cache file, and the full definitions
 * from the user's cache directory. No server is started, nothing is written, nothing is thrown.
 */
export function loadToolIndex(place: ProjectPlace): ToolIndexLoading {
  const path = readableCachePath(place.project)
  const reading = readCacheFile(path)
  if (reading.state !== 'read') {
    const state = reading.state === 'missing' ? 'missing' : 'corrupt'
    return { state, message: refreshAdvice, path, diagnostics: reading.diagnostics }
  }
  const { cache } = reading
  const { record, diagnostics } = readRefreshRecord(place)
  const stored = storedDefinitions(record, place)
  const index = storedIndex(cache, record, stored.definition)
  const isHidden = ({ id, description }: CachedTool): boolean =>
    description !== '' && index.tool(id)?.description === '' && holdOf(id, index) === undefined
  const hidden = [...cachedTools(cache).values()].some(isHidden)
  const stale = hidden || isStale(cache.refreshedAt, record, place.runtime.now())
  return {
    index,
    state: stale ? 'stale' : 'fresh',
    message: stale ? refreshAdvice : undefined,
    path,
    diagnostics: [...reading.diagnostics, ...diagnostics, ...stored.diagnostics],
  }
}

function storedIndex(
  cache: ToolCache,
  record: RefreshRecord | undefined,
  definition: ToolIndex['definition'],
): ToolIndex {
  const recorded = new Map(record?.servers.map((server) => [server.name, server]))
  const digests = new Map(record?.tools.map(({ id, description }) => [id, description]))
  const names = [...new Set([...cache.servers, ...recorded.keys()])]
  const summarise = (cached: CachedTool, category?: string): ToolSummary => {
    const { id, examples } = cached
    const server = serverOf(cached, names)
    const known = definition(id)
    const trusted = recorded.get(known?.server ?? '')?.trusted ?? false
    const name = nameInServer(id, server)
    // Anybody can write the file: what it says of a tool counts where this user has seen the same.
    const seen = { id, server, name, description: cached.description, inputSchema: {} }
    const isSeen = digests.get(id) === digestTool(seen).description
    const description = known?.description ?? (isSeen ? cached.description : '')
    const tool = { ...seen, ...known, id, server, name, description: cutDescription(description) }
    return summaryOf(tool, trusted, { category, examples })
  }
  const listed = [
    ...cache.categories.flatMap((category) => {
      const name = canonicalCategory(category.name)
      return category.tools.map((tool) => summarise(tool, name))
    }),
    ...cache.uncategorized.map((tool) => summarise(tool)),
  ].toSorted((a, b) => compareText(a.id, b.id))
  const isNew: ToolIndex['isNew'] = ({ id, server }) =>
    Boolean(recorded.get(server)?.listedAt) && record?.tools.every((one) => one.id !== id) === true
  // What the file says of these is a label that decides nothing.
  const decided = contractCategoriesOf(listed)
  return createToolIndex({
    refreshedAt: cache.refreshedAt,
    tools: listed.map((tool) => ({ ...tool, category: decided.get(tool.id) ?? tool.category })),
    categories: canonicalCategories(cache),
    definition,
    servers: names,
    failures: (record?.servers ?? []).flatMap(({ name, failure }) =>
      failure ? [{ server: name, ...failure }] : [],
    ),
    isNew,
    changed: [
      ...listed.filter(isNew).map(({ id }) => addedTool(id, cache.refreshedAt)),
      ...(record?.tools ?? []).flatMap(({ id, before }): ChangedTool[] => {
        if (!before) return []
        if (before.description === '') return [addedTool(id, before.changedAt)]
        return [[id, { kind: 'changed', since: before.changedAt, before: before.definition }]]
      }),
    ],
  })
}

function serverOf({ id, prefix }: CachedTool, names: readonly string[]): string {
  const written = prefix?.replace(/__$/, '')
  return written !== undefined && id.startsWith(`${written}__`) ? written : serverOfId(id, names)
}

function canonicalCategories(cache: ToolCache): Category[] {
  const byName = new Map<string, Category>()
  for (const { name: written, description, keywords, tools } of cache.categories) {
    const name = canonicalCategory(written)
    const known = byName.get(name)
    byName.set(name, {
      name,
      description: known?.description || description,
      keywords: [...new Set([...(known?.keywords ?? []), ...keywords])],
      tools: [...(known?.tools ?? []), ...tools.map(({ id }) => id)].toSorted(compareText),
    })
  }
  return [...byName.values()].toSorted((a, b) => compareText(a.name, b.name))
}

/** A cache older than this is stale, unless its servers say otherwise. */
const day = 24 * 60 * 60 * 1000
/** Clocks of machines that share a project differ; a date further ahead than this is not believed. */
const skewMs = 5 * 60 * 1000

/**
 * Whether the servers must be listed again: a server's own time to live takes precedence over the 24
 * hours. A cache that somebody else refreshed, such as one that came with the project's files, is
 * judged by its own date: the record of this machine is of another listing.
 */
function isStale(refreshedAt: string, record: RefreshRecord | undefined, now: number): boolean {
  const isOlder = (date: string, ageMs: number): boolean => {
    const time = Date.parse(date)
    return Number.isNaN(time) || now - time > ageMs || time - now > skewMs
  }
  const servers = record?.refreshedAt === refreshedAt ? record.servers : []
  const listed = servers.filter(({ failure }) => failure === undefined)
  if (listed.length === 0) return isOlder(refreshedAt, day)
  return listed.some(({ listedAt, ttlMs }) => isOlder(listedAt, ttlMs ?? day))
}

export interface IndexDefinitionsOptions {
  refreshedAt?: string | undefined
  failures?: readonly ServerFailure[] | undefined
  /** Names of the servers whose annotations are believed; default all. */
  trusted?: ReadonlySet<string> | undefined
  /** Categories, examples and cautions of an earlier index hold for the tools that it knows. */
  known?: ToolIndex | undefined
}

/** An index of definitions, categorised; the first of an id counts. Reads and writes nothing. */
export function indexDefinitions(
  definitions: readonly ToolDefinition[],
  options: IndexDefinitionsOptions = {},
): ToolIndex {
  const { known, failures = [], trusted, refreshedAt } = options
  const byId = new Map<string, ToolDefinition>()
  for (const tool of definitions) if (!byId.has(tool.id)) byId.set(tool.id, tool)
  const unique = [...byId.values()].toSorted((a, b) => compareText(a.id, b.id))
  const changed = known ? changedTools(unique, known, refreshedAt ?? '') : []
  const held = new Map(changed)
  const shown = unique.map((tool) => (held.has(tool.id) ? { ...tool, description: '' } : tool))
  const assigned = categorise(unique)
  for (const { id } of unique) {
    const category = known?.tool(id)?.category
    if (category !== undefined) assigned.set(id, category)
  }
  return createToolIndex({
    refreshedAt: refreshedAt ?? new Date(0).toISOString(),
    tools: unique.map((tool) =>
      summaryOf(tool, trusted?.has(tool.server) ?? true, {
        category: assigned.get(tool.id),
        examples: known?.tool(tool.id)?.examples,
      }),
    ),
    categories: describeCategories(shown, assigned).map((category) => {
      const before = known?.categories.find(({ name }) => name === category.name)
      if (!before) return category
      return { ...category, description: before.description, keywords: before.keywords }
    }),
    definition: (id) => byId.get(id),
    servers: failures.map(({ server }) => server),
    failures,
    isNew: known?.isNew ?? (() => false),
    changed,
  })
}

type ChangedTool = readonly [id: string, caution: ToolCaution]

function addedTool(id: string, since: string): ChangedTool {
  return [id, { kind: 'changed', since, added: true }]
}

/** A change that was seen stays one, and another may be seen. */
function changedTools(tools: readonly ToolDefinition[], known: ToolIndex, since: string) {
  return tools.flatMap((tool): ChangedTool[] => {
    const caution = known.caution(tool.id)
    if (caution?.kind === 'changed') return [[tool.id, caution]]
    if (known.isNew(tool)) return [addedTool(tool.id, since)]
    const before = known.definition(tool.id)
    const isSame = JSON.stringify(digestTool(tool)) === JSON.stringify(before && digestTool(before))
    return !before || isSame ? [] : [[tool.id, { kind: 'changed', since, before }]]
  })
}

interface ToolIndexParts extends Pick<
  ToolIndex,
  'refreshedAt' | 'tools' | 'categories' | 'definition' | 'isNew'
> {
  servers: readonly string[]
  failures: readonly ServerFailure[]
  changed: readonly ChangedTool[]
}

function createToolIndex(parts: ToolIndexParts): ToolIndex {
  const { failures, isNew } = parts
  const held = new Map(parts.changed)
  const tools = parts.tools.map((tool) => (held.has(tool.id) ? nameOnly(tool) : tool))
  const byId = new Map(tools.map((tool) => [tool.id, tool]))
  const reviewed = (id: string) => (byId.has(id) ? parts.definition(id) : undefined)
  const failed = new Map(failures.map((failure) => [failure.server, failure]))
  const counts = new Map(parts.servers.map((name) => [name, 0]))
  for (const { server } of tools)
    if (server !== '') counts.set(server, (counts.get(server) ?? 0) + 1)
  const servers = [...counts].toSorted(([a], [b]) => compareText(a, b))
  return {
    refreshedAt: parts.refreshedAt,
    servers: servers.map(([name, toolCount]) => {
      const unavailable = failed.get(name)
      return unavailable ? { name, toolCount, unavailable } : { name, toolCount }
    }),
    tools,
    categories: parts.categories,
    tool: (id) => byId.get(id),
    definition: (id) => {
      const definition = reviewed(id)
      if (!definition || !held.has(id)) return definition
      const { server, name } = definition
      return { id, server, name, description: '', inputSchema: { type: 'object' } }
    },
    reviewed,
    isNew,
    caution(id) {
      const message = failed.get(byId.get(id)?.server ?? '')?.message
      return held.get(id) ?? (message === undefined ? undefined : { kind: 'unavailable', message })
    },
  }
}

function nameOnly({ id, server, name, category }: ToolSummary): ToolSummary {
  const nothing = { description: '', parameters: [], required: [], readOnly: false }
  return { id, server, name, category, ...nothing }
}

/** Why a tool is held back until a user accepts it; undefined: it is not. */
/** Why a tool is not called before a user accepts its change. */
export interface ToolHold {
  message: string
  hint: string
}

export function holdOf(id: string, { caution }: Pick<ToolIndex, 'caution'>): ToolHold | undefined {
  const found = caution(id)
  if (found?.kind !== 'changed') return undefined
  return {
    message: `${id} is held back: it ${found.added ? 'was added' : 'changed'} on ${found.since} and nobody accepted that.`,
    hint: `Look at it with \`skillrail tools show ${id}\`, then run \`skillrail tools refresh --accept\`.`,
  }
}

function summaryOf(
  tool: ToolDefinition,
  trusted: boolean,
  more: Pick<ToolSummary, 'category' | 'examples'>,
): ToolSummary {
  const { id, server, name, description, inputSchema } = tool
  const place = readSchema(inputSchema)
  const { descriptions, choices } = wordsOfSchema(place)
  return {
    id,
    server,
    name,
    description,
    parameters: place.names,
    parameterText: descriptions.join('\n'),
    choices,
    required: place.required,
    ...more,
    readOnly: readsOnly(tool, trusted),
  }
}

const deepestParameter = 3
const maxSchemaWords = 500

interface SchemaWords {
  /** Descriptions of parameters, and the names of their fields. */
  descriptions: string[]
  choices: string[]
}

function wordsOfSchema(root: SchemaPlace): SchemaWords {
  const words: SchemaWords = { descriptions: [], choices: [] }
  const isFull = () => words.descriptions.length + words.choices.length >= maxSchemaWords
  const collect = (place: SchemaPlace, depth: number) => {
    for (const parameter of place.properties.values()) {
      for (const value of [parameter, parameter.items]) {
        if (!value || isFull()) continue
        if (value.description !== '') words.descriptions.push(value.description)
        words.choices.push(...value.choices.filter((choice) => typeof choice === 'string'))
        words.descriptions.push(...value.names)
        if (depth < deepestParameter) collect(value, depth + 1)
      }
    }
  }
  collect(root, 1)
  return words
}

export function parameterNames({
  inputSchema,
}: Pick<ToolDefinition, 'inputSchema'>): readonly string[] {
  return readSchema(inputSchema).names
}

/** Words that make a name such as `get_or_create_user` or `find_and_replace` one that writes. */
const writingWords: ReadonlySet<string> = new Set(
  (
    'add append apply clear create delete drop edit execute insert kill mark merge move overwrite ' +
    'patch post publish purge push put remove rename replace reset run save send set start stop ' +
    'submit trigger update upload upsert write'
  ).split(' '),
)

/**
 * Whether a call of the tool only reads: a trusted server's hint decides; without one, the verb that
 * its name begins with. A word that writes, or the hint of a server that is not trusted, can only make
 * it stricter.
 * https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
 */
export function readsOnly(
  tool: Pick<ToolDefinition, 'name' | 'annotations'>,
  trusted: boolean,
): boolean {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {}
  if (readOnlyHint === false || (destructiveHint === true && readOnlyHint !== true)) return false
  if (readOnlyHint === true && trusted) return true
  const words = tool.name
    .slice(tool.name.lastIndexOf('__') + 1)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
  const [verb = '', ...others] = words.split(/[^a-z0-9]+/).filter((word) => word !== '')
  return readingVerbs.has(verb) && !others.some((word) => writingWords.has(word))
}
