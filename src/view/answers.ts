/** What the page gets, by the name of the question. */
export interface Answers {
  project: ProjectAnswer
  skills: SkillsAnswer
  skill: SkillAnswer
  'skill-text': TextAnswer
  audit: AuditAnswer
  match: MatchAnswer
  chains: ChainsAnswer
  plan: PlanAnswer
  runs: RunsAnswer
  run: RunAnswer
  'step-text': TextAnswer
  tools: ToolsAnswer
  tool: ToolAnswer
  route: RouteAnswer
  workflows: WorkflowsAnswer
  sessions: SessionsAnswer
  session: SessionAnswer
}

// What the page gets, as JSON. Plain types, because the page knows nothing else of this program: they
// are those of `--json` where a command has one, and more beside it.

/** A diagnostic. */
export interface Finding {
  code: string
  severity: 'error' | 'warning' | 'info'
  message: string
  path: string
  line?: number | undefined
  hint?: string | undefined
}

/** Why there is no answer. */
export interface Failure {
  error: { code: string; message: string; hint?: string | undefined }
  diagnostics?: readonly Finding[] | undefined
}

interface ProjectAnswer {
  project: string
  version: string
}

/** A text that may be long: its beginning, and how many characters it has. */
export interface LongText {
  text: string
  size: number
}

/** A piece of a long text. */
export interface TextAnswer {
  text: string
  /** Of the whole text, in characters. */
  size: number
  /** Where the next piece begins; undefined at the end. */
  next?: number | undefined
}

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

interface SkillsAnswer {
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

/** A run in the answer of `runs list --json`. */
export interface ListedRun {
  runId: string
  skill: string
  status: string
  finishedSteps: number
  startedAt: string
  updatedAt: string
}

export interface RunsAnswer {
  runs: readonly ListedRun[]
  /** How many there are; `runs` are the newest of them. */
  total: number
  /** How many are given at most. */
  limit: number
  diagnostics: readonly Finding[]
}

/** What is wrong with a step or an attempt: the first errors, and how many more there are. */
export interface ShownErrors {
  errors: readonly { code: string; message: string }[]
  moreErrors: number
}

interface ShownAttempt extends ShownErrors {
  attempt: number
  status: string
  steps: readonly ShownStep[]
}

export interface ShownStep extends ShownErrors {
  step: string
  label: string
  skill: string
  /** A status of a result; while the run continues `running` and `pending` too. */
  status: string
  mark: string
  /** How long it took, in words; empty where it is not known. */
  time: string
  startedAt: string | null
  durationMs: number
  evidence: string | null
  reason?: string | undefined
  /** Why it failed or was not executed, in a line; empty for a success. */
  said: string
  /** The sandbox that it ran in. */
  sandbox?: string | undefined
  /** What can be done about its failure. */
  hint?: string | undefined
  result: LongText
  log?: { size: number } | undefined
  metrics: readonly (readonly [name: string, value: string])[]
  steps?: readonly ShownStep[] | undefined
  /** Statuses of the attempts of a chain that was repeated. */
  attempts?: readonly string[] | undefined
}

export type RunAnswer =
  | { unchanged: true }
  | {
      unchanged?: undefined
      /** Changes whenever the run does. */
      stamp: string
      runId: string
      skill: string
      status: string
      mode: string
      startedAt: string
      updatedAt: string
      arguments: readonly string[]
      attempts: readonly ShownAttempt[]
      winner?: string | undefined
      /** The step that failed first, as its `step` names it. */
      failedFirst?: string | undefined
      /** What a user types in a terminal to continue. */
      next: readonly { what: string; line: string }[]
      diagnostics: readonly Finding[]
    }

export interface ServerRow {
  name: string
  state: string
  client: string
  path: string
  address: string
  message?: string | undefined
  stderrTail?: string | undefined
}

export interface ListedTool {
  id: string
  server: string
  name: string
  description: string
  category?: string | undefined
  readOnly?: boolean | undefined
  caution?: 'changed' | 'unavailable' | undefined
}

export interface ToolsAnswer {
  state: 'fresh' | 'stale' | 'missing' | 'corrupt'
  message?: string | undefined
  refreshedAt?: string | undefined
  servers: readonly ServerRow[]
  tools: readonly ListedTool[]
  diagnostics: readonly Finding[]
}

export interface ToolAnswer {
  id: string
  server: string
  description: string
  category?: string | undefined
  readOnly: boolean
  /** What its server says of it, in words. */
  hints: string
  parameters: readonly {
    name: string
    required: boolean
    type: string
    description: string
    default?: string | undefined
    limits: readonly string[]
  }[]
  /** Whether the schema is known here. */
  isDefined: boolean
  /** Why it is held back, with what changed. */
  caution?: string | undefined
  workflows: readonly string[]
  examples: readonly string[]
}

export interface RouteAnswer {
  decision: 'answer' | 'shortlist' | 'ask'
  category: string | null
  tool?: string | undefined
  params?: Readonly<Record<string, unknown>> | undefined
  missing?: readonly string[] | undefined
  margin: number
  candidates: readonly { tool: string; score: number; unavailable?: string | undefined }[]
  heldBack?: readonly string[] | undefined
  explanation?:
    | {
        words: readonly { word: string; weight: number }[]
        candidates: readonly {
          tool: string
          score: number
          parts: readonly { kind: string; text: string; score: number }[]
          aheadOfNext?: string | undefined
        }[]
      }
    | undefined
  diagnostics: readonly Finding[]
}

export interface WorkflowsAnswer {
  workflows: readonly {
    name: string
    enabled: boolean
    description: string
    mode: string
    triggers: {
      category?: string | undefined
      tools?: readonly string[] | undefined
      keywords?: readonly string[] | undefined
    }
    prerequisites: readonly {
      step: number
      tool: string
      description: string
      required: boolean
      params?: Readonly<Record<string, unknown>> | undefined
      outputAs?: string | undefined
      scope?: readonly string[] | undefined
      invalidatedBy?: readonly string[] | undefined
    }[]
    path: string
    line?: number | undefined
  }[]
  diagnostics: readonly Finding[]
}

export interface SessionsAnswer {
  sessions: readonly {
    id: string
    current: boolean
    startedAt?: string | undefined
    completed: number
    calls: number
    isOver: boolean
    diagnostics: readonly Finding[]
  }[]
}

export interface SessionAnswer {
  id: string
  path: string
  logPath: string
  startedAt?: string | undefined
  isOver: boolean
  completed: readonly {
    workflow: string
    tool: string
    scope: Readonly<Record<string, unknown>>
    at: string
    result: string
  }[]
  /** The latest ones, the last one first. */
  calls: readonly {
    at: string
    tool: string
    durationMs: number
    outcome: string
    size: number
  }[]
  /** How many there are. */
  allCalls: number
  diagnostics: readonly Finding[]
}
