import { compareText, type Diagnostic } from '../../core/diagnostic.ts'
import { exitCode, type ExitCode, type SkillrailErrorFacts } from '../../core/errors.ts'
import { nearest } from '../../core/text.ts'
import type { ServerConfiguration, ServerDefinition } from '../config/model.ts'
import { ToolCallError, ToolError } from '../errors.ts'
import type { CallFailure } from '../model.ts'

export class ServerStartError extends ToolCallError {
  readonly server: string
  readonly stderrTail: string

  constructor(
    facts: {
      server: string
      message: string
      stderrTail?: string | undefined
      kind?: CallFailure['kind'] | undefined
    },
    more: Partial<SkillrailErrorFacts> = {},
  ) {
    super(
      { kind: facts.kind ?? 'server-unavailable', message: facts.message, delivered: 'no' },
      more,
    )
    this.server = facts.server
    this.stderrTail = facts.stderrTail ?? ''
  }
}

export function startCancelled(server: string, cause?: unknown): ServerStartError {
  const message = `The start of the server ${server} was cancelled`
  return new ServerStartError({ server, message, kind: 'cancelled' }, { cause })
}

export class ToolNotAllowedError extends ToolCallError {
  override readonly exitCode: ExitCode = exitCode.refused
}

export class ServerNotTrustedError extends ServerStartError {
  override readonly exitCode: ExitCode = exitCode.refused
}

export class ServersNotTrustedError extends ToolError {
  constructor(servers: readonly [ServerDefinition, ...ServerDefinition[]]) {
    const [{ blocked }] = servers
    const names = servers.slice(0, 5).map(({ name }) => name)
    const more = servers.length > names.length ? ` and ${servers.length - names.length} more` : ''
    const [subject, verb] = servers.length === 1 ? ['The server', 'was'] : ['The servers', 'were']
    const because =
      blocked?.reason === 'changed' ? blocked.message : 'the workspace was never trusted'
    super({
      code: 'servers-not-trusted',
      message: `${subject} ${names.join(', ')}${more} ${verb} not started, because ${because}`,
      hint: blocked?.hint,
    })
  }

  override readonly exitCode: ExitCode = exitCode.refused
}

export class NoServersError extends ToolError {
  override readonly exitCode: ExitCode

  constructor(disabled: readonly string[], diagnostics: readonly Diagnostic[]) {
    const broken = diagnostics.find(isUnreadable)
    if (broken === undefined) {
      const message =
        disabled.length === 0
          ? 'No MCP server is configured for this project'
          : `Every MCP server of this project is disabled: ${disabled.join(', ')}`
      super({ code: 'no-servers', message, hint: writeOne, diagnostics })
    } else {
      const { path, line } = broken
      const place = line === undefined ? path : `${path}:${line}`
      super({
        code: 'configuration-unreadable',
        message: `No server is known, because ${place} cannot be read: ${broken.message}`,
        hint: 'Fix the file; skillrail tools import shows which servers are found then.',
        diagnostics: diagnostics.filter((diagnostic) => diagnostic !== broken),
      })
    }
    this.exitCode = broken === undefined ? exitCode.notFound : exitCode.badAnswer
  }
}

const writeOne =
  'Write one into .mcp.json, as in {"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}; skillrail tools import --all shows every file where servers are looked for.'

/** Whether a file was not read as a whole, so that its servers would look as if they were gone. */
export function isUnreadable({ code, severity }: Diagnostic): boolean {
  return severity === 'error' && /^(?:servers-syntax|file-)/.test(code)
}

export class ServerNotFoundError extends ToolError {
  constructor(name: string, known: readonly string[]) {
    const meant = nearest(name, known)
    const list = known.length === 0 ? 'None is configured.' : `Configured: ${known.join(', ')}.`
    super({
      code: 'server-not-found',
      message: `There is no server ${name}`,
      hint: meant === undefined ? list : `Did you mean ${meant}? ${list}`,
    })
  }

  override readonly exitCode: ExitCode = exitCode.notFound
}

type Configured = Pick<ServerConfiguration, 'servers' | 'diagnostics'>

function isUntrusted({ disabled, blocked }: ServerDefinition): boolean {
  return !disabled && blocked !== undefined && blocked.reason !== 'unresolved'
}

/** Why it is not known what a project's servers have; said before anything is called missing. */
export function unaskedServers({
  servers,
  diagnostics,
}: Configured): ServersNotTrustedError | NoServersError | undefined {
  const [first, ...others] = servers
    .filter(isUntrusted)
    .toSorted((a, b) => compareText(a.name, b.name))
  if (first !== undefined) return new ServersNotTrustedError([first, ...others])
  if (servers.some(({ disabled }) => !disabled)) return undefined
  return new NoServersError(
    servers.map(({ name }) => name),
    diagnostics.filter(({ severity }) => severity === 'error'),
  )
}

/** What is wrong with a configuration and {@link unaskedServers} does not say. */
export function configurationDiagnostics(configuration: Configured): readonly Diagnostic[] {
  const diagnostics = configuration.diagnostics.filter(({ severity }) => severity !== 'info')
  const isSaid = unaskedServers(configuration) instanceof NoServersError
  return isSaid ? diagnostics.filter(({ severity }) => severity !== 'error') : diagnostics
}

/** @throws {ServersNotTrustedError}, {NoServersError} where no server may be asked */
export function requireServers(configuration: Configured): void {
  if (configuration.servers.some((server) => !server.disabled && !isUntrusted(server))) return
  const problem = unaskedServers(configuration)
  if (problem !== undefined) throw problem
}
