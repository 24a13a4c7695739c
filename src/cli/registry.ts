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
  entry('runs resume', 'Run', 'Resume an interrupted run', async () => ({
    command: (await import('../chain/commands/repeat.ts')).resume,
  })),
  entry(
    'runs retry',
    'Run',
    'Rerun steps that failed or changed, and reuse the rest',
    async () => ({
      command: (await import('../chain/commands/repeat.ts')).retry,
    }),
  ),
  entry('runs fork', 'Run', 'Start a new run from a step of an old one', async () => ({
    command: (await import('../chain/commands/repeat.ts')).fork,
  })),
  entry('runs cancel', 'Run', 'Cancel a running or waiting run', async () => ({
    command: (await import('../chain/commands/runs.ts')).cancel,
  })),
  entry('runs approve', 'Run', 'Approve the gate a run waits at', async () => ({
    command: (await import('../chain/commands/gates.ts')).approve,
  })),
  entry('runs reject', 'Run', 'Reject the gate a run waits at', async () => ({
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
  entry('chain start', 'Chain', 'Start a chain that an agent executes step by step', async () => ({
    command: (await import('../chain/commands/stepper.ts')).start,
  })),
  entry('chain next', 'Chain', 'Show the step to execute now', async () => ({
    command: (await import('../chain/commands/stepper.ts')).next,
  })),
  entry('chain report', 'Chain', 'Report a step result and get the next step', async () => ({
    command: (await import('../chain/commands/stepper.ts')).report,
  })),
  entry('chain status', 'Chain', 'Show the progress of a chain', async () => ({
    command: (await import('../chain/commands/stepper.ts')).status,
  })),
  entry(
    'agent',
    'Agent',
    'Run a task with a model, tools and skills',
    () => import('../agent/commands/agent.ts'),
  ),
  entry(
    'delegate',
    'Agent',
    'Delegate a task to a subagent',
    () => import('../agent/commands/delegate.ts'),
  ),
  entry('agents list', 'Agent', 'List the subagents of this project and of the user', async () => ({
    command: (await import('../agent/commands/agents.ts')).list,
  })),
  entry(
    'agents show',
    'Agent',
    'Show one subagent: its tools, skills and instructions',
    async () => ({ command: (await import('../agent/commands/agents.ts')).show }),
  ),
  entry('agents validate', 'Agent', 'Validate subagent files', async () => ({
    command: (await import('../agent/commands/agents.ts')).validate,
  })),
  entry(
    'tools import',
    'Tools',
    'Show configured MCP servers and which definition applies',
    () => import('../tools/commands/import.ts'),
  ),
  entry(
    'tools servers',
    'Tools',
    'List the MCP servers, and test that they start',
    () => import('../tools/commands/servers.ts'),
  ),
  entry(
    'tools serve',
    'Tools',
    'Keep the MCP servers of this project running between commands',
    () => import('../tools/commands/serve.ts'),
  ),
  entry(
    'tools refresh',
    'Tools',
    'Rebuild the cache of tools from the MCP servers',
    () => import('../tools/commands/refresh.ts'),
  ),
  entry(
    'tools list',
    'Tools',
    'List the known tools by category',
    () => import('../tools/commands/list.ts'),
  ),
  entry(
    'tools show',
    'Tools',
    'Show one tool: parameters, hints, workflows',
    () => import('../tools/commands/show.ts'),
  ),
  entry(
    'tools search',
    'Tools',
    'Search tools by keywords',
    () => import('../tools/commands/search.ts'),
  ),
  entry(
    'workflow list',
    'Tools',
    'List the workflows and the tools that they guard',
    () => import('../tools/commands/workflow-list.ts'),
  ),
  entry(
    'workflow add',
    'Tools',
    'Add a workflow, from a template or from options',
    () => import('../tools/commands/workflow-add.ts'),
  ),
  entry(
    'workflow edit',
    'Tools',
    'Change a workflow',
    () => import('../tools/commands/workflow-edit.ts'),
  ),
  entry('workflow enable', 'Tools', 'Enable a workflow', async () => ({
    command: (await import('../tools/commands/workflow-toggle.ts')).enable,
  })),
  entry('workflow disable', 'Tools', 'Disable a workflow', async () => ({
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
    'Find cycles, conflicts and missing tools',
    () => import('../tools/commands/workflow-check.ts'),
  ),
  entry(
    'workflow plan',
    'Tools',
    'Show the prerequisites that would run before a call',
    () => import('../tools/commands/workflow-plan.ts'),
  ),
  entry(
    'session show',
    'Tools',
    'Show the completed prerequisites and calls of a session',
    async () => ({
      command: (await import('../tools/commands/sessions.ts')).show,
    }),
  ),
  entry('session clear', 'Tools', 'Clear a session, so that prerequisites run again', async () => ({
    command: (await import('../tools/commands/sessions.ts')).clear,
  })),
  entry('session list', 'Tools', 'List the sessions of this project', async () => ({
    command: (await import('../tools/commands/sessions.ts')).list,
  })),
  entry(
    'tools route',
    'Tools',
    'Show which tool a request selects, and why',
    () => import('../tools/commands/route.ts'),
  ),
  entry('tools learn add', 'Tools', 'Add a learned request for a tool', async () => ({
    command: (await import('../tools/commands/learned.ts')).add,
  })),
  entry('tools learn list', 'Tools', 'List the learned requests of this project', async () => ({
    command: (await import('../tools/commands/learned.ts')).list,
  })),
  entry('tools learn remove', 'Tools', 'Remove a learned request, or all of a tool', async () => ({
    command: (await import('../tools/commands/learned.ts')).remove,
  })),
  entry('tools learn clear', 'Tools', 'Remove all learned requests of this project', async () => ({
    command: (await import('../tools/commands/learned.ts')).clear,
  })),
  entry(
    'tools do',
    'Tools',
    'Find the right tool for a request, and call it',
    () => import('../tools/commands/do.ts'),
  ),
  entry(
    'tools call',
    'Tools',
    'Call one tool, after its workflow prerequisites',
    () => import('../tools/commands/call.ts'),
  ),
  entry('tools batch', 'Tools', 'Call up to ten tools in order', async () => ({
    command: (await import('../tools/commands/steps.ts')).batch,
  })),
  entry(
    'tools chain',
    'Tools',
    'Call up to five tools, passing results to later calls',
    async () => ({ command: (await import('../tools/commands/steps.ts')).chain }),
  ),
  entry(
    'mcp serve',
    'Tools',
    'Serve skills, tools and chains of this project as an MCP server',
    () => import('../mcp/command.ts'),
  ),
  entry('list', 'Library', 'List installed skills', () => import('../library/commands/list.ts')),
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
    'Print what a model receives when a skill is activated',
    () => import('../library/commands/activate.ts'),
  ),
  entry('new', 'Author', 'Create a new skill', () => import('../skill/commands/new.ts')),
  entry(
    'validate',
    'Author',
    'Validate skills against the specification, and fix safe problems',
    () => import('../skill/commands/validate.ts'),
  ),
  entry(
    'audit',
    'Author',
    'Report what skills contain: hidden text, capabilities, secrets',
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
    'Show which triggers match a prompt, and why',
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
    'List triggers and the token cost of each tier',
    () => import('../trigger/commands/triggers-list.ts'),
  ),
  entry(
    'triggers check',
    'Triggers',
    'Lint triggers',
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
    'Write the skill index into CLAUDE.md, AGENTS.md and similar files',
    () => import('../library/commands/index-file.ts'),
  ),
  entry(
    'hooks install',
    'Machine',
    'Install the hook that injects references into agent clients',
    async () => ({ command: (await import('../hooks/commands/install.ts')).install }),
  ),
  entry(
    'hooks uninstall',
    'Machine',
    'Remove the hook from agent clients and restore their files',
    async () => ({ command: (await import('../hooks/commands/install.ts')).uninstall }),
  ),
  entry(
    'hooks status',
    'Machine',
    'Show which clients have the hook, and whether it will run',
    () => import('../hooks/commands/status.ts'),
  ),
  entry(
    'hook log',
    'Machine',
    'Show what the hook injected, and what it skipped',
    () => import('../hooks/commands/log.ts'),
  ),
  entry(
    'hook',
    'Machine',
    'Run the hook for one prompt of a client',
    () => import('../hooks/commands/hook.ts'),
  ),
  entry(
    'trust',
    'Machine',
    'Trust a project, so that its skills can execute',
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
