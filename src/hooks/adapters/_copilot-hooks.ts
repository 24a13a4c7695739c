import { timeLimitSeconds } from '../adapter.ts'

/** A file of hooks that holds ours alone; Copilot CLI reads every file beside it too. */
export function hooksText(command: string): string {
  const handler = {
    type: 'command',
    bash: command,
    powershell: `& ${command}`,
    timeoutSec: timeLimitSeconds,
  }
  const file = { version: 1, hooks: { userPromptSubmitted: [handler] } }
  return `${JSON.stringify(file, undefined, 2)}\n`
}
