/** One field of a file that defines a subagent. */
export interface AgentField {
  /** As it is written; `max_turns` and `maxTurns` are read as `max-turns`. */
  name: string
  kind: 'text' | 'tools' | 'skills' | 'integer' | 'mode'
  constraint: string
}

/** Every field that is read, in the order of the documentation. The body is the system prompt. */
export const agentFields: readonly AgentField[] = [
  {
    name: 'name',
    kind: 'text',
    constraint: 'Required. Up to 64 letters, digits, `-`, `_` and `.`.',
  },
  { name: 'description', kind: 'text', constraint: 'Required. When to delegate to it.' },
  {
    name: 'model',
    kind: 'text',
    constraint: '`provider:name`; absent or `inherit`: the parent’s.',
  },
  {
    name: 'tools',
    kind: 'tools',
    constraint:
      'A list, or a text separated by commas or spaces: `Read`, `Bash(git:*)`, `mcp__server`, `*`. Absent: none; in `.claude/agents`: the parent’s.',
  },
  {
    name: 'disallowed-tools',
    kind: 'tools',
    constraint: 'Taken away from `tools`, in the same forms.',
  },
  {
    name: 'skills',
    kind: 'skills',
    constraint: 'Skills it has from the start: a list, or names separated by commas or spaces.',
  },
  { name: 'max-turns', kind: 'integer', constraint: 'Model calls, from 1. Default 50.' },
  {
    name: 'permission-mode',
    kind: 'mode',
    constraint: '`default`, `plan` or `dont-ask`. Default `default`.',
  },
  {
    name: 'timeout',
    kind: 'integer',
    constraint: 'Seconds for a whole delegation, from 1. Default: no limit.',
  },
]

/** Fields of Claude Code that mean nothing here, so that they are no misspellings. */
export const foreignFields: readonly string[] = [
  'background',
  'color',
  'effort',
  'hooks',
  'initial-prompt',
  'isolation',
  'mcp-servers',
  'memory',
]

/** Names of permission modes as they are written elsewhere; none of them allows more than `default`. */
export const modeAliases: Readonly<Record<string, 'default' | 'plan' | 'dont-ask'>> = {
  default: 'default',
  plan: 'plan',
  'dont-ask': 'dont-ask',
  dontAsk: 'dont-ask',
  acceptEdits: 'default',
  auto: 'default',
  bypassPermissions: 'default',
}

/** The spelling of the table: `maxTurns` and `max_turns` are `max-turns`. */
export function fieldName(written: string): string {
  return written
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`)
    .replaceAll('_', '-')
    .toLowerCase()
}
