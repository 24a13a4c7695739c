import type { CommandEntry } from './command-entry.ts'

/** Models that work with tools and skills, and the subagents that they hand tasks to. */
export const agentCommands: readonly CommandEntry[] = [
  {
    name: 'agent',
    group: 'Agent',
    summary: 'Let a model carry out a task with tools and skills',
    load: () => import('../../agent/commands/agent.ts'),
  },
  {
    name: 'delegate',
    group: 'Agent',
    summary: 'Hand a task to a subagent',
    load: () => import('../../agent/commands/delegate.ts'),
  },
  {
    name: 'agents list',
    group: 'Agent',
    summary: 'List the subagents of this project and of the user',
    load: async () => ({
      command: (await import('../../agent/commands/agents.ts')).list,
    }),
  },
  {
    name: 'agents show',
    group: 'Agent',
    summary: 'Show one subagent: what it may use and what it is told',
    load: async () => ({
      command: (await import('../../agent/commands/agents.ts')).show,
    }),
  },
  {
    name: 'agents validate',
    group: 'Agent',
    summary: 'Check files that define subagents',
    load: async () => ({
      command: (await import('../../agent/commands/agents.ts')).validate,
    }),
  },
]
