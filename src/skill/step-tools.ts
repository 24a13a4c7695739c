import { fitsText } from '#core/fits-text'
import { didYouMean, editDistance } from '#core/text'
import { parseAllowedTools } from './allowed-tools.ts'
import type { AllowedTool, StepOptions } from './model.ts'
import type { RuleCode } from './rules.ts'

/**
 * A problem with the tools that a step names: a guard without effect must not look like a guard.
 */
export interface ToolProblem {
  code: RuleCode
  message: string
  hint: string
}

/** Reads `guard` and `tools` of one step. */
export function toolProblems({ guard, tools }: StepOptions): ToolProblem[] {
  const guardedTools = guard === undefined ? [] : parseAllowedTools(guard)
  const allowedTools = tools === undefined ? [] : parseAllowedTools(tools)
  return [
    ...problemsOf('guard', guardedTools),
    ...problemsOf('tools', allowedTools),
    ...(tools === undefined ? [] : excludedCalls(guardedTools, allowedTools)),
  ]
}

/** The tools that Skillrail knows on every client, by their common names. */
const commonTools = ['Bash', 'Edit', 'NotebookEdit', 'Read', 'Skill', 'Write']

/** Shell syntax: a pattern is compared with the words of one command, which contain none. */
const shellSyntax = /["'`\\;|&<>$()\n]|^[\w*]+\+?=/

function problemsOf(option: 'guard' | 'tools', entries: readonly AllowedTool[]): ToolProblem[] {
  const words = entries.filter(
    ({ tool, pattern }) => pattern === undefined && /^[a-z-]+$/.test(tool),
  )
  const isCommand = ({ tool }: AllowedTool): boolean =>
    commonTools.every((name) => name.toLowerCase() !== tool)
  const command = option === 'guard' && words.length > 1 && words.every(isCommand)
  const asCommand = words.map(({ tool }) => tool).join(' ')
  const commands: ToolProblem[] = command
    ? [
        {
          code: 'chain-tool-name',
          message: `\`${option}\` names the tools \`${words.map(({ tool }) => tool).join('` and `')}\`, which no client is known to have.`,
          hint: `For a command, write \`Bash(${asCommand}:*)\`.`,
        },
      ]
    : []
  return [...commands, ...entries.flatMap((entry) => entryProblem(option, entry) ?? [])]
}

function entryProblem(option: string, { tool, pattern }: AllowedTool): ToolProblem | undefined {
  const toolText = pattern === undefined ? tool : `${tool}(${pattern})`
  if (tool.startsWith('(')) {
    const message = `\`${option}\` has \`${toolText}\`, which names no tool.`
    return { code: 'chain-tool-name', message, hint: 'Write `Bash(git push:*)`.' }
  }
  if (/^mcp/i.test(tool) && !/^mcp__[^_]/.test(tool)) {
    const message = `\`${option}\` has \`${toolText}\`, which is not the name of an MCP tool.`
    return { code: 'chain-tool-name', message, hint: 'Write `mcp__SERVER__TOOL`.' }
  }
  const near = commonTools.filter(
    (name) => editDistance(name.toLowerCase(), tool.toLowerCase()) === 1,
  )
  if (near.length > 0 && tool.length > 3) {
    const message = `\`${option}\` has \`${toolText}\`, which no client is known to have.`
    return { code: 'chain-tool-name', message, hint: didYouMean(tool, near) }
  }
  const isShell = tool.toLowerCase() === 'bash'
  if (isShell && pattern !== undefined && shellSyntax.test(pattern)) {
    const message = `\`${option}\` has \`${toolText}\`, which no command matches: a pattern is compared with the words of each command of a line.`
    const hint =
      'Write the words as the program gets them, without quotes, variables and operators.'
    return { code: 'chain-tool-pattern', message, hint }
  }
  return undefined
}

/**
 * Returns a problem for each call that only this step may make but that its list of tools denies.
 */
function excludedCalls(
  guardedTools: readonly AllowedTool[],
  allowedTools: readonly AllowedTool[],
): ToolProblem[] {
  return guardedTools
    .filter((call) => !allowedTools.some((entry) => overlaps(entry, call)))
    .map(({ tool, pattern }) => {
      const call = pattern === undefined ? tool : `${tool}(${pattern})`
      return {
        code: 'chain-tools-guard',
        message: `\`tools\` does not allow \`${call}\`, which \`guard\` keeps for this step: nothing can make the call.`,
        hint: `Add \`${call}\` to \`tools\`, or remove it from \`guard\`.`,
      }
    })
}

function overlaps(one: AllowedTool, other: AllowedTool): boolean {
  const names = [one.tool, other.tool].map((name) => name.toLowerCase())
  const [a = '', b = ''] = names
  const isServer = (short: string, long: string): boolean =>
    short.startsWith('mcp__') && long.startsWith(`${short}__`)
  if (!meet(a, b) && !isServer(a, b) && !isServer(b, a)) return false
  if (one.pattern === undefined || other.pattern === undefined) return true
  const [first, second] = [one.pattern, other.pattern].map((text) =>
    text.replace(/(?::| )\*$/, '*'),
  )
  return meet(first ?? '', second ?? '')
}

/**
 * Whether some text may match both patterns, by the texts before and after their `*`.
 */
function meet(a: string, b: string): boolean {
  if (!a.includes('*')) return fitsText(a, b)
  if (!b.includes('*')) return fitsText(b, a)
  const [headA = '', headB = ''] = [a, b].map((text) => text.slice(0, text.indexOf('*')))
  const [tailA = '', tailB = ''] = [a, b].map((text) => text.slice(text.lastIndexOf('*') + 1))
  const isHead = headA.startsWith(headB) || headB.startsWith(headA)
  return isHead && (tailA.endsWith(tailB) || tailB.endsWith(tailA))
}
