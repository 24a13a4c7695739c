import type { Finding } from './common.ts'

/** `id` stands for the path of the skill, and is what the page asks with. */
export interface ListedSkill {
  id: string
  name: string
  description: string
  path: string
  scope: string
  trust: string
  tokens: { metadata: number; body: number }
  shadows?: readonly string[] | undefined
  shadowedBy?: string | undefined
  standing: 'used' | 'shadowed' | 'conflict' | 'broken'
  diagnostics: readonly Finding[]
}

export interface SkillsAnswer {
  skills: readonly ListedSkill[]
  diagnostics: readonly Finding[]
}

export interface SkillAnswer {
  id: string
  name: string
  description: string
  path: string
  trust: string
  trustReason: string
  tokens: { metadata: number; body: number }
  /** A label and what is said about it. */
  facts: readonly (readonly [label: string, value: string])[]
  triggers: readonly { match: string; inject: string; line: number }[]
  isChain: boolean
  resources: readonly { path: string; size: number }[]
  resourcesTruncated: boolean
  shadows: readonly string[]
  diagnostics: readonly Finding[]
}

export interface AuditAnswer {
  files: number
  analysedBytes: number
  findings: readonly (Finding & { file: string; subject?: string | undefined })[]
}

/** What `match --json` prints, without an explanation. */
export interface MatchJson {
  prompt: string
  matches: readonly {
    skill: string
    match: string
    inject: string
    line: number
    text: string
    promptLine: number
    tokens: number | null
  }[]
  injected: readonly { skill: string; path: string; tokens: number }[]
  deferred: readonly { skill: string; path: string; reason: string }[]
  diagnostics: readonly Finding[]
}

export interface MatchAnswer extends MatchJson {
  /** Of every trigger that has something to say; the others are in `quiet`. */
  explanation: readonly { skill: string; verdicts: readonly TriggerVerdict[] }[]
  /** How many triggers there are. */
  triggers: number
  /** How many do not match at all. */
  quiet: number
  /** How many were not looked at for near misses, for want of time. */
  untried: number
}

export interface TriggerVerdict {
  trigger: { match: string; inject: string; line: number }
  outcome: 'fired' | 'near-miss' | 'no-match' | 'invalid'
  /** Of what fired. */
  text?: string | undefined
  promptLine?: number | undefined
  tokens?: number | undefined
  problem?: string | undefined
  /** Of a near miss. */
  miss?: { reason: string } | undefined
  /** Of an invalid pattern. */
  reason?: string | undefined
}

export interface ChainsAnswer {
  chains: readonly {
    id: string
    name: string
    description: string
    steps: number
    trust: string
  }[]
}

export interface PlannedStep {
  step: string
  skill: string
  path: string
  executor: string
  trust: string
  digest: string
  tokens: number
  script?: string | undefined
  client?: string | undefined
  model?: string | undefined
  verify?: string | undefined
  /** Fields of the skill that its client or model has no equal for. */
  notHonoured?: readonly string[] | undefined
  sandboxed?: true | undefined
  gate?: true | undefined
  policy?: object | undefined
  steps?: readonly PlannedStep[] | undefined
}

export interface PlanAnswer {
  skill: string
  digest: string
  policy: object
  /** Of the keys of the policy, what applies where a chain says nothing. */
  defaults: object
  steps: readonly PlannedStep[]
  diagnostics: readonly Finding[]
}
