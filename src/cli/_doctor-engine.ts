import type { Check } from '../base/check.ts'
import { type EngineOptions, wantsServer } from './_engine.ts'
import type { CommandContext } from './command.ts'

/** What `doctor --engine restate` checks besides; nothing for runs on this machine. */
export async function checkEngine(
  context: CommandContext,
  options: EngineOptions,
): Promise<Check[]> {
  if (!wantsServer(options)) return []
  const { checkRestate } = await import('./_doctor-restate.ts')
  return await checkRestate(context, options)
}
