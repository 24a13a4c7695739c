import { sha256 } from '#core/json'
import { findSecrets, redactText } from '#core/redact'
import { shellWord } from '#core/text'
import { RunStateError } from './errors.ts'
import type { RunJournal } from './run-journal.ts'

/** These commands execute steps, so they need the rights of the earlier command again. */
const executing = [
  'runs resume',
  'runs approve',
  'runs retry',
  'runs fork',
  'chain next',
  'chain report',
  'view',
] as const

type RunCommand = (typeof executing)[number] | 'runs reject' | 'runs cancel' | 'runs show'

export type RunLine = (command: RunCommand, runId: string, more?: readonly string[]) => string

/** Options that the journal does not store, so that each command line repeats them. */
interface RepeatedOptions {
  /** Where the command works: `-C`, `--config`. */
  place: readonly string[]
  /** What the command allows: `--trust-workspace`, `--grant`. A journal of a project could claim any rights. */
  rights: readonly string[]
}

export function runLines({ place, rights }: RepeatedOptions): RunLine {
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

export function redactedArguments(words: readonly string[]): string[] {
  return words.map((argument, index) => {
    const option = optionBefore(words, index)
    const joinedText = redactText(`${option}${argument}`)
    return joinedText === `${option}${argument}` ? argument : joinedText.slice(option.length)
  })
}

export function haveSecret(words: readonly string[]): boolean {
  return redactedArguments(words).some((argument, index) => argument !== words[index])
}

/** Returns the secrets in the arguments, to mask them in the output of scripts. */
export function secretsIn(words: readonly string[]): string[] {
  return words.flatMap((argument, index) => {
    const joinedText = `${optionBefore(words, index)}${argument}`
    return findSecrets(joinedText)
      .map(({ offset, length }) =>
        joinedText.slice(offset, offset + length).replaceAll(/^["']|["']$/g, ''),
      )
      .filter((secret) => secret.length >= shortestSecret)
  })
}

/** A shorter text occurs in too many words. */
const shortestSecret = 4

/** `--token abc` as two words is a secret like `--token=abc`. */
function optionBefore(words: readonly string[], index: number): string {
  const previousWord = words[index - 1]
  const isOption =
    previousWord !== undefined && /^--?[A-Za-z]/.test(previousWord) && !previousWord.includes('=')
  return isOption ? `${previousWord}=` : ''
}

export function argumentsOf(
  journal: RunJournal,
  repeatedArguments: readonly string[],
): readonly string[] {
  const runArguments = repeatedArguments.length > 0 ? repeatedArguments : journal.run.arguments
  if (sha256(JSON.stringify(runArguments)) === journal.run.argumentsDigest) return runArguments
  const { runId } = journal.run
  const hint = keepsArguments(journal)
    ? 'Leave them out, or start a new run.'
    : 'Add -- and exactly the same ones again.'
  if (repeatedArguments.length > 0) {
    const message = `the run ${runId} was started with other arguments`
    throw new RunStateError('arguments-differ', message, hint)
  }
  const message = `the arguments of the run ${runId} contained a secret, and secrets are not stored`
  throw new RunStateError('arguments-needed', message, hint)
}

/** Whether the journal has the arguments. A user has to repeat arguments with a secret. */
export function keepsArguments({ run }: RunJournal): boolean {
  return sha256(JSON.stringify(run.arguments)) === run.argumentsDigest
}
