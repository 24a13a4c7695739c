import type { ToolSummary } from '../../../src/tools/model.ts'

type Row = readonly [name: string, description: string, parameters?: string]

const servers: Record<string, { category: string; rows: readonly Row[] }> = {
  devtools: {
    category: 'browser',
    rows: [
      [
        'take_screenshot',
        'Saves a picture of the page or of one element.',
        'uid fullPage filePath',
      ],
      ['take_snapshot', 'Lists the elements of the page with their uids as text.', 'verbose'],
      ['click', 'Clicks an element of the page.', 'uid dblClick'],
      ['fill', 'Types a value into an input of the page.', 'uid value'],
      ['hover', 'Moves the pointer over an element.', 'uid'],
      ['navigate_page', 'Loads a URL, or goes back, forward or reloads.', 'type url'],
      ['list_pages', 'Lists the tabs that are open in the browser.'],
      ['list_console_messages', 'Messages of the console: logs, warnings, errors.', 'types'],
      ['list_network_requests', 'Requests that the page sent over the network.', 'resourceTypes'],
    ],
  },
  github: {
    category: 'github',
    rows: [
      ['list_pull_requests', 'Lists the pull requests of a repository.', 'owner repo state'],
      ['get_pull_request', 'One pull request with its details.', 'owner repo pull_number'],
      ['merge_pull_request', 'Merges a pull request.', 'owner repo pull_number'],
      ['list_issues', 'Issues of a repository, by label and state.', 'owner repo labels state'],
      ['create_issue', 'Opens a new issue in a repository.', 'owner repo title'],
      ['search_repositories', 'Finds repositories by words.', 'query'],
      ['get_file_contents', 'The content of a file in a repository.', 'owner repo path'],
    ],
  },
  graph: {
    category: 'graphql',
    rows: [
      ['filter_queries', 'The queries that a GraphQL schema offers.', 'search'],
      ['filter_mutations', 'The mutations that a GraphQL schema offers.', 'search'],
      ['get_type_details', 'The fields of one type of a GraphQL schema.', 'type_name'],
    ],
  },
  library: {
    category: 'docs',
    rows: [
      [
        'resolve-library-id',
        'Finds the id of a library for its documentation.',
        'libraryName query',
      ],
      ['query-docs', 'Documentation and examples of a library.', 'libraryId query'],
    ],
  },
  brain: {
    category: 'memory',
    rows: [
      ['memory_search', 'Recalls past decisions, sessions and notes.', 'query'],
      ['memory_write', 'Keeps a note or a decision for later sessions.', 'text'],
      ['code_context', 'What calls a function and what it calls, in the codebase.', 'symbol'],
    ],
  },
  files: {
    category: 'filesystem',
    rows: [
      ['read_file', 'The text of a file on the disk.', 'path'],
      ['write_file', 'Writes text to a file on the disk.', 'path content'],
      ['list_directory', 'The names in a directory on the disk.', 'path'],
    ],
  },
}

/** Tools in our own words, of the kinds that people have. */
export const tools: readonly ToolSummary[] = Object.entries(servers).flatMap(
  ([server, { category, rows }]) =>
    rows.map(([name, description, parameters = '']) => ({
      id: `${server}__${name}`,
      server,
      name,
      description,
      parameters: parameters.split(' ').filter((parameter) => parameter !== ''),
      required: [],
      category,
    })),
)
