import type { CommandEntry } from './command-entry.ts'

/** This machine: trust, hooks, health. */
export const machineCommands: readonly CommandEntry[] = [
  {
    name: 'hooks install',
    group: 'Machine',
    summary: 'Let agent clients inject references before their model runs',
    load: async () => ({ command: (await import('../../hooks/commands/install.ts')).install }),
  },
  {
    name: 'hooks uninstall',
    group: 'Machine',
    summary: 'Put the configuration of agent clients back as it was',
    load: async () => ({ command: (await import('../../hooks/commands/install.ts')).uninstall }),
  },
  {
    name: 'hooks status',
    group: 'Machine',
    summary: 'Show which clients call the hook, and whether it will run',
    load: () => import('../../hooks/commands/status.ts'),
  },
  {
    name: 'hook log',
    group: 'Machine',
    summary: 'Show what the hook injected, and why not',
    load: () => import('../../hooks/commands/log.ts'),
  },
  {
    name: 'hook',
    group: 'Machine',
    summary: 'Answer one prompt as a client’s hook',
    load: () => import('../../hooks/commands/hook.ts'),
  },
  {
    name: 'trust',
    group: 'Machine',
    summary: 'Say which projects’ skills may act',
    load: () => import('../../trust/commands/trust.ts'),
  },
  {
    name: 'view',
    group: 'Machine',
    summary: 'Show skills, runs and tools of this project in a browser',
    load: () => import('../../view/command.ts'),
  },
  {
    name: 'doctor',
    group: 'Machine',
    summary: 'Check this machine and this project',
    load: () => import('../doctor.ts'),
  },
]
