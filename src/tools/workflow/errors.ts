import { exitCode, type ExitCode, SkillrailError, UsageError } from '../../core/errors.ts'

export class WorkflowError extends SkillrailError {}

export class WorkflowPrerequisiteError extends WorkflowError {}

export class WorkflowNotFoundError extends WorkflowError {
  constructor(name: string, meant: string | undefined) {
    super({
      code: 'workflow-not-found',
      message: `Workflow '${name}' not found.`,
      hint:
        meant === undefined
          ? '`skillrail workflow list` shows those that are defined.'
          : `Did you mean ${meant}?`,
    })
  }

  override readonly exitCode: ExitCode = exitCode.notFound
}

export class WorkflowExistsError extends WorkflowError {
  constructor(name: string) {
    super({
      code: 'workflow-exists',
      message: `Workflow '${name}' already exists. Use \`skillrail workflow edit\` to modify.`,
    })
  }
}

export class SessionNotFoundError extends WorkflowError {
  constructor(id: string, known: readonly string[], meant: string | undefined) {
    const there =
      known.length === 0 ? 'There are no sessions here.' : `Sessions here: ${known.join(', ')}.`
    super({
      code: 'session-not-found',
      message: `Session '${id}' not found.`,
      hint: meant === undefined ? there : `Did you mean ${meant}? ${there}`,
    })
  }

  override readonly exitCode: ExitCode = exitCode.notFound
}

export class WorkflowNotConfirmedError extends WorkflowError {
  override readonly exitCode: ExitCode = exitCode.refused
}

/** A definition that cannot be kept as it is; {@link SkillrailError.diagnostics} says where. */
export class WorkflowInvalidError extends UsageError {}
