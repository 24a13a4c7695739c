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

/** How to reach a server. `http` falls back to server-sent events for an old server. */
export type ServerTransport =
  | {
      kind: 'stdio'
      command: string
      args: readonly string[]
      /** The variables in the configuration, without the few that every server gets. */
      env: Readonly<Record<string, string>>
      /** Absolute; undefined: the project. */
      cwd?: string | undefined
      /** Where a plugin keeps its data; created before the server starts. */
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

/** If several rules match a name, the last one counts. */
export interface ClientToolRule {
  /** Matches the client's name for a tool; `*` matches any characters. */
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
  /** Tools that may not be called, even if `allow` lists them. */
  deny?: readonly string[] | undefined
  /** Rules of the client's settings, by the client's own tool names: each list can deny a tool. */
  clientRules?: readonly (readonly ClientToolRule[])[] | undefined
  disabled: boolean
  /** Whether the server's annotations of its own tools are believed. */
  trusted: boolean
  /** Digest of the entry before variables are expanded, so that it reveals none of their values. */
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
  /** One for each name, in the order of precedence, including disabled and blocked ones. */
  servers: readonly ServerDefinition[]
  shadowed: readonly ShadowedServer[]
  /** Every file that was checked, in the order of precedence. */
  files: readonly ServerFile[]
  inputs: readonly string[]
  diagnostics: readonly Diagnostic[]
}
