import type { CommandEntry } from './command-entry.ts'

/** Running skills and chains, and what became of the runs. */
export const runCommands: readonly CommandEntry[] = [
  {
    name: 'run',
    group: 'Run',
    summary: 'Run a skill or a chain of skills',
    load: () => import('../../chain/commands/run.ts'),
  },
  {
    name: 'runs list',
    group: 'Run',
    summary: 'List the runs of this project',
    load: async () => ({ command: (await import('../../chain/commands/runs.ts')).list }),
  },
  {
    name: 'runs show',
    group: 'Run',
    summary: 'Show one run: steps, times, results',
    load: async () => ({ command: (await import('../../chain/commands/runs.ts')).show }),
  },
  {
    name: 'runs resume',
    group: 'Run',
    summary: 'Go on with an interrupted run',
    load: async () => ({ command: (await import('../../chain/commands/repeat.ts')).resume }),
  },
  {
    name: 'runs retry',
    group: 'Run',
    summary: 'Run again what failed or changed, and reuse the rest',
    load: async () => ({ command: (await import('../../chain/commands/repeat.ts')).retry }),
  },
  {
    name: 'runs fork',
    group: 'Run',
    summary: 'Start a new run from a step of an old one',
    load: async () => ({ command: (await import('../../chain/commands/repeat.ts')).fork }),
  },
  {
    name: 'runs cancel',
    group: 'Run',
    summary: 'End a run that is going on or waiting',
    load: async () => ({ command: (await import('../../chain/commands/runs.ts')).cancel }),
  },
  {
    name: 'runs approve',
    group: 'Run',
    summary: 'Let a run pass the gate it waits at',
    load: async () => ({ command: (await import('../../chain/commands/gates.ts')).approve }),
  },
  {
    name: 'runs reject',
    group: 'Run',
    summary: 'Refuse the gate a run waits at',
    load: async () => ({ command: (await import('../../chain/commands/gates.ts')).reject }),
  },
  {
    name: 'runs prune',
    group: 'Run',
    summary: 'Remove runs that have ended',
    load: async () => ({ command: (await import('../../chain/commands/runs.ts')).prune }),
  },
  {
    name: 'worker',
    group: 'Run',
    summary: 'Execute runs for a Restate server',
    load: () => import('../../chain/commands/worker.ts'),
  },
  {
    name: 'chain plan',
    group: 'Chain',
    summary: 'Show what a chain would run, and how',
    load: () => import('../../chain/commands/plan.ts'),
  },
  {
    name: 'chain start',
    group: 'Chain',
    summary: 'Begin a chain that an agent carries out step by step',
    load: async () => ({ command: (await import('../../chain/commands/stepper.ts')).start }),
  },
  {
    name: 'chain next',
    group: 'Chain',
    summary: 'Show the step that is to be carried out',
    load: async () => ({ command: (await import('../../chain/commands/stepper.ts')).next }),
  },
  {
    name: 'chain report',
    group: 'Chain',
    summary: 'Report a step and get the next one',
    load: async () => ({ command: (await import('../../chain/commands/stepper.ts')).report }),
  },
  {
    name: 'chain status',
    group: 'Chain',
    summary: 'Show how far such a chain is',
    load: async () => ({ command: (await import('../../chain/commands/stepper.ts')).status }),
  },
]
