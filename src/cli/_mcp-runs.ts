import {
  argumentsOf,
  keepsArguments,
  type RunJournal,
  type RunLine,
  RunStateError,
} from '../chain/index.ts'
import { type ChainProject, linesAgain } from '../chain/commands/project.ts'

/** @throws {RunStateError} where they held a secret, and the server that was given them is gone */
export function wholeArguments(
  { context }: ChainProject,
  journal: RunJournal,
  given: readonly string[],
): readonly string[] {
  if (given.length > 0 || keepsArguments(journal)) return argumentsOf(journal, given)
  const { runId } = journal.run
  throw new RunStateError({
    code: 'arguments-needed',
    message: `the arguments of the run ${runId} held a secret, and secrets are not kept`,
    hint: `A person can type: ${linesAgain(context)('chain next', runId)}, behind it -- and those arguments. Or begin again with chain_start.`,
  })
}

/** What is wrong with its journal, such as a torn last line. */
export function notesOf({ diagnostics }: RunJournal): string[] {
  return diagnostics.map(({ message }) => `In the journal of the run, ${message}.`)
}

/** A client has tools for some of it; the rest a person has to type. */
export function toolLines({ context }: ChainProject): RunLine {
  const person = linesAgain(context)
  const tools = {
    'chain next': 'chain_next',
    'chain report': 'chain_report',
    'runs show': 'chain_status',
  }
  return (command, ...words) => {
    const tool = Object.entries(tools).find(([name]) => name === command)?.[1]
    return tool ?? `${person(command, ...words)} (for a person to type)`
  }
}
