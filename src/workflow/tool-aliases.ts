import type { JsonObject } from './model.ts'

/** What another server calls a tool that a workflow names. */
export interface ToolAlias {
  name: string
  /** Parameters that make the other tool do the same. */
  params?: JsonObject | undefined
}

type Aliases = Readonly<Record<string, readonly ToolAlias[]>>

/**
 * Other names of tools, by canonical category: a workflow uses those of its category. The tool that
 * a workflow names itself comes first. `-` and `_`, capital and small letters are the same anyway.
 */
export const toolAliases: Readonly<Record<string, Aliases>> = {
  browser: {
    // @playwright/mcp
    click: [{ name: 'browser_click' }],
    fill: [{ name: 'browser_type' }],
    fill_form: [{ name: 'browser_fill_form' }],
    take_snapshot: [{ name: 'browser_snapshot' }],
    navigate_page: [{ name: 'browser_navigate' }, { name: 'browser_navigate_back' }],
    new_page: [{ name: 'browser_tabs' }],
    select_page: [{ name: 'browser_tabs' }],
    close_page: [{ name: 'browser_close' }],
  },
  database: {
    // mcp-server-sqlite-npx, @bytebase/dbhub
    execute_query: [{ name: 'execute_sql' }, { name: 'write_query' }, { name: 'query' }],
    select_query: [{ name: 'read_query' }],
    inspect_table: [{ name: 'describe_table' }],
    get_indexes: [{ name: 'list_indexes' }],
  },
  github: {
    // github/github-mcp-server put the readers of a pull request into one tool
    get_pull_request: [{ name: 'pull_request_read', params: { method: 'get' } }],
    get_pull_request_files: [{ name: 'pull_request_read', params: { method: 'get_files' } }],
    get_pull_request_status: [{ name: 'pull_request_read', params: { method: 'get_status' } }],
    create_pull_request_review: [
      { name: 'pull_request_review_write' },
      { name: 'create_and_submit_pull_request_review' },
    ],
  },
  graphql: {
    // mcp-graphql
    get_schema: [{ name: 'introspect-schema' }, { name: 'get_graphql_schema' }],
    execute_query: [{ name: 'query-graphql' }],
    execute_mutation: [{ name: 'query-graphql' }],
  },
}
