import type { CommandEntry } from './command-entry.ts'

/** The skills that are here, writing them, and their triggers. */
export const libraryCommands: readonly CommandEntry[] = [
  {
    name: 'list',
    group: 'Library',
    summary: 'List the skills that are installed here',
    load: () => import('../../library/commands/list.ts'),
  },
  {
    name: 'show',
    group: 'Library',
    summary: 'Show one skill: fields, resources, trust',
    load: () => import('../../library/commands/show.ts'),
  },
  {
    name: 'properties',
    group: 'Library',
    summary: 'Print the properties of a skill as JSON',
    load: () => import('../../skill/commands/properties.ts'),
  },
  {
    name: 'prompt',
    group: 'Library',
    summary: 'Print the catalogue of skills for a system prompt',
    load: () => import('../../library/commands/prompt.ts'),
  },
  {
    name: 'activate',
    group: 'Library',
    summary: 'Print exactly what a model gets when a skill is activated',
    load: () => import('../../library/commands/activate.ts'),
  },
  {
    name: 'new',
    group: 'Author',
    summary: 'Make a new skill',
    load: () => import('../../skill/commands/new.ts'),
  },
  {
    name: 'validate',
    group: 'Author',
    summary: 'Check skills against the specification, and mend what is safe',
    load: () => import('../../skill/commands/validate.ts'),
  },
  {
    name: 'audit',
    group: 'Author',
    summary: 'Say what skills contain: hidden text, capabilities, secrets',
    load: () => import('../../audit/commands/audit.ts'),
  },
  {
    name: 'schema',
    group: 'Author',
    summary: 'Print the JSON Schema of the frontmatter',
    load: () => import('../../skill/commands/schema.ts'),
  },
  {
    name: 'match',
    group: 'Triggers',
    summary: 'Say which triggers fire on a prompt, and why',
    load: () => import('../../trigger/commands/match.ts'),
  },
  {
    name: 'inject',
    group: 'Triggers',
    summary: 'Print the references that a prompt loads',
    load: () => import('../../trigger/commands/inject.ts'),
  },
  {
    name: 'triggers list',
    group: 'Triggers',
    summary: 'List triggers, and what each tier of a skill costs',
    load: () => import('../../trigger/commands/triggers-list.ts'),
  },
  {
    name: 'triggers check',
    group: 'Triggers',
    summary: 'Check triggers as their author should',
    load: () => import('../../trigger/commands/triggers-check.ts'),
  },
  {
    name: 'triggers export',
    group: 'Triggers',
    summary: 'Write scripts/inject-context and the routing table into a skill',
    load: () => import('../../trigger/commands/triggers-export.ts'),
  },
  {
    name: 'index',
    group: 'Triggers',
    summary: 'Write the index of skills into CLAUDE.md, AGENTS.md and the like',
    load: () => import('../../library/commands/index-file.ts'),
  },
]
