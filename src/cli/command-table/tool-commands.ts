import type { CommandEntry } from './command-entry.ts'

/** Tools of MCP servers, workflows in front of them, and sessions. */
export const toolCommands: readonly CommandEntry[] = [
  {
    name: 'tools import',
    group: 'Tools',
    summary: 'Show which MCP servers are configured where, and which wins',
    load: () => import('../../tools/commands/import.ts'),
  },
  {
    name: 'tools servers',
    group: 'Tools',
    summary: 'List the MCP servers, and start them to see',
    load: () => import('../../tools/commands/servers.ts'),
  },
  {
    name: 'tools serve',
    group: 'Tools',
    summary: 'Keep the servers of this project between commands',
    load: () => import('../../tools/commands/serve.ts'),
  },
  {
    name: 'tools refresh',
    group: 'Tools',
    summary: 'Ask the MCP servers for their tools and rebuild the cache',
    load: () => import('../../tools/commands/refresh.ts'),
  },
  {
    name: 'tools list',
    group: 'Tools',
    summary: 'List the tools that are known, by category',
    load: () => import('../../tools/commands/list.ts'),
  },
  {
    name: 'tools show',
    group: 'Tools',
    summary: 'Show one tool: parameters, hints, what guards it',
    load: () => import('../../tools/commands/show.ts'),
  },
  {
    name: 'tools search',
    group: 'Tools',
    summary: 'Find tools by words',
    load: () => import('../../tools/commands/search.ts'),
  },
  {
    name: 'workflow list',
    group: 'Tools',
    summary: 'List the workflows: what comes before which tool',
    load: () => import('../../tools/commands/workflow-list.ts'),
  },
  {
    name: 'workflow add',
    group: 'Tools',
    summary: 'Add a workflow, from a template or by hand',
    load: () => import('../../tools/commands/workflow-add.ts'),
  },
  {
    name: 'workflow edit',
    group: 'Tools',
    summary: 'Change a workflow',
    load: () => import('../../tools/commands/workflow-edit.ts'),
  },
  {
    name: 'workflow enable',
    group: 'Tools',
    summary: 'Enforce a workflow again',
    load: async () => ({
      command: (await import('../../tools/commands/workflow-toggle.ts')).enable,
    }),
  },
  {
    name: 'workflow disable',
    group: 'Tools',
    summary: 'Let a workflow rest',
    load: async () => ({
      command: (await import('../../tools/commands/workflow-toggle.ts')).disable,
    }),
  },
  {
    name: 'workflow remove',
    group: 'Tools',
    summary: 'Delete a workflow',
    load: () => import('../../tools/commands/workflow-remove.ts'),
  },
  {
    name: 'workflow check',
    group: 'Tools',
    summary: 'Find cycles, conflicts and tools that are not there',
    load: () => import('../../tools/commands/workflow-check.ts'),
  },
  {
    name: 'workflow plan',
    group: 'Tools',
    summary: 'Show what would run before a call',
    load: () => import('../../tools/commands/workflow-plan.ts'),
  },
  {
    name: 'session show',
    group: 'Tools',
    summary: 'Show what has run in this session, and its calls',
    load: async () => ({ command: (await import('../../tools/commands/sessions.ts')).show }),
  },
  {
    name: 'session clear',
    group: 'Tools',
    summary: 'Forget what has run, so that it runs again',
    load: async () => ({ command: (await import('../../tools/commands/sessions.ts')).clear }),
  },
  {
    name: 'session list',
    group: 'Tools',
    summary: 'List the sessions of this project',
    load: async () => ({ command: (await import('../../tools/commands/sessions.ts')).list }),
  },
  {
    name: 'tools route',
    group: 'Tools',
    summary: 'Say which tool a request means, and why',
    load: () => import('../../tools/commands/route.ts'),
  },
  {
    name: 'tools learn add',
    group: 'Tools',
    summary: 'Teach the router a request of yours, or correct it',
    load: async () => ({ command: (await import('../../tools/commands/learned.ts')).add }),
  },
  {
    name: 'tools learn list',
    group: 'Tools',
    summary: 'List what was learned in this project',
    load: async () => ({ command: (await import('../../tools/commands/learned.ts')).list }),
  },
  {
    name: 'tools learn remove',
    group: 'Tools',
    summary: 'Forget a request, or all of a tool',
    load: async () => ({ command: (await import('../../tools/commands/learned.ts')).remove }),
  },
  {
    name: 'tools learn clear',
    group: 'Tools',
    summary: 'Forget everything that was learned in this project',
    load: async () => ({ command: (await import('../../tools/commands/learned.ts')).clear }),
  },
  {
    name: 'tools do',
    group: 'Tools',
    summary: 'Find the right tool for a request, and call it',
    load: () => import('../../tools/commands/do.ts'),
  },
  {
    name: 'tools call',
    group: 'Tools',
    summary: 'Call one tool, behind the gate of workflows',
    load: () => import('../../tools/commands/call.ts'),
  },
  {
    name: 'tools batch',
    group: 'Tools',
    summary: 'Call up to ten tools, one after the other',
    load: async () => ({ command: (await import('../../tools/commands/steps.ts')).batch }),
  },
  {
    name: 'tools chain',
    group: 'Tools',
    summary: 'Call up to five tools, each with the answers of those before',
    load: async () => ({ command: (await import('../../tools/commands/steps.ts')).chain }),
  },
  {
    name: 'mcp serve',
    group: 'Tools',
    summary: 'Serve skills, tools and chains of this project as an MCP server',
    load: () => import('../../mcp/command.ts'),
  },
]
