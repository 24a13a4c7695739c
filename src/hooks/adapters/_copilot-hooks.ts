import { timeLimitSeconds } from '../adapter.ts'

/** A file of hooks that holds ours alone; Copilot CLI reads every file beside it too. */
export function hooksText(command: string): string {
  const handler = {
    type: 'command',
    bash: command,
    powershell: powerShellText(command),
    timeoutSec: timeLimitSeconds,
  }
  const file = { version: 1, hooks: { userPromptSubmitted: [handler] } }
  return `${JSON.stringify(file, undefined, 2)}\n`
}

/** A project's command is for POSIX shells; on Windows it is only taken note of. */
function powerShellText(command: string): string {
  if (command.startsWith('if ')) return '$input | Out-Null'
  return command.startsWith('& ') ? command : `& ${command}`
}
