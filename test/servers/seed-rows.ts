import type { JsonObject } from '../../src/core/json.ts'

/** A specified mapping, and its result on the schemas of the real servers. */
export interface SeedRow {
  request: string
  /** Tool and parameters as specified. */
  seed: string
  /** The tool that is meant; undefined if no server here has one. */
  tool?: string
  /** The calls it comes to, in their order. */
  steps: readonly {
    tool: string
    params: JsonObject
    from?: readonly string[]
    missing?: readonly string[]
  }[]
  /** Where the real schema differs. */
  note?: string
}

const chrome = (tool: string): string => `chrome-devtools__${tool}`
const pages = { tool: chrome('list_pages'), params: {} }
const onOpenPage = { from: ['pageId from list_pages'] }
const pageId = 'pageId is required; list_pages gives it'
const pull = { owner: 'owner', repo: 'repo', pull_number: 123 }
const thought = { nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 4 }

export const seedRows: readonly SeedRow[] = [
  {
    request: 'use page 2',
    seed: 'select_page { pageId: 2 }',
    tool: chrome('select_page'),
    steps: [{ tool: chrome('select_page'), params: { pageId: 2 } }],
  },
  {
    request: 'open new tab at https://x.test/a',
    seed: 'new_page { url }',
    tool: chrome('new_page'),
    steps: [{ tool: chrome('new_page'), params: { url: 'https://x.test/a' } }],
  },
  {
    request: 'open new tab',
    seed: 'new_page { url }',
    tool: chrome('new_page'),
    steps: [{ tool: chrome('new_page'), params: {}, missing: ['url'] }],
    note: 'url is required: asked for',
  },
  {
    request: 'click uid btn-1',
    seed: 'click { uid: "btn-1" }',
    tool: chrome('click'),
    steps: [pages, { tool: chrome('click'), params: { uid: 'btn-1' }, ...onOpenPage }],
    note: pageId,
  },
  {
    request: 'drag a to b',
    seed: 'drag { from_uid: "a", to_uid: "b" }',
    tool: chrome('drag'),
    steps: [pages, { tool: chrome('drag'), params: { from_uid: 'a', to_uid: 'b' }, ...onOpenPage }],
    note: pageId,
  },
  {
    request: 'go to https://x',
    seed: 'navigate_page { type: "url", url: "https://x" }',
    tool: chrome('navigate_page'),
    steps: [
      pages,
      { tool: chrome('navigate_page'), params: { type: 'url', url: 'https://x' }, ...onOpenPage },
    ],
    note: pageId,
  },
  {
    request: 'reload hard',
    seed: 'navigate_page { type: "reload", ignoreCache: true }',
    tool: chrome('navigate_page'),
    steps: [
      pages,
      {
        tool: chrome('navigate_page'),
        params: { type: 'reload', ignoreCache: true },
        ...onOpenPage,
      },
    ],
    note: pageId,
  },
  {
    request: 'show last xhr',
    seed: 'list_network_requests { resourceTypes: ["xhr"] }',
    tool: chrome('list_network_requests'),
    steps: [
      pages,
      { tool: chrome('list_network_requests'), params: { resourceTypes: ['xhr'] }, ...onOpenPage },
    ],
    note: pageId,
  },
  {
    request: 'console errors',
    seed: 'list_console_messages { types: ["error"] }',
    tool: chrome('list_console_messages'),
    steps: [
      pages,
      { tool: chrome('list_console_messages'), params: { types: ['error'] }, ...onOpenPage },
    ],
    note: pageId,
  },
  {
    request: 'PR 123 in owner/repo',
    seed: 'get_pull_request { owner, repo, pull_number: 123 }',
    tool: 'github__get_pull_request',
    steps: [{ tool: 'github__get_pull_request', params: pull }],
  },
  {
    request: 'issues labeled bug',
    seed: 'list_issues { labels: ["bug"], state: "open" }',
    tool: 'github__list_issues',
    steps: [
      {
        tool: 'github__list_issues',
        params: { labels: ['bug'], state: 'open' },
        missing: ['owner', 'repo'],
      },
    ],
    note: 'owner and repo are required: asked for',
  },
  {
    request: 'list mutations',
    seed: 'filter_mutations { search?: "" }',
    tool: 'graphql__introspect-schema',
    steps: [{ tool: 'graphql__introspect-schema', params: {} }],
    note: 'mcp-graphql has no filter_mutations; its introspect-schema lists them',
  },
  {
    request: 'type User details',
    seed: 'get_type_details { type_name: "User" }',
    tool: 'graphql__introspect-schema',
    steps: [{ tool: 'graphql__introspect-schema', params: {} }],
    note: 'mcp-graphql has no get_type_details; its introspect-schema has all types',
  },
  {
    request: 'docs for react useState',
    seed: 'resolve-library-id, then query-docs',
    tool: 'context7__query-docs',
    steps: [
      { tool: 'context7__resolve-library-id', params: { libraryName: 'react', query: 'useState' } },
      {
        tool: 'context7__query-docs',
        params: { query: 'useState' },
        from: ['libraryId from resolve_library_id'],
      },
    ],
  },
  {
    request: 'analyze step by step',
    seed: 'sequentialthinking with incrementing thoughtNumber',
    tool: 'sequential-thinking__sequentialthinking',
    steps: [
      {
        tool: 'sequential-thinking__sequentialthinking',
        params: { thought: 'analyze step by step', ...thought },
      },
    ],
  },
  {
    request: 'Click the submit button',
    seed: 'take_snapshot, find uid, click { uid }',
    tool: chrome('click'),
    steps: [
      pages,
      { tool: chrome('take_snapshot'), params: {}, ...onOpenPage },
      {
        tool: chrome('click'),
        params: {},
        from: ['pageId from list_pages', 'uid from take_snapshot'],
      },
    ],
    note: pageId,
  },
  {
    request: 'List open PRs for owner/repo',
    seed: 'list_pull_requests { owner, repo, state: "open" }',
    tool: 'github__list_pull_requests',
    steps: [
      {
        tool: 'github__list_pull_requests',
        params: { owner: 'owner', repo: 'repo', state: 'open' },
      },
    ],
  },
  {
    request: 'Show mutations containing auth',
    seed: 'filter_mutations { search: "auth" }',
    tool: 'graphql__introspect-schema',
    steps: [{ tool: 'graphql__introspect-schema', params: {} }],
    note: 'mcp-graphql cannot filter: the whole schema comes',
  },
  {
    request: 'Docs for Next.js app router',
    seed: 'resolve-library-id { libraryName: "next.js", query: "app router" }, query-docs { libraryId, query: "app router" }',
    tool: 'context7__query-docs',
    steps: [
      {
        tool: 'context7__resolve-library-id',
        params: { libraryName: 'Next.js', query: 'app router' },
      },
      {
        tool: 'context7__query-docs',
        params: { query: 'app router' },
        from: ['libraryId from resolve_library_id'],
      },
    ],
    note: 'the server asks for the official spelling, Next.js',
  },
  {
    request: 'Break down this decision',
    seed: 'sequentialthinking { thought, thoughtNumber: 1, totalThoughts: 4, nextThoughtNeeded: true }',
    tool: 'sequential-thinking__sequentialthinking',
    steps: [
      {
        tool: 'sequential-thinking__sequentialthinking',
        params: { thought: 'Break down this decision', ...thought },
      },
    ],
  },
  {
    request: 'take a screenshot of the login page',
    seed: 'take_screenshot { fullPage: true }',
    tool: chrome('take_screenshot'),
    steps: [pages, { tool: chrome('take_screenshot'), params: { fullPage: true }, ...onOpenPage }],
    note: pageId,
  },
  {
    request: 'inspect PR 123 in owner/repo',
    seed: 'get_pull_request, get_pull_request_files, get_pull_request_status',
    tool: 'github__get_pull_request',
    steps: [
      { tool: 'github__get_pull_request', params: pull },
      { tool: 'github__get_pull_request_files', params: pull },
      { tool: 'github__get_pull_request_status', params: pull },
    ],
  },
]
