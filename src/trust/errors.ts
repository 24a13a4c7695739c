import { exitCode, type ExitCode, SkillrailError } from '../base/index.ts'
import { SkillError } from '../skill/index.ts'
import type { TrustReason } from './model.ts'

export interface SkillNotTrustedFacts {
  skill: string
  /** What was asked for, as in "may not …": `run its script`. */
  action: string
  reason: string
  reasonCode: TrustReason
  /** The command or the setting that would allow it. */
  hint: string
}

/** The skill may not do this at its trust level. Exit code 4; `hint` says what would allow it. */
export class SkillNotTrustedError extends SkillError {
  readonly skill: string
  readonly reasonCode: TrustReason

  constructor(facts: SkillNotTrustedFacts) {
    super({
      code: 'skill-not-trusted',
      message: `Skill ${facts.skill} may not ${facts.action}: ${facts.reason}.`,
      hint: facts.hint,
    })
    this.skill = facts.skill
    this.reasonCode = facts.reasonCode
  }

  override get exitCode(): ExitCode {
    return exitCode.refused
  }
}

/** The workspace would have to be trusted, and nobody was there to say so. Exit code 4. */
export class WorkspaceNotTrustedError extends SkillrailError {
  override get exitCode(): ExitCode {
    return exitCode.refused
  }
}
