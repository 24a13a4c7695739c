import { maxTurnsExceeded } from '../agent/index.ts'
import type { CommandApprover } from './_agent-approver.ts'

/** Why an answer is none, or not all of it, in the words of the command line. */
export interface Ending {
  /** What is printed, and `error` with `--json`. */
  error?: string | undefined
  /** Tools whose calls were refused because nobody could be asked. */
  refused?: readonly string[] | undefined
}

/** How a run ended: what went wrong in it, and what of it nobody could approve. */
export function endingOf(
  error: string | undefined,
  { unasked }: Pick<CommandApprover, 'unasked'>,
): Ending {
  const said = error === undefined ? [] : [withOption(error)]
  if (unasked.length > 0) {
    said.push(
      `Refused, because nobody could be asked: ${unasked.join(', ')}. Run it at a terminal, or with --yes.`,
    )
  }
  return {
    error: said.length === 0 ? undefined : said.join('\n'),
    refused: unasked.length === 0 ? undefined : unasked,
  }
}

/** The turns are the one limit that an option of the same call raises. */
function withOption(error: string): string {
  return error === maxTurnsExceeded
    ? `${error}: it was asked for a summary instead. --max-turns gives it more.`
    : error
}
