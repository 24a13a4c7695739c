import { inputText as read } from '../base/input-text.ts'
import type { CommandContext } from './command.ts'

/** {@link read} for commands in the old form. */
export async function inputText(given: string, context: CommandContext): Promise<string> {
  return await read(given, {
    runtime: context.runtime,
    stdin: () => context.readStandardInput(),
  })
}
