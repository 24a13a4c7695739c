import { shellWord } from '../core/text.ts'

/** Those that execute something need to be allowed again what the one before was. */
export const commands = {
  'runs resume': 'executes',
  'runs approve': 'executes',
  'runs retry': 'executes',
  'chain next': 'executes',
  'chain report': 'executes',
  'runs reject': 'looks',
  'runs cancel': 'looks',
  'runs show': 'looks',
} as const

export type RunLine = (
  command: keyof typeof commands,
  runId: string,
  more?: readonly string[],
) => string

/** What the journal does not keep of a command about a run: it has to be given again. */
export interface GivenAgain {
  /** Where it works: `-C`, `--config`. */
  place: readonly string[]
  /** What it allows: `--trust-workspace`, `--grant`. A project could bring a journal that says so. */
  rights: readonly string[]
}

/** Lines for a terminal; every one that names a run is made here. */
export function runLines({ place, rights }: GivenAgain): RunLine {
  return (command, runId, more = []) => {
    const words = [runId, ...more, ...place, ...(commands[command] === 'executes' ? rights : [])]
    return ['skillrail', command, ...words.map(shellWord)].join(' ')
  }
}

/** Where nothing was given besides. */
export const runLine: RunLine = runLines({ place: [], rights: [] })
