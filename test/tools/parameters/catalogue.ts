import type { JsonObject, JsonValue } from '../../../src/core/json.ts'
import type { ToolDefinition } from '../../../src/tools/model.ts'

type Properties = Readonly<Record<string, JsonObject>>

const text: JsonObject = { type: 'string' }
const number: JsonObject = { type: 'number' }
const integer: JsonObject = { type: 'integer' }
const flag: JsonObject = { type: 'boolean' }
const texts: JsonObject = { type: 'array', items: text }
const repository = { owner: text, repo: text }

/** Tools in the shape that real servers list: names, types, choices and required parameters. */
export const catalogue: Readonly<Record<string, ToolDefinition>> = Object.fromEntries(
  [
    define('browser', 'select_page', { pageId: number, bringToFront: flag }, ['pageId']),
    define('browser', 'list_pages', {}),
    define('browser', 'new_page', { url: text, timeout: integer }, ['url']),
    define('browser', 'take_snapshot', { pageId: number, verbose: flag }, ['pageId']),
    define(
      'browser',
      'click',
      { pageId: number, uid: text, dblClick: flag, includeSnapshot: flag },
      ['pageId', 'uid'],
    ),
    define('browser', 'drag', { from_uid: text, to_uid: text }, ['from_uid', 'to_uid']),
    define('browser', 'fill', { pageId: number, uid: text, value: text }, [
      'pageId',
      'uid',
      'value',
    ]),
    define('browser', 'press_key', { pageId: number, key: text }, ['pageId', 'key']),
    define('browser', 'resize_page', { pageId: number, width: number, height: number }, [
      'pageId',
      'width',
      'height',
    ]),
    define('browser', 'handle_dialog', { action: choice('accept', 'dismiss'), promptText: text }, [
      'action',
    ]),
    define('browser', 'navigate_page', {
      type: choice('url', 'back', 'forward', 'reload'),
      url: text,
      ignoreCache: flag,
      timeout: integer,
    }),
    define('browser', 'take_screenshot', {
      pageId: number,
      format: choice('png', 'jpeg', 'webp'),
      quality: number,
      uid: text,
      fullPage: flag,
      filePath: text,
    }),
    define('browser', 'list_network_requests', {
      pageSize: integer,
      pageIdx: integer,
      resourceTypes: { type: 'array', items: choice('document', 'script', 'xhr', 'fetch') },
    }),
    define('browser', 'list_console_messages', {
      pageSize: integer,
      types: { type: 'array', items: choice('log', 'info', 'error', 'warn') },
    }),
    define('github', 'get_pull_request', { ...repository, pull_number: number }, [
      'owner',
      'repo',
      'pull_number',
    ]),
    define('github', 'get_pull_request_files', { ...repository, pull_number: number }, [
      'owner',
      'repo',
      'pull_number',
    ]),
    define('github', 'get_pull_request_status', { ...repository, pull_number: number }, [
      'owner',
      'repo',
      'pull_number',
    ]),
    define(
      'github',
      'merge_pull_request',
      {
        ...repository,
        pull_number: number,
        commit_title: text,
        merge_method: choice('merge', 'squash', 'rebase'),
      },
      ['owner', 'repo', 'pull_number'],
    ),
    define(
      'github',
      'list_pull_requests',
      {
        ...repository,
        state: choice('open', 'closed', 'all'),
        head: text,
        base: text,
        page: number,
        per_page: number,
      },
      ['owner', 'repo'],
    ),
    define(
      'github',
      'list_issues',
      {
        ...repository,
        state: choice('open', 'closed', 'all'),
        labels: texts,
        since: text,
        page: number,
      },
      ['owner', 'repo'],
    ),
    define('github', 'search_repositories', { query: text, page: number, perPage: number }, [
      'query',
    ]),
    define('graphql', 'filter_queries', { search: text }),
    define('graphql', 'get_field_details', { field_name: text }, ['field_name']),
    define('graphql', 'filter_mutations', { search: text }),
    define('graphql', 'get_type_details', { type_name: text }, ['type_name']),
    define('docs', 'resolve-library-id', { query: text, libraryName: text }, [
      'query',
      'libraryName',
    ]),
    define('docs', 'query-docs', { libraryId: text, query: text }, ['libraryId', 'query']),
    define(
      'thinking',
      'sequentialthinking',
      {
        thought: text,
        nextThoughtNeeded: flag,
        thoughtNumber: integer,
        totalThoughts: integer,
        isRevision: flag,
      },
      ['thought', 'nextThoughtNeeded', 'thoughtNumber', 'totalThoughts'],
    ),
    define('files', 'read_text_file', { path: text, tail: number, head: number }, ['path']),
    define('files', 'read_multiple_files', { paths: texts }, ['paths']),
    define('files', 'move_file', { source: text, destination: text }, ['source', 'destination']),
    define('files', 'write_file', { path: text, content: text }, ['path', 'content']),
    define('everything', 'echo', { message: text }, ['message']),
    define('everything', 'get-sum', { a: number, b: number }, ['a', 'b']),
    define('database', 'list_databases', {}),
    define('database', 'list_tables', { database: text }, ['database']),
    define('database', 'inspect_table', { database: text, table: text }, ['database', 'table']),
    define('database', 'execute_query', { database: text, query: text }, ['database', 'query']),
  ].map((tool) => [tool.name, tool]),
)

function define(
  server: string,
  name: string,
  properties: Properties,
  required: readonly string[] = [],
): ToolDefinition {
  return {
    id: `${server}__${name}`,
    server,
    name,
    description: name.replaceAll(/[_-]/g, ' '),
    inputSchema: { type: 'object', properties, required },
  }
}

function choice(...members: readonly JsonValue[]): JsonObject {
  return { type: 'string', enum: members }
}
