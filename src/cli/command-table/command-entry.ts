import type { AnyCommand } from '../../base/command.ts'
import type { LoadedCommand } from '../command.ts'

/** One line of `skillrail --help`, and where the command lives. */
export interface CommandEntry {
  /** The words that call it: `list`, `runs show`. */
  name: string
  group: CommandGroup
  summary: string
  load: () => Promise<{ command: AnyCommand | LoadedCommand }>
}

export type CommandGroup =
  | 'Run'
  | 'Chain'
  | 'Agent'
  | 'Tools'
  | 'Library'
  | 'Author'
  | 'Triggers'
  | 'Machine'
