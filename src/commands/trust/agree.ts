import type { Context } from '#core/command'
import { exitCode, type ExitCode, SkillrailError } from '#core/errors'
import { isYes } from '#core/text'

/** Asks the user at the terminal, unless `--yes` answers in advance. */
export async function agree(
  { ask }: Pick<Context, 'ask'>,
  { question, yes, ...refusal }: { question: string; yes: boolean; message: string; hint: string },
): Promise<boolean> {
  if (yes) return true
  const code = 'workspace-not-trusted'
  const otherwise = (): Error => new WorkspaceNotTrustedError({ code, ...refusal })
  const answer = await ask({ text: `\n${question}? [y/N] `, otherwise })
  return isYes(answer)
}

/** The command needs a trusted workspace, and nobody could confirm it. Exit code 4. */
export class WorkspaceNotTrustedError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.refused
}
