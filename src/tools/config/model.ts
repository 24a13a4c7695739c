import type { Diagnostic } from '#core/errors'

export type ServerClient =
  | 'claude-code'
  | 'claude-desktop'
  | 'cursor'
  | 'vscode'
  | 'windsurf'
  | 'gemini'
  | 'qwen'
  | 'copilot'
  | 'codex'
  | 'opencode'
  | 'agent-plugin'

/** How a server is reached. `http` falls back to server-sent events where the server is an old one. */
export type ServerTransport =
  | {
      kind: 'stdio'
      command: string
      args: readonly string[]
      /** What the configuration says; the few that every server gets come on top. */
      env: Readonly<Record<string, string>>
      /** Absolute; undefined: the project. */
      cwd?: string | undefined
      /** Where a plugin keeps its data; made before the server is started. */
      dataDirectory?: string | undefined
    }
  | { kind: 'http' | 'sse'; url: string; headers: Readonly<Record<string, string>> }

export type HttpServer = ServerTransport & { kind: 'http' | 'sse' }

export interface ServerSource {
  client: ServerClient
  path: string
  /** `project`: the file came with the project, and acts only where the workspace is trusted. */
  scope: 'project' | 'user'
  line?: number | undefined
}

export interface ServerBlock {
  reason: 'untrusted' | 'changed' | 'unresolved'
  message: string
  hint: string
}

/** Of several rules for one name the last counts. */
export interface ClientToolRule {
  /** Of the name that the client gives to a tool; `*` stands for any characters. */
  pattern: string
  isAllowed: boolean
}

export interface ServerDefinition {
  name: string
  transport: ServerTransport
  source: ServerSource
  startupTimeoutMs: number
  callTimeoutMs: number
  /** The only tools that may be called; undefined: all. */
  allow?: readonly string[] | undefined
  /** Tools that may not be called, whatever `allow` says. */
  deny?: readonly string[] | undefined
  /** What the client's settings say of tools by the client's own names: each list can deny a tool. */
  clientRules?: readonly (readonly ClientToolRule[])[] | undefined
  disabled: boolean
  /** Whether what it says of its own tools (annotations) is believed. */
  trusted: boolean
  /** Of the entry before variables were expanded, so that it tells nothing of their values. */
  digest: string
  /** Set where the server must not or cannot be started. */
  blocked?: ServerBlock | undefined
}

export interface ShadowedServer {
  server: ServerDefinition
  by: ServerSource
  reason: 'earlier' | 'untrusted' | 'disabled'
}

export interface ServerFile extends Omit<ServerSource, 'line'> {
  state: 'read' | 'missing' | 'broken'
  servers: number
}

export interface ServerConfiguration {
  /** One a name, in the order of precedence; disabled and blocked ones are listed too. */
  servers: readonly ServerDefinition[]
  shadowed: readonly ShadowedServer[]
  /** Every place that was looked at, in the order of precedence. */
  files: readonly ServerFile[]
  inputs: readonly string[]
  diagnostics: readonly Diagnostic[]
}
