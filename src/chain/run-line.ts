import { sha256 } from '#core/json'
import { findSecrets, redactText } from '#core/redact'
import { shellWord } from '#core/text'
import { RunStateError } from './errors.ts'
import type { RunJournal } from './run-journal.ts'

/** They execute something, and need to be allowed again what the one before was. */
const executing = [
  'runs resume',
  'runs approve',
  'runs retry',
  'chain next',
  'chain report',
] as const

type RunCommand = (typeof executing)[number] | 'runs reject' | 'runs cancel' | 'runs show'

export type RunLine = (command: RunCommand, runId: string, more?: readonly string[]) => string

/** What the journal does not keep of a command about a run: it has to be given again. */
interface GivenAgain {
  /** Where it works: `-C`, `--config`. */
  place: readonly string[]
  /** What it allows: `--trust-workspace`, `--grant`. A project could bring a journal that says so. */
  rights: readonly string[]
}

export function runLines({ place, rights }: GivenAgain): RunLine {
  return (command, runId, more = []) => {
    const words = [
      runId,
      ...more,
      ...place,
      ...(executing.some((one) => one === command) ? rights : []),
    ]
    return ['skillrail', command, ...words.map(shellWord)].join(' ')
  }
}

export const runLine: RunLine = runLines({ place: [], rights: [] })

export function redactedArguments(given: readonly string[]): string[] {
  return given.map((argument, index) => {
    const option = optionBefore(given, index)
    const whole = redactText(`${option}${argument}`)
    return whole === `${option}${argument}` ? argument : whole.slice(option.length)
  })
}

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
const shortestSecret = 4

/** `--token abc` as two words is a secret like `--token=abc`. */
function optionBefore(given: readonly string[], index: number): string {
  const before = given[index - 1]
  const isOption = before !== undefined && /^--?[A-Za-z]/.test(before) && !before.includes('=')
  return isOption ? `${before}=` : ''
}

export function argumentsOf(journal: RunJournal, given: readonly string[]): readonly string[] {
  const chosen = given.length > 0 ? given : journal.run.arguments
  if (sha256(JSON.stringify(chosen)) === journal.run.argumentsDigest) return chosen
  const { runId } = journal.run
  const hint = keepsArguments(journal)
    ? 'Leave them out, or start a new run.'
    : 'Add -- and exactly the same ones again.'
  if (given.length > 0) {
    const message = `the run ${runId} was started with other arguments`
    throw new RunStateError('arguments-differ', message, hint)
  }
  const message = `the arguments of the run ${runId} held a secret, and secrets are not stored`
  throw new RunStateError('arguments-needed', message, hint)
}

/** Not where they held a secret: then they have to be given again. */
export function keepsArguments({ run }: RunJournal): boolean {
  return sha256(JSON.stringify(run.arguments)) === run.argumentsDigest
}
