import type { CommandEntry } from './command-entry.ts'

/** Running skills and chains, and what became of the runs. */
export const runCommands: readonly CommandEntry[] = [
  {
    name: 'run',
    group: 'Run',
    summary: 'Run a skill or a chain of skills',
    load: () => import('../commands/run.ts'),
  },
  {
    name: 'runs list',
    group: 'Run',
    summary: 'List the runs of this project',
    load: () => import('../commands/runs-list.ts'),
  },
  {
    name: 'runs show',
    group: 'Run',
    summary: 'Show one run: steps, times, results',
    load: () => import('../commands/runs-show.ts'),
  },
  {
    name: 'runs resume',
    group: 'Run',
    summary: 'Go on with an interrupted run',
    load: () => import('../commands/runs-resume.ts'),
  },
  {
    name: 'runs retry',
    group: 'Run',
    summary: 'Run again what failed or changed, and reuse the rest',
    load: () => import('../commands/runs-retry.ts'),
  },
  {
    name: 'runs fork',
    group: 'Run',
    summary: 'Start a new run from a step of an old one',
    load: () => import('../commands/runs-fork.ts'),
  },
  {
    name: 'runs cancel',
    group: 'Run',
    summary: 'End a run that is going on or waiting',
    load: () => import('../commands/runs-cancel.ts'),
  },
  {
    name: 'runs approve',
    group: 'Run',
    summary: 'Let a run pass the gate it waits at',
    load: () => import('../commands/runs-approve.ts'),
  },
  {
    name: 'runs reject',
    group: 'Run',
    summary: 'Refuse the gate a run waits at',
    load: () => import('../commands/runs-reject.ts'),
  },
  {
    name: 'runs prune',
    group: 'Run',
    summary: 'Remove runs that have ended',
    load: () => import('../commands/runs-prune.ts'),
  },
  {
    name: 'worker',
    group: 'Run',
    summary: 'Execute runs for a Restate server',
    load: () => import('../commands/worker.ts'),
  },
  {
    name: 'chain plan',
    group: 'Chain',
    summary: 'Show what a chain would run, and how',
    load: () => import('../commands/chain-plan.ts'),
  },
  {
    name: 'chain start',
    group: 'Chain',
    summary: 'Begin a chain that an agent carries out step by step',
    load: () => import('../commands/chain-start.ts'),
  },
  {
    name: 'chain next',
    group: 'Chain',
    summary: 'Show the step that is to be carried out',
    load: () => import('../commands/chain-next.ts'),
  },
  {
    name: 'chain report',
    group: 'Chain',
    summary: 'Report a step and get the next one',
    load: () => import('../commands/chain-report.ts'),
  },
  {
    name: 'chain status',
    group: 'Chain',
    summary: 'Show how far such a chain is',
    load: () => import('../commands/chain-status.ts'),
  },
]
