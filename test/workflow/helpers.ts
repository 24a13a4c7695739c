import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Runtime, systemRuntime } from '../../src/core/runtime.ts'
import type {
  GatedCall,
  JsonObject,
  ScopeValues,
  WorkflowDefinition,
  WorkflowTool,
} from '../../src/tools/workflow/model.ts'
import { readWorkflows } from '../../src/tools/workflow/read-workflows.ts'
import { findCompletion } from '../../src/tools/workflow/session-file.ts'
import type { SessionStore } from '../../src/tools/workflow/session.ts'
import { workflowTemplates } from '../../src/tools/workflow/templates.ts'

export function temporaryProject(): string {
  return mkdtempSync(join(tmpdir(), 'workflow-'))
}

/** The default settings. */
export const settings = { state: { directory: '' }, tools: { sessionHours: 24 } }

const home = temporaryProject()

/** A runtime whose clock is moved by hand and whose environment is empty. */
export function testRuntime(
  overrides: Partial<Runtime> = {},
): Runtime & { clock: { now: number } } {
  const clock = { now: Date.UTC(2026, 1, 4, 10) }
  const runtime = systemRuntime({ now: () => clock.now, env: {}, home, ...overrides })
  return { ...runtime, clock }
}

export function workflowsOf(value: object): readonly WorkflowDefinition[] {
  const { workflows, diagnostics } = readWorkflows([
    { path: 'workflows.json', text: JSON.stringify(value) },
  ])
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(JSON.stringify(errors))
  return workflows
}

export function template(name: string): readonly WorkflowDefinition[] {
  const definition = workflowTemplates.find((item) => item.template === name)
  return definition === undefined ? [] : workflowsOf({ [definition.name]: definition.definition })
}

export function workflow(name: string, more: object = {}): object {
  return {
    [name]: {
      description: 'x',
      triggers: { tools: ['go'] },
      prerequisites: [step(1, 'look')],
      ...more,
    },
  }
}

/** A prerequisite as a file has it. */
export function step(number: number, name: string, more: object = {}): object {
  return { step: number, tool: name, description: 'x', ...more }
}

/** Tools of one server, of which only the names are known. */
export function toolsNamed(...names: string[]): WorkflowTool[] {
  return names.map((name) => tool(`s__${name}`))
}

export function tool(id: string, more: Partial<WorkflowTool> = {}): WorkflowTool {
  const [server = '', ...rest] = id.split('__')
  return { id, server, name: rest.join('__'), ...more }
}

export function call(
  called: WorkflowTool,
  params: JsonObject = {},
  more: Partial<GatedCall> = {},
): GatedCall {
  return { tool: called, params, ...more }
}

function tools(
  server: string,
  category: string,
  table: Record<string, { required?: string[]; optional?: string[] }>,
): WorkflowTool[] {
  return Object.entries(table).map(([name, { required = [], optional = [] }]) => ({
    id: `${server}__${name}`,
    server,
    name,
    category,
    ...(required.length + optional.length > 0
      ? { required, parameters: [...required, ...optional] }
      : {}),
  }))
}

/** As mcp-database-inspector 2.1.1 lists them. */
export const databaseTools = tools('db', 'database', {
  list_databases: { optional: ['database_url'] },
  list_tables: { required: ['database'], optional: ['database_url'] },
  inspect_table: { required: ['database'], optional: ['database_url', 'table', 'tables'] },
  get_foreign_keys: { required: ['database'], optional: ['database_url', 'table', 'tables'] },
  get_indexes: { required: ['database'], optional: ['database_url', 'table', 'tables'] },
  information_schema_query: {
    required: ['database', 'table'],
    optional: ['database_url', 'filters', 'limit'],
  },
  execute_query: {
    required: ['database', 'query'],
    optional: ['database_url', 'params', 'limit'],
  },
  select_query: { required: ['database', 'query'], optional: ['database_url', 'params', 'limit'] },
  analyze_query: { required: ['database', 'query'], optional: ['database_url'] },
})

/** Some of chrome-devtools-mcp 1.11 with its page routing. */
export const browserTools = tools('chrome', 'browser', {
  click: { required: ['pageId', 'uid'], optional: ['dblClick'] },
  fill: { required: ['pageId', 'uid', 'value'] },
  fill_form: { required: ['pageId', 'elements'] },
  list_pages: {},
  navigate_page: { required: ['pageId'], optional: ['type', 'url', 'ignoreCache'] },
  new_page: { required: ['url'] },
  select_page: { required: ['pageId'] },
  take_snapshot: { required: ['pageId'], optional: ['verbose'] },
  take_screenshot: { required: ['pageId'], optional: ['fullPage'] },
})

/** Some of @playwright/mcp 0.0.83. */
export const playwrightTools = tools('playwright', 'browser', {
  browser_click: { required: ['target'], optional: ['element'] },
  browser_navigate: { required: ['url'] },
  browser_snapshot: { optional: ['filename', 'depth'] },
})

const pullRequest = ['owner', 'repo', 'pull_number']

/** Some of @modelcontextprotocol/server-github 2025.4.8. */
export const githubTools = tools('github', 'github', {
  search_repositories: { required: ['query'] },
  get_pull_request: { required: pullRequest },
  get_pull_request_files: { required: pullRequest },
  get_pull_request_status: { required: pullRequest },
  merge_pull_request: { required: pullRequest, optional: ['merge_method'] },
  create_pull_request_review: { required: [...pullRequest, 'body', 'event'] },
})

/** Some of github/github-mcp-server. */
export const newGithubTools = tools('gh', 'github', {
  pull_request_read: { required: ['method', 'owner', 'repo', 'pullNumber'] },
  merge_pull_request: { required: ['owner', 'repo', 'pullNumber'] },
  pull_request_review_write: { required: ['method', 'owner', 'repo', 'pullNumber'] },
})

/** mcp-graphql 2.0.4. */
export const graphqlTools = tools('api', 'graphql', {
  'introspect-schema': {},
  'query-graphql': { required: ['query'], optional: ['variables'] },
})

/** Records a finished prerequisite. */
export function record(
  session: SessionStore,
  workflow: string,
  tool: string,
  scope: ScopeValues,
  result: string,
): Promise<void> {
  return session.change([{ kind: 'record', workflow, tool, scope, result }])
}

export async function isValid(
  session: SessionStore,
  workflow: string,
  tool: string,
  scope: ScopeValues,
): Promise<boolean> {
  const { state } = await session.read()
  return findCompletion(state, workflow, tool, scope) !== undefined
}
