import { exitCode, type ExitCode, SkillrailError } from '../base/index.ts'
import {
  readServerConfiguration,
  type ServerConfiguration,
  ToolError,
  unaskedServers,
} from '../tools/index.ts'
import { toolProject } from './_tool-project.ts'
import type { CommandContext } from './command.ts'

/** What servers are configured for a project; nothing is started. */
export function serverConfiguration(context: CommandContext): ServerConfiguration {
  const { runtime, settings } = context
  const project = toolProject(context)
  return readServerConfiguration({ project, runtime, trust: settings.workspaceTrust })
}

/** Says which servers were not asked; the exit code of a command that found nothing. */
export function sayUnasked(context: CommandContext): ExitCode {
  const unasked = unaskedServers(serverConfiguration(context))
  if (unasked === undefined) return exitCode.notFound
  context.output.failure(`${unasked.message}.`)
  if (unasked.hint !== undefined) context.output.failure(unasked.hint)
  return unasked.exitCode
}

/** The same for an error that something was not found. */
export function withUnasked(error: unknown, context: CommandContext): unknown {
  if (!(error instanceof SkillrailError) || error.exitCode !== exitCode.notFound) return error
  const unasked = unaskedServers(serverConfiguration(context))
  if (unasked === undefined || error.code === unasked.code) return error
  // The next step is another one than to ask the servers again.
  const found = error.message.split('\n').filter((line) => !line.startsWith('Next: '))
  return new UnaskedError([...found, `${unasked.message}.`].join('\n'), unasked)
}

/** What was looked for, and why it may have been missed. */
class UnaskedError extends ToolError {
  readonly #exitCode: ExitCode

  constructor(message: string, { code, hint, diagnostics, exitCode: status }: SkillrailError) {
    super({ code, message, hint, diagnostics })
    this.#exitCode = status
  }

  override get exitCode(): ExitCode {
    return this.#exitCode
  }
}
