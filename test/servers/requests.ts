import type { JsonObject } from '../../src/tools/index.ts'

/** A request in words, and what it has to come to. */
export interface RoutedRequest {
  request: string
  tool: string
  params: JsonObject
  /** Required parameters that the words do not have; another tool has to give them. */
  missing?: readonly string[]
}

/** Requests as people write them, over all servers at once. */
export const routedRequests: readonly RoutedRequest[] = [
  {
    request: 'read the first 10 lines of notes/todo.md',
    tool: 'filesystem__read_text_file',
    params: { path: 'notes/todo.md', head: 10 },
  },
  {
    request: 'list the files in src with their sizes',
    tool: 'filesystem__list_directory_with_sizes',
    params: { path: 'src' },
  },
  {
    request: 'show the directory tree of docs/guides',
    tool: 'filesystem__directory_tree',
    params: { path: 'docs/guides' },
  },
  {
    request: 'create the directory build/out',
    tool: 'filesystem__create_directory',
    params: { path: 'build/out' },
  },
  {
    request: 'move a.txt to old/a.txt',
    tool: 'filesystem__move_file',
    params: { source: 'a.txt', destination: 'old/a.txt' },
  },
  {
    request: 'which directories may be accessed?',
    tool: 'filesystem__list_allowed_directories',
    params: {},
  },
  {
    request: 'get the file info of package.json',
    tool: 'filesystem__get_file_info',
    params: { path: 'package.json' },
  },
  {
    request: 'read the files a.md and b.md together',
    tool: 'filesystem__read_multiple_files',
    params: { paths: ['a.md', 'b.md'] },
  },
  {
    request: 'list open pull requests of octo/hello',
    tool: 'github__list_pull_requests',
    params: { owner: 'octo', repo: 'hello', state: 'open' },
  },
  {
    request: 'show pull request 12 in octo/hello',
    tool: 'github__get_pull_request',
    params: { owner: 'octo', repo: 'hello', pull_number: 12 },
  },
  {
    request: 'which files does PR 12 of octo/hello change?',
    tool: 'github__get_pull_request_files',
    params: { owner: 'octo', repo: 'hello', pull_number: 12 },
  },
  {
    request: 'what is the status of the checks of PR 12 in octo/hello?',
    tool: 'github__get_pull_request_status',
    params: { owner: 'octo', repo: 'hello', pull_number: 12 },
  },
  {
    request: 'closed issues labeled bug in octo/hello',
    tool: 'github__list_issues',
    params: { owner: 'octo', repo: 'hello', labels: ['bug'], state: 'closed' },
  },
  {
    request: 'search repositories for static site generators',
    tool: 'github__search_repositories',
    params: { query: 'static site generators' },
  },
  {
    request: 'merge PR #12 of octo/hello',
    tool: 'github__merge_pull_request',
    params: { owner: 'octo', repo: 'hello', pull_number: 12 },
  },
  {
    request: 'fork the repository octo/hello',
    tool: 'github__fork_repository',
    params: { owner: 'octo', repo: 'hello' },
  },
  {
    request: 'list the commits of octo/hello',
    tool: 'github__list_commits',
    params: { owner: 'octo', repo: 'hello' },
  },
  {
    request: 'create an issue in octo/hello with the title "Login fails"',
    tool: 'github__create_issue',
    params: { owner: 'octo', repo: 'hello', title: 'Login fails' },
  },
  {
    request: 'navigate page 1 to https://example.com/shop',
    tool: 'chrome-devtools__navigate_page',
    params: { pageId: 1, type: 'url', url: 'https://example.com/shop' },
  },
  {
    request: 'click uid 1_4 on page 2',
    tool: 'chrome-devtools__click',
    params: { pageId: 2, uid: '1_4' },
  },
  {
    request: 'fill uid 1_3 with ann@example.com on page 1',
    tool: 'chrome-devtools__fill',
    params: { pageId: 1, uid: '1_3', value: 'ann@example.com' },
  },
  {
    request: 'list the console errors of page 1',
    tool: 'chrome-devtools__list_console_messages',
    params: { pageId: 1, types: ['error'] },
  },
  {
    request: 'show the last xhr requests of page 3',
    tool: 'chrome-devtools__list_network_requests',
    params: { pageId: 3, resourceTypes: ['xhr'] },
  },
  {
    request: 'reload page 1 and ignore the cache',
    tool: 'chrome-devtools__navigate_page',
    params: { pageId: 1, type: 'reload', ignoreCache: true },
  },
  {
    request: 'resize page 1 to 800x600',
    tool: 'chrome-devtools__resize_page',
    params: { pageId: 1, width: 800, height: 600 },
  },
  {
    request: 'run a lighthouse audit of page 1',
    tool: 'chrome-devtools__lighthouse_audit',
    params: { pageId: 1 },
  },
  {
    request: 'take a heap snapshot of page 1 into memory.heapsnapshot',
    tool: 'chrome-devtools__take_heapsnapshot',
    params: { pageId: 1, filePath: 'memory.heapsnapshot' },
  },
  {
    request: 'with playwright, go back to the previous page',
    tool: 'playwright__browser_navigate_back',
    params: {},
  },
  {
    request: 'with playwright, navigate to http://127.0.0.1:8080/login',
    tool: 'playwright__browser_navigate',
    params: { url: 'http://127.0.0.1:8080/login' },
  },
  {
    request: 'which databases are there?',
    tool: 'database__list_databases',
    params: {},
  },
  {
    request: 'list the tables of the database shop',
    tool: 'database__list_tables',
    params: { database: 'shop' },
  },
  {
    request: 'inspect the table users in the database shop',
    tool: 'database__inspect_table',
    params: { database: 'shop', table: 'users' },
  },
  {
    request: 'foreign keys of the table orders in the database shop',
    tool: 'database__get_foreign_keys',
    params: { database: 'shop', table: 'orders' },
  },
  {
    request: 'select query: SELECT name FROM users WHERE id = 1',
    tool: 'database__select_query',
    params: { query: 'SELECT name FROM users WHERE id = 1' },
    missing: ['database'],
  },
  {
    request: 'read the whole knowledge graph',
    tool: 'memory__read_graph',
    params: {},
  },
  {
    request: 'search the nodes of the knowledge graph for "Ann"',
    tool: 'memory__search_nodes',
    params: { query: 'Ann' },
  },
  {
    request: 'introspect the GraphQL schema',
    tool: 'graphql__introspect-schema',
    params: {},
  },
  {
    request: 'query GraphQL with "{ users { name } }"',
    tool: 'graphql__query-graphql',
    params: { query: '{ users { name } }' },
  },
  {
    request: 'find the library id of Next.js for the app router',
    tool: 'context7__resolve-library-id',
    params: { libraryName: 'Next.js', query: 'app router' },
  },
  {
    request: 'echo hello there',
    tool: 'everything__echo',
    params: { message: 'hello there' },
  },
  {
    request: 'what is the sum of 17 and 25?',
    tool: 'everything__get-sum',
    params: { a: 17, b: 25 },
  },
  {
    request: 'wait with a long running operation of 3 seconds in 2 steps',
    tool: 'everything__trigger-long-running-operation',
    params: { duration: 3, steps: 2 },
  },
]
