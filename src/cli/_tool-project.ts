import { exitCode, type ExitCode } from '../base/index.ts'
import { findWorkspace } from '../trust/index.ts'
import type { CommandContext } from './command.ts'

/** Real path of the workspace whose tools are meant. */
export function toolProject({ runtime }: CommandContext): string {
  return findWorkspace(runtime.cwd, runtime)
}

/**
 * Does the work of a command that looks for tools. Whatever it does not find may be at a server that
 * was not asked: then it says so, and servers that are not trusted make the exit code 4, which beats 3.
 * What that takes is loaded only then.
 */
export async function amongAskedServers(
  context: CommandContext,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const code = await foundAmongAsked(context, work)
  if (code !== exitCode.notFound) return code
  const { sayUnasked } = await import('./_asked-servers.ts')
  return sayUnasked(context)
}

/** The same for a part of a command that ends with what it found, or with an error. */
export async function foundAmongAsked<T>(
  context: CommandContext,
  find: () => T | Promise<T>,
): Promise<T> {
  try {
    return await find()
  } catch (error) {
    const { withUnasked } = await import('./_asked-servers.ts')
    throw withUnasked(error, context)
  }
}
