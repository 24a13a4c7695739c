import type { Finding } from './common.ts'

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
