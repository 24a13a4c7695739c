import type { LoadedCommand } from './command.ts'

/** One line of `skillrail --help`, and where the command lives. */
export interface CommandEntry {
  /** The words that call it: `list`, `runs show`. */
  name: string
  group: CommandGroup
  summary: string
  load: () => Promise<{ command: LoadedCommand }>
}

export type CommandGroup = 'Run' | 'Chain' | 'Library' | 'Author' | 'Triggers' | 'Machine'

/** Every command, in the order of the help page. Each file is loaded only when it is called. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'run',
    group: 'Run',
    summary: 'Run a skill or a chain of skills',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'runs list',
    group: 'Run',
    summary: 'List the runs of this project',
    load: () => import('./commands/runs-list.ts'),
  },
  {
    name: 'runs show',
    group: 'Run',
    summary: 'Show one run: steps, times, results',
    load: () => import('./commands/runs-show.ts'),
  },
  {
    name: 'runs resume',
    group: 'Run',
    summary: 'Go on with an interrupted run',
    load: () => import('./commands/runs-resume.ts'),
  },
  {
    name: 'runs retry',
    group: 'Run',
    summary: 'Run again what failed or changed, and reuse the rest',
    load: () => import('./commands/runs-retry.ts'),
  },
  {
    name: 'runs fork',
    group: 'Run',
    summary: 'Start a new run from a step of an old one',
    load: () => import('./commands/runs-fork.ts'),
  },
  {
    name: 'runs cancel',
    group: 'Run',
    summary: 'End a run that is going on or waiting',
    load: () => import('./commands/runs-cancel.ts'),
  },
  {
    name: 'runs approve',
    group: 'Run',
    summary: 'Let a run pass the gate it waits at',
    load: () => import('./commands/runs-approve.ts'),
  },
  {
    name: 'runs reject',
    group: 'Run',
    summary: 'Refuse the gate a run waits at',
    load: () => import('./commands/runs-reject.ts'),
  },
  {
    name: 'runs prune',
    group: 'Run',
    summary: 'Remove old runs',
    load: () => import('./commands/runs-prune.ts'),
  },
  {
    name: 'worker',
    group: 'Run',
    summary: 'Execute runs for a Restate server',
    load: () => import('./commands/worker.ts'),
  },
  {
    name: 'chain plan',
    group: 'Chain',
    summary: 'Show what a chain would run, and how',
    load: () => import('./commands/chain-plan.ts'),
  },
  {
    name: 'chain start',
    group: 'Chain',
    summary: 'Begin a chain that an agent carries out step by step',
    load: () => import('./commands/chain-start.ts'),
  },
  {
    name: 'chain next',
    group: 'Chain',
    summary: 'Show the step that is to be carried out',
    load: () => import('./commands/chain-next.ts'),
  },
  {
    name: 'chain report',
    group: 'Chain',
    summary: 'Report a step and get the next one',
    load: () => import('./commands/chain-report.ts'),
  },
  {
    name: 'chain status',
    group: 'Chain',
    summary: 'Show how far such a chain is',
    load: () => import('./commands/chain-status.ts'),
  },
  {
    name: 'list',
    group: 'Library',
    summary: 'List the skills that are installed here',
    load: () => import('./commands/list.ts'),
  },
  {
    name: 'show',
    group: 'Library',
    summary: 'Show one skill: fields, resources, trust',
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'properties',
    group: 'Library',
    summary: 'Print the properties of a skill as JSON',
    load: () => import('./commands/properties.ts'),
  },
  {
    name: 'prompt',
    group: 'Library',
    summary: 'Print the catalogue of skills for a system prompt',
    load: () => import('./commands/prompt.ts'),
  },
  {
    name: 'activate',
    group: 'Library',
    summary: 'Print exactly what a model gets when a skill is activated',
    load: () => import('./commands/activate.ts'),
  },
  {
    name: 'new',
    group: 'Author',
    summary: 'Make a new skill',
    load: () => import('./commands/new.ts'),
  },
  {
    name: 'validate',
    group: 'Author',
    summary: 'Check skills against the specification, and mend what is safe',
    load: () => import('./commands/validate.ts'),
  },
  {
    name: 'schema',
    group: 'Author',
    summary: 'Print the JSON Schema of the frontmatter',
    load: () => import('./commands/schema.ts'),
  },
  {
    name: 'match',
    group: 'Triggers',
    summary: 'Say which triggers fire on a prompt, and why',
    load: () => import('./commands/match.ts'),
  },
  {
    name: 'inject',
    group: 'Triggers',
    summary: 'Print the references that a prompt loads',
    load: () => import('./commands/inject.ts'),
  },
  {
    name: 'triggers list',
    group: 'Triggers',
    summary: 'List triggers, and what each tier of a skill costs',
    load: () => import('./commands/triggers-list.ts'),
  },
  {
    name: 'triggers check',
    group: 'Triggers',
    summary: 'Check triggers as their author should',
    load: () => import('./commands/triggers-check.ts'),
  },
  {
    name: 'triggers export',
    group: 'Triggers',
    summary: 'Write scripts/inject-context and the routing table into a skill',
    load: () => import('./commands/triggers-export.ts'),
  },
  {
    name: 'index',
    group: 'Triggers',
    summary: 'Write the index of skills into CLAUDE.md, AGENTS.md and the like',
    load: () => import('./commands/index-file.ts'),
  },
  {
    name: 'hooks install',
    group: 'Machine',
    summary: 'Let agent clients inject references before their model runs',
    load: () => import('./commands/hooks-install.ts'),
  },
  {
    name: 'hooks uninstall',
    group: 'Machine',
    summary: 'Put the configuration of agent clients back as it was',
    load: () => import('./commands/hooks-uninstall.ts'),
  },
  {
    name: 'hooks status',
    group: 'Machine',
    summary: 'Show which clients call the hook, and whether it will run',
    load: () => import('./commands/hooks-status.ts'),
  },
  {
    name: 'hook log',
    group: 'Machine',
    summary: 'Show what the hook injected, and why not',
    load: () => import('./commands/hook-log.ts'),
  },
  {
    name: 'hook',
    group: 'Machine',
    summary: 'Answer one prompt as a client’s hook',
    load: () => import('./commands/hook.ts'),
  },
  {
    name: 'trust',
    group: 'Machine',
    summary: 'Say which projects’ skills may act',
    load: () => import('./commands/trust.ts'),
  },
  {
    name: 'doctor',
    group: 'Machine',
    summary: 'Check this machine and this project',
    load: () => import('./commands/doctor.ts'),
  },
]
