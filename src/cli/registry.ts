import type { AnyCommand } from '../core/command.ts'

/** One line of `skillrail --help`, and where the command lives. */
export interface CommandEntry {
  /** The words that call it: `list`, `runs show`. */
  name: string
  group: CommandGroup
  summary: string
  load: () => Promise<{ command: AnyCommand }>
}

export type CommandGroup =
  | 'Run'
  | 'Chain'
  | 'Agent'
  | 'Tools'
  | 'Library'
  | 'Author'
  | 'Triggers'
  | 'Machine'

/** Every command, in the order of the help page. Each file is loaded only when it is called. */
export const commands: readonly CommandEntry[] = [
  entry('run', 'Run', 'Run a skill or a chain of skills', () => import('../chain/commands/run.ts')),
  entry('runs list', 'Run', 'List the runs of this project', async () => ({
    command: (await import('../chain/commands/runs.ts')).list,
  })),
  entry('runs show', 'Run', 'Show one run: steps, times, results', async () => ({
    command: (await import('../chain/commands/runs.ts')).show,
  })),
  entry('runs resume', 'Run', 'Go on with an interrupted run', async () => ({
    command: (await import('../chain/commands/repeat.ts')).resume,
  })),
  entry('runs retry', 'Run', 'Run again what failed or changed, and reuse the rest', async () => ({
    command: (await import('../chain/commands/repeat.ts')).retry,
  })),
  entry('runs fork', 'Run', 'Start a new run from a step of an old one', async () => ({
    command: (await import('../chain/commands/repeat.ts')).fork,
  })),
  entry('runs cancel', 'Run', 'End a run that is going on or waiting', async () => ({
    command: (await import('../chain/commands/runs.ts')).cancel,
  })),
  entry('runs approve', 'Run', 'Let a run pass the gate it waits at', async () => ({
    command: (await import('../chain/commands/gates.ts')).approve,
  })),
  entry('runs reject', 'Run', 'Refuse the gate a run waits at', async () => ({
    command: (await import('../chain/commands/gates.ts')).reject,
  })),
  entry('runs prune', 'Run', 'Remove runs that have ended', async () => ({
    command: (await import('../chain/commands/runs.ts')).prune,
  })),
  entry(
    'worker',
    'Run',
    'Execute runs for a Restate server',
    () => import('../chain/commands/worker.ts'),
  ),
  entry(
    'chain plan',
    'Chain',
    'Show what a chain would run, and how',
    () => import('../chain/commands/plan.ts'),
  ),
  entry(
    'chain start',
    'Chain',
    'Begin a chain that an agent carries out step by step',
    async () => ({ command: (await import('../chain/commands/stepper.ts')).start }),
  ),
  entry('chain next', 'Chain', 'Show the step that is to be carried out', async () => ({
    command: (await import('../chain/commands/stepper.ts')).next,
  })),
  entry('chain report', 'Chain', 'Report a step and get the next one', async () => ({
    command: (await import('../chain/commands/stepper.ts')).report,
  })),
  entry('chain status', 'Chain', 'Show how far such a chain is', async () => ({
    command: (await import('../chain/commands/stepper.ts')).status,
  })),
  entry(
    'agent',
    'Agent',
    'Let a model carry out a task with tools and skills',
    () => import('../agent/commands/agent.ts'),
  ),
  entry(
    'delegate',
    'Agent',
    'Hand a task to a subagent',
    () => import('../agent/commands/delegate.ts'),
  ),
  entry('agents list', 'Agent', 'List the subagents of this project and of the user', async () => ({
    command: (await import('../agent/commands/agents.ts')).list,
  })),
  entry(
    'agents show',
    'Agent',
    'Show one subagent: what it may use and what it is told',
    async () => ({ command: (await import('../agent/commands/agents.ts')).show }),
  ),
  entry('agents validate', 'Agent', 'Check files that define subagents', async () => ({
    command: (await import('../agent/commands/agents.ts')).validate,
  })),
  entry(
    'tools import',
    'Tools',
    'Show which MCP servers are configured where, and which wins',
    () => import('../tools/commands/import.ts'),
  ),
  entry(
    'tools servers',
    'Tools',
    'List the MCP servers, and start them to see',
    () => import('../tools/commands/servers.ts'),
  ),
  entry(
    'tools serve',
    'Tools',
    'Keep the servers of this project between commands',
    () => import('../tools/commands/serve.ts'),
  ),
  entry(
    'tools refresh',
    'Tools',
    'Ask the MCP servers for their tools and rebuild the cache',
    () => import('../tools/commands/refresh.ts'),
  ),
  entry(
    'tools list',
    'Tools',
    'List the tools that are known, by category',
    () => import('../tools/commands/list.ts'),
  ),
  entry(
    'tools show',
    'Tools',
    'Show one tool: parameters, hints, what guards it',
    () => import('../tools/commands/show.ts'),
  ),
  entry(
    'tools search',
    'Tools',
    'Find tools by words',
    () => import('../tools/commands/search.ts'),
  ),
  entry(
    'workflow list',
    'Tools',
    'List the workflows: what comes before which tool',
    () => import('../tools/commands/workflow-list.ts'),
  ),
  entry(
    'workflow add',
    'Tools',
    'Add a workflow, from a template or by hand',
    () => import('../tools/commands/workflow-add.ts'),
  ),
  entry(
    'workflow edit',
    'Tools',
    'Change a workflow',
    () => import('../tools/commands/workflow-edit.ts'),
  ),
  entry('workflow enable', 'Tools', 'Enforce a workflow again', async () => ({
    command: (await import('../tools/commands/workflow-toggle.ts')).enable,
  })),
  entry('workflow disable', 'Tools', 'Let a workflow rest', async () => ({
    command: (await import('../tools/commands/workflow-toggle.ts')).disable,
  })),
  entry(
    'workflow remove',
    'Tools',
    'Delete a workflow',
    () => import('../tools/commands/workflow-remove.ts'),
  ),
  entry(
    'workflow check',
    'Tools',
    'Find cycles, conflicts and tools that are not there',
    () => import('../tools/commands/workflow-check.ts'),
  ),
  entry(
    'workflow plan',
    'Tools',
    'Show what would run before a call',
    () => import('../tools/commands/workflow-plan.ts'),
  ),
  entry('session show', 'Tools', 'Show what has run in this session, and its calls', async () => ({
    command: (await import('../tools/commands/sessions.ts')).show,
  })),
  entry('session clear', 'Tools', 'Forget what has run, so that it runs again', async () => ({
    command: (await import('../tools/commands/sessions.ts')).clear,
  })),
  entry('session list', 'Tools', 'List the sessions of this project', async () => ({
    command: (await import('../tools/commands/sessions.ts')).list,
  })),
  entry(
    'tools route',
    'Tools',
    'Say which tool a request means, and why',
    () => import('../tools/commands/route.ts'),
  ),
  entry(
    'tools learn add',
    'Tools',
    'Teach the router a request of yours, or correct it',
    async () => ({ command: (await import('../tools/commands/learned.ts')).add }),
  ),
  entry('tools learn list', 'Tools', 'List what was learned in this project', async () => ({
    command: (await import('../tools/commands/learned.ts')).list,
  })),
  entry('tools learn remove', 'Tools', 'Forget a request, or all of a tool', async () => ({
    command: (await import('../tools/commands/learned.ts')).remove,
  })),
  entry(
    'tools learn clear',
    'Tools',
    'Forget everything that was learned in this project',
    async () => ({ command: (await import('../tools/commands/learned.ts')).clear }),
  ),
  entry(
    'tools do',
    'Tools',
    'Find the right tool for a request, and call it',
    () => import('../tools/commands/do.ts'),
  ),
  entry(
    'tools call',
    'Tools',
    'Call one tool, behind the gate of workflows',
    () => import('../tools/commands/call.ts'),
  ),
  entry('tools batch', 'Tools', 'Call up to ten tools, one after the other', async () => ({
    command: (await import('../tools/commands/steps.ts')).batch,
  })),
  entry(
    'tools chain',
    'Tools',
    'Call up to five tools, each with the answers of those before',
    async () => ({ command: (await import('../tools/commands/steps.ts')).chain }),
  ),
  entry(
    'mcp serve',
    'Tools',
    'Serve skills, tools and chains of this project as an MCP server',
    () => import('../mcp/command.ts'),
  ),
  entry(
    'list',
    'Library',
    'List the skills that are installed here',
    () => import('../library/commands/list.ts'),
  ),
  entry(
    'show',
    'Library',
    'Show one skill: fields, resources, trust',
    () => import('../library/commands/show.ts'),
  ),
  entry(
    'properties',
    'Library',
    'Print the properties of a skill as JSON',
    () => import('../skill/commands/properties.ts'),
  ),
  entry(
    'prompt',
    'Library',
    'Print the catalogue of skills for a system prompt',
    () => import('../library/commands/prompt.ts'),
  ),
  entry(
    'activate',
    'Library',
    'Print exactly what a model gets when a skill is activated',
    () => import('../library/commands/activate.ts'),
  ),
  entry('new', 'Author', 'Make a new skill', () => import('../skill/commands/new.ts')),
  entry(
    'validate',
    'Author',
    'Check skills against the specification, and mend what is safe',
    () => import('../skill/commands/validate.ts'),
  ),
  entry(
    'audit',
    'Author',
    'Say what skills contain: hidden text, capabilities, secrets',
    () => import('../audit/commands/audit.ts'),
  ),
  entry(
    'schema',
    'Author',
    'Print the JSON Schema of the frontmatter',
    () => import('../skill/commands/schema.ts'),
  ),
  entry(
    'match',
    'Triggers',
    'Say which triggers fire on a prompt, and why',
    () => import('../trigger/commands/match.ts'),
  ),
  entry(
    'inject',
    'Triggers',
    'Print the references that a prompt loads',
    () => import('../trigger/commands/inject.ts'),
  ),
  entry(
    'triggers list',
    'Triggers',
    'List triggers, and what each tier of a skill costs',
    () => import('../trigger/commands/triggers-list.ts'),
  ),
  entry(
    'triggers check',
    'Triggers',
    'Check triggers as their author should',
    () => import('../trigger/commands/triggers-check.ts'),
  ),
  entry(
    'triggers export',
    'Triggers',
    'Write scripts/inject-context and the routing table into a skill',
    () => import('../trigger/commands/triggers-export.ts'),
  ),
  entry(
    'index',
    'Triggers',
    'Write the index of skills into CLAUDE.md, AGENTS.md and the like',
    () => import('../library/commands/index-file.ts'),
  ),
  entry(
    'hooks install',
    'Machine',
    'Let agent clients inject references before their model runs',
    async () => ({ command: (await import('../hooks/commands/install.ts')).install }),
  ),
  entry(
    'hooks uninstall',
    'Machine',
    'Put the configuration of agent clients back as it was',
    async () => ({ command: (await import('../hooks/commands/install.ts')).uninstall }),
  ),
  entry(
    'hooks status',
    'Machine',
    'Show which clients call the hook, and whether it will run',
    () => import('../hooks/commands/status.ts'),
  ),
  entry(
    'hook log',
    'Machine',
    'Show what the hook injected, and why not',
    () => import('../hooks/commands/log.ts'),
  ),
  entry(
    'hook',
    'Machine',
    'Answer one prompt as a client’s hook',
    () => import('../hooks/commands/hook.ts'),
  ),
  entry(
    'trust',
    'Machine',
    'Say which projects’ skills may act',
    () => import('../trust/commands/trust.ts'),
  ),
  entry(
    'view',
    'Machine',
    'Show skills, runs and tools of this project in a browser',
    () => import('../view/command.ts'),
  ),
  entry('doctor', 'Machine', 'Check this machine and this project', () => import('./doctor.ts')),
]

function entry(
  name: string,
  group: CommandGroup,
  summary: string,
  load: CommandEntry['load'],
): CommandEntry {
  return { name, group, summary, load }
}
