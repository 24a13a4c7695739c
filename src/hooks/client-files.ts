import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { adapters, type FileText, timeLimitSeconds } from './adapters.ts'

/** What is in a file that is ours alone, by the command that it calls. */
export const fileTexts = {
  'copilot-hooks': hooksText,
  'opencode-plugin': (command) => pluginText('opencode.js', command),
  'pi-extension': (command) => pluginText('pi.ts', command),
} as const satisfies Record<FileText, (command: string) => string>

/** A file of hooks that holds ours alone; Copilot CLI reads every file beside it too. */
export function hooksText(command: string): string {
  const { prompt, ...others } = adapters.copilot.events
  const started = command.startsWith('& ') ? command : `& ${command}`
  // A project's command is for POSIX shells; on Windows it is only taken note of.
  const powershell = command.startsWith('if ') ? '$input | Out-Null' : started
  const handler = { type: 'command', bash: command, powershell, timeoutSec: timeLimitSeconds }
  // The client does not name the event to the hook.
  const at = command.lastIndexOf(' copilot') + ' copilot'.length
  const entries = Object.values(others).map((event) => {
    const bash = `${command.slice(0, at)} ${event}${command.slice(at)}`
    const named = command.startsWith('if ') ? powershell : `& ${bash.replace(/^& /, '')}`
    return [event, [{ ...handler, bash, powershell: named }]]
  })
  const hooks = { [prompt]: [handler], ...Object.fromEntries(entries) }
  return `${JSON.stringify({ version: 1, hooks }, undefined, 2)}\n`
}

/** A plugin of the package, with the command that it calls. */
function pluginText(name: string, command: string): string {
  const path = fileURLToPath(new URL(`../../plugins/source/${name}`, import.meta.url))
  const call = `const command = ${JSON.stringify(command)}`
  return readFileSync(path, 'utf8').replace(/^const command = .*$/m, () => call)
}
