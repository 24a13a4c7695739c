import type { OptionSpecs } from '../../base/command.ts'

/** Where a run is executed. */
export const engineOptions = {
  engine: {
    kind: 'text',
    flags: '--engine <name>',
    help: 'journal: on this machine; restate: by workers of a server',
  },
  url: {
    kind: 'text',
    flags: '--url <url>',
    help: 'the Restate server: its ingress, if not that of the settings',
  },
  adminUrl: {
    kind: 'text',
    flags: '--admin-url <url>',
    help: 'its admin interface, if not that of the settings',
  },
} as const satisfies OptionSpecs
