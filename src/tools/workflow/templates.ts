import type { JsonObject } from './model.ts'

interface WorkflowTemplate {
  template: string
  name: string
  definition: JsonObject & { description: string }
}

/** The tables of the statement in the call, or those that the call names, as a list or one by one. */
const tables = {
  tables: '$call.tables ?? $sql.tables',
  table: '$call.table ?? $call.tables[] ?? $sql.tables[]',
}
/** On some servers the text before a table is a schema, so it comes last. */
const database = '$call.database ?? $databases.databases[*].name ?? $sql.database'

export const workflowTemplates: readonly WorkflowTemplate[] = [
  {
    template: 'database',
    name: 'database-safe-query',
    definition: {
      enabled: true,
      description: 'Inspect the structure of a database before a query runs',
      triggers: {
        category: 'database',
        tools: ['execute_query', 'select_query'],
        changes: true,
        keywords: ['query', 'select', 'insert', 'update', 'delete', 'sql'],
      },
      prerequisites: [
        {
          ...prerequisite(1, 'list_databases', 'Know which databases there are'),
          params: { database_url: '$call.database_url?' },
          output_as: 'databases',
        },
        databaseStep(2, 'list_tables', 'Know the tables of the database'),
        databaseStep(3, 'inspect_table', 'Check columns, types and constraints', tables),
        { ...databaseStep(4, 'get_indexes', 'Check indexes', tables), required: false },
      ],
      aliases: {
        execute_query: ['execute_sql', 'write_query', 'query'],
        select_query: ['read_query'],
        inspect_table: ['describe_table'],
        get_indexes: ['list_indexes'],
      },
      mode: 'enforce',
    },
  },
  {
    template: 'browser',
    name: 'browser-safe-interaction',
    definition: {
      enabled: true,
      description: 'Take a snapshot before anything on a page is used',
      triggers: {
        category: 'browser',
        tools: ['click', 'fill', 'fill_form', 'submit'],
        keywords: ['click', 'fill', 'submit', 'form', 'button'],
      },
      prerequisites: [
        {
          ...prerequisite(
            1,
            'take_snapshot',
            'Capture the state of the page and the uids of its elements',
          ),
          params: { pageId: '$call.pageId?' },
          scope: ['page', 'instance'],
          invalidated_by: ['navigate_page', 'new_page', 'select_page', 'close_page'],
        },
      ],
      aliases: {
        click: ['browser_click'],
        fill: ['browser_type'],
        fill_form: ['browser_fill_form'],
        take_snapshot: ['browser_snapshot'],
        navigate_page: ['browser_navigate', 'browser_navigate_back'],
        new_page: ['browser_tabs'],
        select_page: ['browser_tabs'],
        close_page: ['browser_close'],
      },
      mode: 'enforce',
    },
  },
  {
    template: 'github-pr',
    name: 'github-pr-review',
    definition: {
      enabled: true,
      description: 'Read a pull request before it is reviewed or merged',
      triggers: {
        category: 'github',
        tools: ['merge_pull_request', 'create_pull_request_review'],
        keywords: ['merge', 'review pr', 'approve pr'],
      },
      prerequisites: [
        pullRequestStep(1, 'get_pull_request', 'Get title, description and state'),
        pullRequestStep(2, 'get_pull_request_files', 'List the changed files'),
        pullRequestStep(3, 'get_pull_request_status', 'Check the state of its checks'),
      ],
      aliases: {
        // One tool of newer servers reads all parts of a pull request.
        get_pull_request: [pullRequestReader('get')],
        get_pull_request_files: [pullRequestReader('get_files')],
        get_pull_request_status: [pullRequestReader('get_status')],
        create_pull_request_review: [
          'pull_request_review_write',
          'create_and_submit_pull_request_review',
        ],
      },
      mode: 'warn',
    },
  },
  {
    template: 'graphql',
    name: 'graphql-schema-aware',
    definition: {
      enabled: true,
      description: 'Know the schema before a query or a mutation is sent',
      triggers: {
        category: 'graphql',
        tools: ['execute_query', 'execute_mutation'],
        keywords: ['graphql query', 'graphql mutation'],
      },
      prerequisites: [
        prerequisite(1, 'get_schema', 'Fetch the schema'),
        { ...prerequisite(2, 'filter_types', 'Find the types that matter'), required: false },
      ],
      aliases: {
        get_schema: ['introspect-schema', 'get_graphql_schema'],
        execute_query: ['query-graphql'],
        execute_mutation: ['query-graphql'],
      },
      mode: 'suggest',
    },
  },
]

function prerequisite(step: number, tool: string, description: string) {
  return { step, tool, description, required: true }
}

function databaseStep(step: number, tool: string, description: string, more: JsonObject = {}) {
  const params = { database, database_url: '$call.database_url?', ...more }
  return { ...prerequisite(step, tool, description), params, scope: Object.keys(params) }
}

function pullRequestStep(step: number, tool: string, description: string): JsonObject {
  const scope = ['owner', 'repo', 'pull_number']
  return {
    ...prerequisite(step, tool, description),
    params: Object.fromEntries(scope.map((name) => [name, `$call.${name}`])),
    scope,
    invalidated_by: ['update_pull_request_branch', 'push_files', 'create_or_update_file'],
  }
}

function pullRequestReader(method: string): JsonObject {
  return { tool: 'pull_request_read', params: { method } }
}
