import { type RunLine, runLines } from '../chain/index.ts'
import type { CommandContext } from './command.ts'
import type { ConfinementOptions } from './_confinement.ts'

/** Lines about runs with what was given to this command and no journal keeps. */
export function linesAgain(
  { options: { again }, runtime }: Pick<CommandContext, 'options' | 'runtime'>,
  { grant = [], unsafeNoSandbox }: ConfinementOptions = {},
): RunLine {
  const { directory, config, trustWorkspace } = again ?? {}
  return runLines({
    place: [
      // Whoever reads the line may be anywhere.
      ...(directory === undefined ? [] : ['-C', runtime.cwd]),
      ...(config === undefined ? [] : ['--config', config]),
    ],
    rights: [
      ...(trustWorkspace === true ? ['--trust-workspace'] : []),
      ...grant.flatMap((text) => ['--grant', text]),
      ...(unsafeNoSandbox === true ? ['--unsafe-no-sandbox'] : []),
    ],
  })
}
