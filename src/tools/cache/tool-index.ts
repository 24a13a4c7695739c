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
  type RecordReading,
  type RecordedTool,
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
   * The full definition; undefined if only a refresh or a running server knows it. A tool that is held back
   * has only its name, here and in `tools`: a model must not read the rest.
   */
  definition(id: string): ToolDefinition | undefined
  /** The full definition, even of a tool that is held back: for a user who decides about it. */
  reviewed(id: string): ToolDefinition | undefined
  /** The caution for a tool as its server lists it now: what this machine recorded of it is something else. */
  cautionNow(tool: ToolDefinition, since: string): ToolCaution | undefined
  /** Why a user should look at a known tool before it is called; undefined: no reason. */
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
      /** The record that cannot be read, so that it is not known whether the tool changed. */
      lostRecord?: string | undefined
      /** The earlier definition, if it was stored. */
      before?: ToolDefinition | undefined
    }

export interface ToolIndexLoading {
  /** Undefined without a usable cache. */
  index?: ToolIndex | undefined
  /** The same; without a usable cache an index without tools, which knows the cautions of this machine's record. */
  known: ToolIndex
  state: 'fresh' | 'stale' | 'missing' | 'corrupt'
  /** The message for the user, unless the state is `fresh`. */
  message?: string | undefined
  path: string
  diagnostics: readonly Diagnostic[]
}

export const refreshAdvice =
  'Cache appears stale or missing. Run `skillrail tools refresh` to rebuild tool metadata.'

/**
 * Loads the tools of the project's last refresh: from the cache file, with the full definitions from the
 * user's cache directory. Starts no server, writes nothing and never throws.
 */
export function loadToolIndex(place: ProjectPlace): ToolIndexLoading {
  const path = readableCachePath(place.project)
  const reading = readCacheFile(path)
  const recorded = readRefreshRecord(place)
  const { record, diagnostics } = recorded
  const definitions = storedDefinitions(record, place)
  const indexOf = (cache: ToolCache) => indexCache(cache, recorded, definitions.definition)
  if (reading.state !== 'read') {
    const state = reading.state === 'missing' ? 'missing' : 'corrupt'
    const all = [...reading.diagnostics, ...diagnostics]
    return { known: indexOf(noCache), state, message: refreshAdvice, path, diagnostics: all }
  }
  const { cache } = reading
  const index = indexOf(cache)
  const isHidden = ({ id, description }: CachedTool): boolean =>
    description !== '' && index.tool(id)?.description === '' && holdOf(id, index) === undefined
  const hasHiddenTools = [...cachedTools(cache).values()].some(isHidden)
  const stale = hasHiddenTools || isStale(cache.refreshedAt, record, place.runtime.now())
  return {
    index,
    known: index,
    state: stale ? 'stale' : 'fresh',
    message: stale ? refreshAdvice : undefined,
    path,
    diagnostics: [...reading.diagnostics, ...diagnostics, ...definitions.diagnostics],
  }
}

const noCache: ToolCache = {
  refreshedAt: '',
  servers: [],
  categories: [],
  uncategorized: [],
  further: {},
}

function indexCache(
  cache: ToolCache,
  recorded: RecordReading,
  definition: ToolIndex['definition'],
): ToolIndex {
  const { record } = recorded
  const recordedServers = new Map(record?.servers.map((server) => [server.name, server]))
  const digests = new Map(record?.tools.map(({ id, description }) => [id, description]))
  const names = [...new Set([...cache.servers, ...recordedServers.keys()])]
  const summarise = (cachedTool: CachedTool, category?: string): ToolSummary => {
    const { id, examples } = cachedTool
    const server = serverOf(cachedTool, names)
    const fullDefinition = definition(id)
    const isTrusted = recordedServers.get(fullDefinition?.server ?? '')?.trusted ?? false
    const name = nameInServer(id, server)
    // Anybody can write the file: its text about a tool counts only if this user's record has the same
    // text.
    const toolInFile = { id, server, name, description: cachedTool.description, inputSchema: {} }
    const isUnchanged = digests.get(id) === digestTool(toolInFile).description
    const description = fullDefinition?.description ?? (isUnchanged ? cachedTool.description : '')
    const tool = {
      ...toolInFile,
      ...fullDefinition,
      id,
      server,
      name,
      description: cutDescription(description),
    }
    return summaryOf(tool, isTrusted, { category, examples })
  }
  const summaries = [
    ...cache.categories.flatMap((category) => {
      const name = canonicalCategory(category.name)
      return category.tools.map((tool) => summarise(tool, name))
    }),
    ...cache.uncategorized.map((tool) => summarise(tool)),
  ].toSorted((a, b) => compareText(a.id, b.id))
  const cautions = recordedCautions(recorded, definition)
  // Categories in the file are labels that decide nothing.
  const contractCategories = contractCategoriesOf(summaries)
  return createToolIndex({
    refreshedAt: cache.refreshedAt,
    tools: summaries.map((tool) => ({
      ...tool,
      category: contractCategories.get(tool.id) ?? tool.category,
    })),
    categories: canonicalCategories(cache),
    definition,
    servers: names,
    failures: (record?.servers ?? []).flatMap(({ name, failure }) =>
      failure ? [{ server: name, ...failure }] : [],
    ),
    cautionNow: cautions.now,
    changed: [
      ...summaries.flatMap((tool): ChangedTool[] => {
        const caution = cautions.unrecorded(tool, cache.refreshedAt)
        return caution ? [[tool.id, caution]] : []
      }),
      ...(record?.tools ?? []).flatMap((tool): ChangedTool[] => {
        const caution = cautions.marked(tool)
        return caution ? [[tool.id, caution]] : []
      }),
    ],
  })
}

/** What the record of this machine says about tools. A record that cannot be read may hold back every one. */
function recordedCautions({ record, damaged }: RecordReading, definition: ToolIndex['definition']) {
  const servers = new Map(record?.servers.map((server) => [server.name, server]))
  const tools = new Map(record?.tools.map((tool) => [tool.id, tool]))
  return { marked, unrecorded, now }

  function marked({ before }: RecordedTool): ToolCaution | undefined {
    if (!before) return undefined
    if (before.description === '') return added(before.changedAt)
    return { kind: 'changed', since: before.changedAt, before: before.definition }
  }

  /** Of a tool that the record does not have although it has its server. */
  function unrecorded(
    { id, server }: Pick<ToolSummary, 'id' | 'server'>,
    since: string,
  ): ToolCaution | undefined {
    if (damaged !== undefined) return { kind: 'changed', since, lostRecord: damaged }
    return servers.get(server)?.listedAt && !tools.has(id) ? added(since) : undefined
  }

  function now(tool: ToolDefinition, since: string): ToolCaution | undefined {
    const earlier = tools.get(tool.id)
    if (!earlier) return unrecorded(tool, since)
    const { description, schema } = digestTool(tool)
    const isSame = earlier.description === description && earlier.schema === schema
    const before = isSame ? undefined : definition(tool.id)
    return marked(earlier) ?? (isSame ? undefined : { kind: 'changed', since, before })
  }
}

function added(since: string): ToolCaution {
  return { kind: 'changed', since, added: true }
}

function serverOf({ id, prefix }: CachedTool, names: readonly string[]): string {
  const server = prefix?.replace(/__$/, '')
  return server !== undefined && id.startsWith(`${server}__`) ? server : serverOfId(id, names)
}

function canonicalCategories(cache: ToolCache): Category[] {
  const byName = new Map<string, Category>()
  for (const { name: nameInFile, description, keywords, tools } of cache.categories) {
    const name = canonicalCategory(nameInFile)
    const sameCategory = byName.get(name)
    byName.set(name, {
      name,
      description: sameCategory?.description || description,
      keywords: [...new Set([...(sameCategory?.keywords ?? []), ...keywords])],
      tools: [...(sameCategory?.tools ?? []), ...tools.map(({ id }) => id)].toSorted(compareText),
    })
  }
  return [...byName.values()].toSorted((a, b) => compareText(a.name, b.name))
}

/** A cache older than this is stale, unless its servers say otherwise. */
const day = 24 * 60 * 60 * 1000
/** Clocks of machines that share a project differ; a date further ahead than this is not believed. */
const skewMs = 5 * 60 * 1000

/**
 * Whether the servers must be listed again. A server's own time to live takes precedence over the 24 hours.
 * A cache that somebody else refreshed, for example one from the project's files, is judged by its own
 * date, because the record of this machine belongs to another listing.
 */
function isStale(refreshedAt: string, record: RefreshRecord | undefined, now: number): boolean {
  const isOlder = (date: string, ageMs: number): boolean => {
    const time = Date.parse(date)
    return Number.isNaN(time) || now - time > ageMs || time - now > skewMs
  }
  const servers = record?.refreshedAt === refreshedAt ? record.servers : []
  const answeringServers = servers.filter(({ failure }) => failure === undefined)
  if (answeringServers.length === 0) return isOlder(refreshedAt, day)
  return answeringServers.some(({ listedAt, ttlMs }) => isOlder(listedAt, ttlMs ?? day))
}

export interface IndexDefinitionsOptions {
  refreshedAt?: string | undefined
  failures?: readonly ServerFailure[] | undefined
  /** Names of the servers whose annotations are believed; default all. */
  trusted?: ReadonlySet<string> | undefined
  /** An earlier index whose categories, examples and cautions apply to the tools in it. */
  earlierIndex?: ToolIndex | undefined
}

/**
 * Indexes definitions and their categories; the first definition of an ID counts. Reads and writes no
 * files.
 */
export function indexDefinitions(
  definitions: readonly ToolDefinition[],
  options: IndexDefinitionsOptions = {},
): ToolIndex {
  const { earlierIndex, failures = [], trusted, refreshedAt } = options
  const byId = new Map<string, ToolDefinition>()
  for (const tool of definitions) if (!byId.has(tool.id)) byId.set(tool.id, tool)
  const unique = [...byId.values()].toSorted((a, b) => compareText(a.id, b.id))
  const changes = earlierIndex ? changedTools(unique, earlierIndex, refreshedAt ?? '') : []
  const cautions = new Map(changes)
  const visibleTools = unique.map((tool) =>
    cautions.has(tool.id) ? { ...tool, description: '' } : tool,
  )
  const categoryById = categorise(unique)
  for (const { id } of unique) {
    const category = earlierIndex?.tool(id)?.category
    if (category !== undefined) categoryById.set(id, category)
  }
  return createToolIndex({
    refreshedAt: refreshedAt ?? new Date(0).toISOString(),
    tools: unique.map((tool) =>
      summaryOf(tool, trusted?.has(tool.server) ?? true, {
        category: categoryById.get(tool.id),
        examples: earlierIndex?.tool(tool.id)?.examples,
      }),
    ),
    categories: describeCategories(visibleTools, categoryById).map((category) => {
      const earlierCategory = earlierIndex?.categories.find(({ name }) => name === category.name)
      if (!earlierCategory) return category
      return {
        ...category,
        description: earlierCategory.description,
        keywords: earlierCategory.keywords,
      }
    }),
    definition: (id) => byId.get(id),
    servers: failures.map(({ server }) => server),
    failures,
    cautionNow: earlierIndex?.cautionNow ?? (() => undefined),
    changed: changes,
  })
}

type ChangedTool = readonly [id: string, caution: ToolCaution]

/** An earlier change stays one, and a new one can be found. */
function changedTools(tools: readonly ToolDefinition[], earlierIndex: ToolIndex, since: string) {
  return tools.flatMap((tool): ChangedTool[] => {
    const earlier = earlierIndex.caution(tool.id)
    const caution = earlier?.kind === 'changed' ? earlier : earlierIndex.cautionNow(tool, since)
    return caution ? [[tool.id, caution]] : []
  })
}

interface ToolIndexParts extends Pick<
  ToolIndex,
  'refreshedAt' | 'tools' | 'categories' | 'definition' | 'cautionNow'
> {
  servers: readonly string[]
  failures: readonly ServerFailure[]
  changed: readonly ChangedTool[]
}

function createToolIndex(parts: ToolIndexParts): ToolIndex {
  const { failures, cautionNow } = parts
  const cautions = new Map(parts.changed)
  const tools = parts.tools.map((tool) => (cautions.has(tool.id) ? nameOnly(tool) : tool))
  const byId = new Map(tools.map((tool) => [tool.id, tool]))
  const reviewed = (id: string) => (byId.has(id) ? parts.definition(id) : undefined)
  const failuresByServer = new Map(failures.map((failure) => [failure.server, failure]))
  const counts = new Map(parts.servers.map((name) => [name, 0]))
  for (const { server } of tools)
    if (server !== '') counts.set(server, (counts.get(server) ?? 0) + 1)
  const servers = [...counts].toSorted(([a], [b]) => compareText(a, b))
  return {
    refreshedAt: parts.refreshedAt,
    servers: servers.map(([name, toolCount]) => {
      const unavailable = failuresByServer.get(name)
      return unavailable ? { name, toolCount, unavailable } : { name, toolCount }
    }),
    tools,
    categories: parts.categories,
    tool: (id) => byId.get(id),
    definition: (id) => {
      const definition = reviewed(id)
      if (!definition || !cautions.has(id)) return definition
      const { server, name } = definition
      return { id, server, name, description: '', inputSchema: { type: 'object' } }
    },
    reviewed,
    cautionNow,
    caution(id) {
      const message = failuresByServer.get(byId.get(id)?.server ?? '')?.message
      return (
        cautions.get(id) ?? (message === undefined ? undefined : { kind: 'unavailable', message })
      )
    },
  }
}

function nameOnly({ id, server, name, category }: ToolSummary): ToolSummary {
  const nothing = { description: '', parameters: [], required: [], readOnly: false }
  return { id, server, name, category, ...nothing }
}

/** Why a tool is not called before a user accepts its change. */
export interface ToolHold {
  message: string
  hint: string
}

export function holdOf(id: string, { caution }: Pick<ToolIndex, 'caution'>): ToolHold | undefined {
  return holdBy(id, caution(id))
}

/** The hold of a tool as its running server lists it, which no refresh has seen. */
export function holdAsListed(
  tool: ToolDefinition,
  { cautionNow }: Pick<ToolIndex, 'cautionNow'>,
  since: string,
): ToolHold | undefined {
  const hold = holdBy(tool.id, cautionNow(tool, since))
  return hold && { ...hold, hint: `First run \`skillrail tools refresh\`. ${hold.hint}` }
}

function holdBy(id: string, toolCaution: ToolCaution | undefined): ToolHold | undefined {
  if (toolCaution?.kind !== 'changed') return undefined
  if (toolCaution.lostRecord !== undefined) {
    return {
      message: `${id} is held back: ${toolCaution.lostRecord} cannot be read, so it is not known whether the tool changed.`,
      hint: `Look at it with \`skillrail tools show ${id}\`, then run \`skillrail tools refresh --accept\`.`,
    }
  }
  return {
    message: `${id} is held back: it ${toolCaution.added ? 'was added' : 'changed'} on ${toolCaution.since} and nobody accepted that.`,
    hint: `Look at it with \`skillrail tools show ${id}\`, then run \`skillrail tools refresh --accept\`.`,
  }
}

function summaryOf(
  tool: ToolDefinition,
  isTrusted: boolean,
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
    readOnly: readsOnly(tool, isTrusted),
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
 * Whether a call of the tool only reads. The hint of a trusted server decides; without one, the first verb
 * of the name. A word that writes, or the hint of an untrusted server, can only make the result stricter.
 * https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
 */
export function readsOnly(
  tool: Pick<ToolDefinition, 'name' | 'annotations'>,
  isTrusted: boolean,
): boolean {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {}
  if (readOnlyHint === false || (destructiveHint === true && readOnlyHint !== true)) return false
  if (readOnlyHint === true && isTrusted) return true
  const words = tool.name
    .slice(tool.name.lastIndexOf('__') + 1)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
  const [verb = '', ...otherWords] = words.split(/[^a-z0-9]+/).filter((word) => word !== '')
  return readingVerbs.has(verb) && !otherWords.some((word) => writingWords.has(word))
}
