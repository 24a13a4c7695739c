/** One category that tools of well-known servers belong to. */
export interface CatalogueEntry {
  /** Canonical name. */
  name: string
  /** Other names that caches, templates and people use for it. */
  aliases: readonly string[]
  description: string
  /** 5 to 10, written into the cache; a phrase counts as its words. */
  keywords: readonly string[]
  /** Further words of a tool's name or description that speak for it. */
  words: readonly string[]
  /** Words of a server's name that settle it for all its tools: `playwright`. */
  servers: readonly string[]
  /** Tools as servers list them, in snake case, separated by spaces. */
  tools: string
}

/**
 * What is known without asking anybody. Where two entries score the same, the earlier one is meant.
 * Tool names are those of the servers themselves and of the templates that came with the format.
 */
export const categoryCatalogue: readonly CatalogueEntry[] = [
  {
    name: 'browser',
    aliases: ['browser-automation', 'web-browser', 'browser-control', 'web-automation', 'devtools'],
    description: 'Controls a web browser: pages, elements, console, network and performance.',
    keywords: [
      'browser',
      'page',
      'screenshot',
      'click',
      'navigate',
      'element',
      'fill',
      'hover',
      'console',
      'network',
    ],
    words: ['snapshot', 'dom', 'drag', 'upload', 'dialog', 'performance', 'emulate', 'tab', 'css'],
    servers: [
      'browser',
      'playwright',
      'puppeteer',
      'devtools',
      'chrome',
      'selenium',
      'browserbase',
    ],
    tools:
      'take_screenshot take_snapshot click fill fill_form press_key hover drag upload_file ' +
      'handle_dialog wait_for navigate_page new_page close_page list_pages select_page ' +
      'resize_page emulate evaluate_script list_network_requests get_network_request ' +
      'list_console_messages get_console_message performance_start_trace ' +
      'performance_stop_trace performance_analyze_insight',
  },
  {
    name: 'github',
    aliases: [
      'github-operations',
      'version-control',
      'git',
      'gitlab',
      'source-control',
      'code-hosting',
    ],
    description: 'Works with repositories, issues, pull requests, commits and code search.',
    keywords: [
      'github',
      'pull request',
      'pr',
      'issue',
      'repository',
      'repo',
      'commit',
      'branch',
      'review',
      'code search',
    ],
    words: ['merge', 'fork', 'gitlab', 'git', 'diff', 'tag', 'release', 'workflow'],
    servers: ['github', 'gitlab', 'git', 'bitbucket', 'gitea'],
    tools:
      'search_repositories search_users search_code get_file_contents list_issues get_issue ' +
      'search_issues list_commits create_branch get_pull_request list_pull_requests ' +
      'get_pull_request_files get_pull_request_status get_pull_request_reviews ' +
      'create_pull_request create_pull_request_review merge_pull_request create_issue ' +
      'update_issue add_issue_comment fork_repository push_files',
  },
  {
    name: 'graphql',
    aliases: ['graphql-introspection', 'graphql-api', 'graphql-tools'],
    description: 'Looks into a GraphQL schema and runs its queries and mutations.',
    keywords: ['graphql', 'schema', 'query', 'mutation', 'type', 'field', 'introspection'],
    words: ['introspect', 'subscription', 'endpoint'],
    servers: ['graphql', 'apollo', 'hasura'],
    tools:
      'get_graphql_schema get_schema introspect_schema query_graphql filter_queries ' +
      'filter_mutations filter_types get_type_details get_field_details execute_mutation',
  },
  {
    name: 'docs',
    aliases: ['documentation', 'documentation-lookup', 'library-docs', 'reference'],
    description: 'Looks up the documentation of libraries and APIs.',
    keywords: [
      'docs',
      'documentation',
      'reference',
      'api',
      'usage',
      'example',
      'library',
      'how to',
    ],
    words: ['package', 'snippet', 'guide', 'manual'],
    servers: ['context7', 'docs', 'documentation', 'deepwiki', 'devdocs'],
    tools: 'resolve_library_id query_docs get_library_docs',
  },
  {
    name: 'database',
    aliases: [
      'databases',
      'sql',
      'db',
      'data-storage',
      'database-operations',
      'database-inspection',
    ],
    description: 'Inspects and queries databases: tables, columns, indexes and rows.',
    keywords: ['database', 'sql', 'table', 'query', 'select', 'column', 'index', 'row', 'schema'],
    words: ['insert', 'update', 'foreign', 'key', 'collection', 'record', 'join'],
    servers: [
      'database',
      'postgres',
      'postgresql',
      'mysql',
      'mariadb',
      'sqlite',
      'dbhub',
      'sql',
      'mssql',
      'mongodb',
      'redis',
      'duckdb',
      'clickhouse',
      'bigquery',
      'snowflake',
    ],
    tools:
      'list_databases list_tables inspect_table describe_table create_table get_indexes ' +
      'get_foreign_keys information_schema_query execute_query execute_sql select_query ' +
      'analyze_query read_query write_query',
  },
  {
    name: 'filesystem',
    aliases: ['files', 'file-system', 'file-operations', 'fs'],
    description: 'Reads, writes, moves and searches files and directories.',
    keywords: ['file', 'directory', 'folder', 'path', 'read', 'write', 'edit', 'move', 'tree'],
    words: ['filesystem', 'copy', 'rename', 'content', 'media'],
    servers: ['filesystem', 'files', 'fs'],
    tools:
      'read_file read_text_file read_media_file read_multiple_files write_file edit_file ' +
      'create_directory list_directory list_directory_with_sizes directory_tree move_file ' +
      'search_files get_file_info list_allowed_directories',
  },
  {
    name: 'memory',
    aliases: ['memory-knowledge', 'memory-and-knowledge', 'knowledge', 'knowledge-graph', 'recall'],
    description: 'Remembers and recalls facts, decisions, past sessions and knowledge of the code.',
    keywords: [
      'memory',
      'recall',
      'knowledge',
      'session',
      'context',
      'graph',
      'entity',
      'symbol',
      'impact',
      'focus',
    ],
    words: ['remember', 'relation', 'observation', 'codebase', 'dependency', 'node', 'past'],
    servers: ['memory', 'mem0', 'brain', 'knowledge'],
    tools:
      'create_entities create_relations add_observations delete_entities delete_observations ' +
      'delete_relations read_graph search_nodes open_nodes memory_search memory_vsearch ' +
      'memory_query memory_get memory_multi_get memory_write memory_set memory_delete ' +
      'memory_keys memory_status memory_index_codebase memory_update memory_focus ' +
      'memory_graph_stats memory_symbols memory_impact code_context code_impact ' +
      'code_detect_changes',
  },
  {
    name: 'reasoning',
    aliases: ['thinking', 'sequential-thinking', 'structured-reasoning', 'analysis'],
    description: 'Thinks a problem through in ordered steps.',
    keywords: ['reasoning', 'thinking', 'thought', 'step by step', 'analyze', 'break down', 'plan'],
    words: ['sequential', 'hypothesis', 'conclusion', 'problem'],
    servers: ['sequential', 'thinking', 'reasoning'],
    tools: 'sequentialthinking sequential_thinking think',
  },
  {
    name: 'communication',
    aliases: ['messaging', 'chat', 'email', 'team-communication'],
    description: 'Sends and reads messages, channels and mail.',
    keywords: ['message', 'channel', 'chat', 'email', 'send', 'reply', 'thread', 'inbox'],
    words: ['slack', 'discord', 'teams', 'mail', 'notification', 'sms'],
    servers: [
      'slack',
      'discord',
      'telegram',
      'teams',
      'gmail',
      'email',
      'mail',
      'whatsapp',
      'twilio',
    ],
    tools: 'slack_post_message slack_list_channels send_email send_message',
  },
]
