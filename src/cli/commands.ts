import { agentCommands } from './command-table/agent-commands.ts'
import type { CommandEntry } from './command-table/command-entry.ts'
import { libraryCommands } from './command-table/library-commands.ts'
import { machineCommands } from './command-table/machine-commands.ts'
import { runCommands } from './command-table/run-commands.ts'
import { toolCommands } from './command-table/tool-commands.ts'

/** Every command, in the order of the help page. Each file is loaded only when it is called. */
export const commands: readonly CommandEntry[] = [
  ...runCommands,
  ...agentCommands,
  ...toolCommands,
  ...libraryCommands,
  ...machineCommands,
]
