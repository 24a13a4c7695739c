import { toggleCommand } from '../_toggle-workflow.ts'
import type { LoadedCommand } from '../command.ts'

export const command: LoadedCommand = toggleCommand(false)
