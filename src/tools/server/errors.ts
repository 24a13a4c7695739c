import { exitCode, type ExitCode, nearest, type SkillrailErrorFacts } from '../../base/index.ts'
import { ToolCallError, ToolError } from '../errors.ts'
import type { CallFailure } from '../model.ts'

/** A server that could not be started or reached; nothing was delivered to it. */
export class ServerStartError extends ToolCallError {
  readonly server: string
  /** The last lines of its standard error; empty where there are none. */
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

/** The tool is kept from being called by the configuration of its server. Exit code 4. */
export class ToolNotAllowedError extends ToolCallError {
  override get exitCode(): ExitCode {
    return exitCode.refused
  }
}

/** A server of the project that may not start because the workspace is not trusted. Exit code 4. */
export class ServerNotTrustedError extends ServerStartError {
  override get exitCode(): ExitCode {
    return exitCode.refused
  }
}

/** No configuration names this server. Exit code 3. */
export class ServerNotFoundError extends ToolError {
  constructor(name: string, known: readonly string[]) {
    const meant = nearest(name, known)
    super({
      code: 'server-not-found',
      message: `There is no server ${name}`,
      hint:
        meant === undefined
          ? 'skillrail tools servers lists the servers of this project.'
          : `Did you mean ${meant}?`,
    })
  }

  override get exitCode(): ExitCode {
    return exitCode.notFound
  }
}
