import { exitCode, type ExitCode, SkillrailError } from '#core/errors'

/** Base of the errors about skills. */
export class SkillError extends SkillrailError {}

/** No skill has that name or path. */
export class SkillNotFoundError extends SkillError {
  override readonly exitCode: ExitCode = exitCode.notFound
}

/** The frontmatter is missing, not closed, or no YAML mapping. */
export class SkillParseError extends SkillError {}

/** The frontmatter breaks rules of the specification; `diagnostics` lists them all. */
export class SkillValidationError extends SkillError {}

/** The file could not be read, is too large, or refers to itself. */
export class SkillLoadError extends SkillError {}

/** Whether a skill exists but its file cannot be used. */
export function isUnusable(error: unknown): error is SkillError {
  const kinds = [SkillParseError, SkillValidationError, SkillLoadError]
  return kinds.some((kind) => error instanceof kind)
}

/** Two different skills in one location have the same name. */
export class SkillConflictError extends SkillError {}

/** The skill may not be invoked in this way (by the user, by the model). */
export class SkillInvocationError extends SkillError {
  override readonly exitCode: ExitCode = exitCode.refused
}
