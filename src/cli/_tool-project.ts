import { findWorkspace } from '../trust/index.ts'
import type { CommandContext } from './command.ts'

/** Real path of the workspace whose tools are meant. */
export function toolProject({ runtime }: CommandContext): string {
  return findWorkspace(runtime.cwd, runtime)
}
