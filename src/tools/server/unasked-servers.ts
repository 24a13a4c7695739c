import { compareText, type Diagnostic } from '../../base/index.ts'
import type { ServerConfiguration, ServerDefinition } from '../config/model.ts'
import { NoServersError, ServersNotTrustedError } from './errors.ts'

type Configured = Pick<ServerConfiguration, 'servers' | 'diagnostics'>

/** Whether a server is not started because of the workspace it came with. */
export function isUntrusted({ disabled, blocked }: ServerDefinition): boolean {
  return !disabled && blocked !== undefined && blocked.reason !== 'unresolved'
}

/**
 * Why what a project's servers have is not known: some of them are not started for lack of trust, or
 * there is none. Whoever is about to say that something does not exist says this first.
 */
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

/**
 * What is wrong with a configuration, but for what {@link unaskedServers} says of it, and without what
 * only whoever looks at the configuration wants to know.
 */
export function remarksOn(configuration: Configured): readonly Diagnostic[] {
  const diagnostics = configuration.diagnostics.filter(({ severity }) => severity !== 'info')
  const isSaid = unaskedServers(configuration) instanceof NoServersError
  return isSaid ? diagnostics.filter(({ severity }) => severity !== 'error') : diagnostics
}

/**
 * Passes where at least one server may be asked.
 *
 * @throws {ServersNotTrustedError} (exit code 4), {NoServersError} (exit code 3)
 */
export function requireServers(configuration: Configured): void {
  if (configuration.servers.some((server) => !server.disabled && !isUntrusted(server))) return
  const problem = unaskedServers(configuration)
  if (problem !== undefined) throw problem
}
