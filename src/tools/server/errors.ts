import { compareText, type Diagnostic, exitCode } from '#core/errors'
import { didYouMean } from '#core/text'
import type { ServerConfiguration, ServerDefinition } from '#tools/config/model'
import { ToolCallError, ToolError, type ToolErrorFacts } from '#tools/errors'
import type { CallFailure } from '#tools/model'

/** Returns the error for a server that does not run, so that no call reached it. */
export function startFailed(
  facts: Pick<CallFailure, 'message'> & Partial<CallFailure>,
  more?: Partial<ToolErrorFacts>,
): ToolCallError {
  return new ToolCallError({ kind: 'server-unavailable', delivered: 'no', ...facts }, more)
}

export function startCancelled(server: string, cause?: unknown): ToolCallError {
  const message = `The start of the server ${server} was cancelled`
  return startFailed({ kind: 'cancelled', message }, { cause })
}

export class ServersNotTrustedError extends ToolError {
  constructor(servers: readonly ServerDefinition[]) {
    const block = servers[0]?.blocked
    const names = servers.map(({ name }) => name).join(', ')
    const because = block?.reason === 'changed' ? block.message : 'the workspace was never trusted'
    super({
      code: 'servers-not-trusted',
      message: `Not started: ${names}, because ${because}`,
      hint: block?.hint,
      exitCode: exitCode.refused,
    })
  }
}

export class NoServersError extends ToolError {
  constructor(disabledNames: readonly string[], diagnostics: readonly Diagnostic[]) {
    const unreadable = diagnostics.find(isUnreadable)
    if (unreadable) {
      const { path, line } = unreadable
      const place = line === undefined ? path : `${path}:${line}`
      super({
        code: 'configuration-unreadable',
        message: `No server is known, because ${place} cannot be read: ${unreadable.message}`,
        hint: 'Fix the file; skillrail tools import shows which servers are found then.',
        diagnostics: diagnostics.filter((diagnostic) => diagnostic !== unreadable),
      })
      return
    }
    const message =
      disabledNames.length === 0
        ? 'No MCP server is configured for this project'
        : `Every MCP server of this project is disabled: ${disabledNames.join(', ')}`
    const hint = writeOne
    super({ code: 'no-servers', message, hint, diagnostics, exitCode: exitCode.notFound })
  }
}

const writeOne =
  'Write one into .mcp.json: {"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}. skillrail tools import --all shows every file that is read.'

/** Whether a file could not be read completely, so that its servers seem to be missing. */
export function isUnreadable({ code, severity }: Diagnostic): boolean {
  return severity === 'error' && /^(?:servers-syntax|file-)/.test(code)
}

export class ServerNotFoundError extends ToolError {
  constructor(name: string, names: readonly string[]) {
    const list = names.length === 0 ? 'None is configured.' : `Configured: ${names.join(', ')}.`
    super({
      code: 'server-not-found',
      message: `There is no server ${name}`,
      hint: `${didYouMean(name, names)} ${list}`.trimStart(),
      exitCode: exitCode.notFound,
    })
  }
}

type Configuration = Pick<ServerConfiguration, 'servers' | 'diagnostics'>

function isUntrusted({ disabled, blocked }: ServerDefinition): boolean {
  return !disabled && blocked !== undefined && blocked.reason !== 'unresolved'
}

/** Returns why a project's servers were not asked for tools. That error comes before any "not found". */
export function unaskedServers({
  servers,
  diagnostics,
}: Configuration): ServersNotTrustedError | NoServersError | undefined {
  const untrustedServers = servers
    .filter(isUntrusted)
    .toSorted((a, b) => compareText(a.name, b.name))
  if (untrustedServers.length > 0) return new ServersNotTrustedError(untrustedServers)
  if (servers.some(({ disabled }) => !disabled)) return undefined
  return new NoServersError(
    servers.map(({ name }) => name),
    diagnostics.filter(({ severity }) => severity === 'error'),
  )
}

/** Returns the diagnostics of a configuration that are not in the error of {@link unaskedServers}. */
export function configurationDiagnostics(configuration: Configuration): readonly Diagnostic[] {
  const diagnostics = configuration.diagnostics.filter(({ severity }) => severity !== 'info')
  const isReported = unaskedServers(configuration) instanceof NoServersError
  return isReported ? diagnostics.filter(({ severity }) => severity !== 'error') : diagnostics
}

/** @throws {ServersNotTrustedError}, {NoServersError} if no server may be asked */
export function requireServers(configuration: Configuration): void {
  if (configuration.servers.some((server) => !server.disabled && !isUntrusted(server))) return
  const problem = unaskedServers(configuration)
  if (problem) throw problem
}
