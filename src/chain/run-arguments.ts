import { findSecrets, redactText } from '../core/redact.ts'
import { sha256 } from '../core/json.ts'
import { RunStateError } from './errors.ts'
import type { RunJournal } from './run-journal.ts'

export function redactedArguments(given: readonly string[]): string[] {
  return given.map((argument, index) => {
    const option = optionBefore(given, index)
    const whole = redactText(`${option}${argument}`)
    return whole === `${option}${argument}` ? argument : whole.slice(option.length)
  })
}

/** Such arguments are not kept, and have to be given again. */
export function holdSecret(given: readonly string[]): boolean {
  return redactedArguments(given).some((argument, index) => argument !== given[index])
}

/** What is secret in the arguments, for masking it wherever a script repeats it. */
export function secretsIn(given: readonly string[]): string[] {
  return given.flatMap((argument, index) => {
    const whole = `${optionBefore(given, index)}${argument}`
    return findSecrets(whole)
      .map(({ offset, length }) =>
        whole.slice(offset, offset + length).replaceAll(/^["']|["']$/g, ''),
      )
      .filter((secret) => secret.length >= shortestSecret)
  })
}

/** A shorter text occurs in too many words. */
export const shortestSecret = 4

/** `--token abc` as two words is a secret like `--token=abc`. */
export function optionBefore(given: readonly string[], index: number): string {
  const before = given[index - 1]
  const isOption = before !== undefined && /^--?[A-Za-z]/.test(before) && !before.includes('=')
  return isOption ? `${before}=` : ''
}

/**
 * The arguments of a run, to execute something of it again. Throws {@link RunStateError} when they
 * held a secret and were not given again, and when others are given.
 */
export function argumentsOf(journal: RunJournal, given: readonly string[]): readonly string[] {
  const chosen = given.length > 0 ? given : journal.run.arguments
  if (sha256(JSON.stringify(chosen)) === journal.run.argumentsDigest) return chosen
  const { runId } = journal.run
  const kept = keepsArguments(journal)
  if (given.length > 0) {
    throw new RunStateError({
      code: 'arguments-differ',
      message: `the run ${runId} was started with other arguments, and can only continue with those`,
      hint: kept
        ? 'Leave them out: they are given again only where they held a secret. For others, start a new run.'
        : 'They held a secret and are not kept: give exactly the same ones again, behind --.',
    })
  }
  throw new RunStateError({
    code: 'arguments-needed',
    message: `the arguments of the run ${runId} held a secret, and secrets are not kept`,
    hint: 'Give the same arguments again after the id of the run, behind --.',
  })
}

/** Not where they held a secret: then they have to be given again. */
export function keepsArguments({ run }: Pick<RunJournal, 'run'>): boolean {
  return sha256(JSON.stringify(run.arguments)) === run.argumentsDigest
}
