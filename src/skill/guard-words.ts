import { safeLine } from '#core/text'
import { parseAllowedTools } from './allowed-tools.ts'

/** Returns the calls that a guard names, in words: `git push` for `Bash(git push:*)`. */
export function guardedCalls(guard: string): string[] {
  return parseAllowedTools(guard).map(({ tool, pattern }) => {
    if (pattern === undefined) return `calls of ${safeLine(tool)}`
    const command = pattern.replace(/(?::| )\*$/, '').trim()
    return safeLine(tool === 'Bash' && command !== '' ? command : `${tool}(${pattern})`)
  })
}
