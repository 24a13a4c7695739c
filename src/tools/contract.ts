import type { JsonObject } from '#core/json'

/** Verbs of tools that only read. `query`, `run` and `execute` are not included, because they may write. */
export const readingVerbs: ReadonlySet<string> = new Set(
  (
    'check count describe explain fetch filter find get inspect introspect list lookup read ' +
    'resolve search show view'
  ).split(' '),
)

/** Those that only ask to see something. `count`, `search` or `describe` ask for more. */
export const showingVerbs: ReadonlySet<string> = new Set(
  'fetch find get list read show view'.split(' '),
)

/** Verbs that only ask for a tool call. */
export const callingVerbs: ReadonlySet<string> = new Set('use call run execute invoke'.split(' '))

/** A phrase of the format's parameter table. Its groups are parameters; its words count as mentioned. */
interface ContractPhrase {
  /** Name of the tool; default: any that has all the parameters. */
  tool?: string
  phrase: RegExp
  /** Fixed values for schema fields that the request does not set. */
  values?: JsonObject
}

/** The phrases of the seed: used only where a schema has the fields, and never extended. */
export const contractPhrases: readonly ContractPhrase[] = [
  { phrase: /(?<![\w./-])(?<owner>[A-Za-z0-9][\w-]*)\/(?<repo>[\w.-]*[\w-])(?![\w/-])/ },
  { phrase: /\bPR #?(?<pull_number>\d+)\b/i },
  { tool: 'select_page', phrase: /\buse page (?<pageId>\d+)\b/i },
  { tool: 'drag', phrase: /\bdrag (?<from_uid>\S+) to (?<to_uid>\S+)/i },
  {
    tool: 'navigate_page',
    phrase: /\bgo to (?<url>[a-z]+:\S+)/i,
    values: { type: 'url' },
  },
  {
    tool: 'navigate_page',
    phrase: /\breload hard\b/i,
    values: { type: 'reload', ignoreCache: true },
  },
  {
    tool: 'take_screenshot',
    phrase: /\bscreenshot of the (?<named>[\w ]{1,60}) page\b/i,
    values: { fullPage: true },
  },
  { tool: 'list_network_requests', phrase: /\bshow last (?<resourceTypes>\w+)\b/i },
  {
    tool: 'list_issues',
    phrase: /\bissues labell?ed (?<labels>[\w:-]+(?:(?:, | and )[\w:-]+)*)/i,
    values: { state: 'open' },
  },
  { tool: 'filter_mutations', phrase: /\bmutations containing (?<search>\S+)/i },
  { tool: 'get_type_details', phrase: /\btype (?<type_name>\w+) details\b/i },
  {
    tool: 'resolve-library-id',
    phrase: /\bdocs for (?<libraryName>\S{1,100}) (?<query>\S[^\n]{0,500})$/i,
  },
  { tool: 'query-docs', phrase: /\bdocs for \S{1,100} (?<query>\S[^\n]{0,500})$/i },
  {
    tool: 'sequentialthinking',
    phrase: /^(?<thought>[^\n]{0,2000}\b(?:break down|step by step)\b[^\n]{0,2000})$/i,
    values: { thoughtNumber: 1, totalThoughts: 4, nextThoughtNeeded: true },
  },
]

/** Requests of the seed, by the tool that it gives them to: examples for routing. */
export const contractExamples: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    select_page: ['use page 2'],
    new_page: ['open new tab'],
    click: ['click uid btn-1', 'click the submit button'],
    drag: ['drag a to b'],
    navigate_page: ['go to https://x', 'reload hard'],
    take_screenshot: ['take a screenshot of the login page'],
    list_network_requests: ['show last xhr'],
    list_console_messages: ['console errors'],
    get_pull_request: ['PR 123 in owner/repo'],
    list_pull_requests: ['list open PRs for owner/repo'],
    list_issues: ['issues labeled bug'],
    filter_mutations: ['list mutations', 'show mutations containing auth'],
    filter_queries: ['list graphql queries'],
    get_type_details: ['type User details'],
    resolve_library_id: ['docs for react useState', 'find docs for lodash'],
    sequentialthinking: ['analyze step by step', 'break down this decision'],
    memory_search: ['recall past decisions', 'search past sessions'],
    code_context: ['what calls this function'],
  }),
)

/**
 * Parameters that a call takes from the answer of another tool of its server (multi-tool orchestration).
 */
export const contractProviders = [
  { parameter: 'pageId', tool: 'list_pages', kind: 'open-page' },
  { parameter: 'uid', tool: 'take_snapshot', kind: 'element' },
  { parameter: 'libraryId', tool: 'resolve-library-id', kind: 'library-id' },
  { parameter: 'field_name', tool: 'filter_queries', kind: 'item' },
] as const

/** The parameter with the name of the library whose ID is looked up. */
export const contractLibraryName = 'libraryName'

/** Requests that several tools of one server answer together, in this order. */
export const contractSequences: readonly { phrase: RegExp; tools: readonly string[] }[] = [
  {
    phrase: /\b(?:inspect|review)\b[^\n]{0,200}\b(?:PR|pull request)\b/i,
    tools: ['get_pull_request', 'get_pull_request_files', 'get_pull_request_status'],
  },
  { phrase: /\bdocs for\b/i, tools: ['resolve-library-id', 'query-docs'] },
]

/** The tool that opens an address for another tool of its server, and how the seed asks for it. */
export const contractOpener = { tool: 'navigate_page', request: (url: string) => `go to ${url}` }

/** A category of the format, with the other names, servers and tools that the format gives it. */
interface ContractCategory {
  name: string
  aliases: readonly string[]
  /** Names of servers; `*` at the end matches any rest. */
  servers: readonly string[]
  /** Separated by spaces. */
  tools: string
}

/** The categories of the format. No setting of a project moves a tool out of its category. */
export const contractCategories: readonly ContractCategory[] = [
  {
    name: 'browser',
    aliases: ['browser-automation'],
    servers: ['chrome-devtools'],
    tools:
      'take_screenshot take_snapshot click fill fill_form submit press_key hover drag upload_file ' +
      'handle_dialog wait_for navigate_page new_page close_page list_pages select_page resize_page ' +
      'emulate evaluate_script list_network_requests get_network_request list_console_messages ' +
      'get_console_message performance_start_trace performance_stop_trace ' +
      'performance_analyze_insight',
  },
  {
    name: 'github',
    aliases: ['github-operations', 'version-control'],
    servers: ['github-*'],
    tools:
      'search_repositories search_users search_code get_file_contents list_issues get_issue ' +
      'search_issues list_commits create_branch get_pull_request list_pull_requests ' +
      'get_pull_request_files get_pull_request_status get_pull_request_reviews ' +
      'merge_pull_request create_pull_request_review',
  },
  {
    name: 'graphql',
    aliases: ['graphql-introspection'],
    servers: ['graphql-tools'],
    tools:
      'get_graphql_schema get_schema filter_queries filter_mutations filter_types ' +
      'get_type_details get_field_details execute_query execute_mutation',
  },
  {
    name: 'docs',
    aliases: ['documentation-lookup', 'documentation'],
    servers: ['context7'],
    tools: 'resolve_library_id query_docs',
  },
  {
    name: 'database',
    aliases: ['databases'],
    servers: [],
    tools: 'list_databases list_tables inspect_table get_indexes execute_query select_query',
  },
  {
    name: 'memory',
    aliases: ['memory-knowledge', 'memory-and-knowledge'],
    servers: ['nano-brain'],
    tools:
      'memory_search memory_vsearch memory_query memory_get memory_multi_get memory_write ' +
      'memory_set memory_delete memory_keys memory_status code_context code_impact ' +
      'code_detect_changes',
  },
  {
    name: 'reasoning',
    aliases: ['sequential-thinking'],
    servers: [],
    tools: 'sequentialthinking',
  },
  {
    name: 'communication',
    aliases: [],
    servers: [],
    tools: 'slack_post_message slack_list_channels',
  },
]

/** What the format suggests after an error of a tool, by its category. */
export const contractSuggestions: ReadonlyMap<string, string> = new Map([
  ['database', 'Check the connection settings of the database'],
])
