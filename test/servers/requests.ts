import type { JsonObject } from '../../src/core/json.ts'

/** A request in words, and its required result. */
export interface RoutedRequest {
  request: string
  tool: string
  params: JsonObject
  /** Required parameters that the words do not have; another tool has to give them. */
  missing?: readonly string[]
}

type Row = readonly [
  request: string,
  tool: string,
  params: JsonObject,
  missing?: RoutedRequest['missing'],
]

/** Requests as people write them, over all servers at once. */
export const routedRequests: readonly RoutedRequest[] = [
  ...ofServer('filesystem', [
    // A bare word is not a path, so Skillrail asks for the path.
    ['list the files in src with their sizes', 'list_directory_with_sizes', {}, ['path']],
    ['show the directory tree of docs/guides', 'directory_tree', { path: 'docs/guides' }],
    ['create the directory build/out', 'create_directory', { path: 'build/out' }],
    ['move a.txt to old/a.txt', 'move_file', { source: 'a.txt', destination: 'old/a.txt' }],
    ['which directories may be accessed?', 'list_allowed_directories', {}],
    ['get the file info of package.json', 'get_file_info', { path: 'package.json' }],
    ['read the multiple files a.md and b.md', 'read_multiple_files', { paths: ['a.md', 'b.md'] }],
  ]),
  ...ofServer('github', [
    [
      'list open pull requests of octo/hello',
      'list_pull_requests',
      { owner: 'octo', repo: 'hello', state: 'open' },
    ],
    [
      'show pull request 12 in octo/hello',
      'get_pull_request',
      { owner: 'octo', repo: 'hello', pull_number: 12 },
    ],
    [
      'which files does PR 12 of octo/hello change?',
      'get_pull_request_files',
      { owner: 'octo', repo: 'hello', pull_number: 12 },
    ],
    [
      'what is the status of the checks of PR 12 in octo/hello?',
      'get_pull_request_status',
      { owner: 'octo', repo: 'hello', pull_number: 12 },
    ],
    [
      'closed issues labeled bug in octo/hello',
      'list_issues',
      { owner: 'octo', repo: 'hello', labels: ['bug'], state: 'closed' },
    ],
    [
      'search repositories for "static site generators"',
      'search_repositories',
      { query: 'static site generators' },
    ],
    [
      'merge PR #12 of octo/hello',
      'merge_pull_request',
      { owner: 'octo', repo: 'hello', pull_number: 12 },
    ],
    ['fork the repository octo/hello', 'fork_repository', { owner: 'octo', repo: 'hello' }],
    ['list the commits of octo/hello', 'list_commits', { owner: 'octo', repo: 'hello' }],
    [
      'create an issue in octo/hello with the title "Login fails"',
      'create_issue',
      { owner: 'octo', repo: 'hello', title: 'Login fails' },
    ],
  ]),
  ...ofServer('chrome-devtools', [
    [
      'navigate page 1 to https://example.com/shop',
      'navigate_page',
      { pageId: 1, url: 'https://example.com/shop' },
    ],
    ['click uid 1_4 on page 2', 'click', { pageId: 2, uid: '1_4' }],
    [
      'fill uid 1_3 with the value ann@example.com on page 1',
      'fill',
      { pageId: 1, uid: '1_3', value: 'ann@example.com' },
    ],
    ['list the console errors of page 1', 'list_console_messages', { pageId: 1, types: ['error'] }],
    [
      'show the last xhr requests of page 3',
      'list_network_requests',
      { pageId: 3, resourceTypes: ['xhr'] },
    ],
    [
      'reload page 1 and ignore the cache',
      'navigate_page',
      { pageId: 1, type: 'reload', ignoreCache: true },
    ],
    ['resize page 1 to 800x600', 'resize_page', { pageId: 1, width: 800, height: 600 }],
    ['run a lighthouse audit of page 1', 'lighthouse_audit', { pageId: 1 }],
    [
      'take a heap snapshot of page 1 into memory.heapsnapshot',
      'take_heapsnapshot',
      { pageId: 1, filePath: 'memory.heapsnapshot' },
    ],
  ]),
  ...ofServer('playwright', [
    ['with playwright, go back to the previous page', 'browser_navigate_back', {}],
    [
      'with playwright, navigate to http://127.0.0.1:8080/login',
      'browser_navigate',
      { url: 'http://127.0.0.1:8080/login' },
    ],
  ]),
  ...ofServer('database', [
    ['which databases are there?', 'list_databases', {}],
    ['list the tables of the database shop', 'list_tables', { database: 'shop' }],
    [
      'inspect the table users in the database shop',
      'inspect_table',
      { database: 'shop', table: 'users' },
    ],
    [
      'foreign keys of the table orders in the database shop',
      'get_foreign_keys',
      { database: 'shop', table: 'orders' },
    ],
    [
      'select query: SELECT name FROM users WHERE id = 1',
      'select_query',
      { query: 'SELECT name FROM users WHERE id = 1' },
      ['database'],
    ],
  ]),
  ...ofServer('memory', [
    ['read the whole knowledge graph', 'read_graph', {}],
    ['search the nodes of the knowledge graph for "Ann"', 'search_nodes', { query: 'Ann' }],
  ]),
  ...ofServer('graphql', [
    ['introspect the GraphQL schema', 'introspect-schema', {}],
    [
      'query GraphQL with query="{ users { name } }"',
      'query-graphql',
      { query: '{ users { name } }' },
    ],
  ]),
  ...ofServer('context7', [
    ['docs for Next.js app router', 'query-docs', { query: 'app router' }, ['libraryId']],
  ]),
  ...ofServer('everything', [
    ['echo "hello there"', 'echo', { message: 'hello there' }],
    [
      'trigger a long running operation with the duration 3 in 2 steps',
      'trigger-long-running-operation',
      { duration: 3, steps: 2 },
    ],
  ]),
]

function ofServer(server: string, rows: readonly Row[]): RoutedRequest[] {
  return rows.map(([request, name, params, missing]) => {
    const routed = { request, tool: `${server}__${name}`, params }
    return missing === undefined ? routed : { ...routed, missing }
  })
}
