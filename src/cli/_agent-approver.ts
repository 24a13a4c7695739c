import { safeText } from '../base/index.ts'
import type { ApprovalRequest, Approver } from '../agent/index.ts'
import type { CommandContext } from './command.ts'

/** Asks for approvals, and remembers what could not be asked. */
export interface CommandApprover {
  approve: Approver
  /** Names of tools that were refused because nobody was there to be asked. */
  readonly unasked: readonly string[]
}

/** `--yes`: everything is approved. Else the person at the terminal is asked, and without one nobody. */
export function commandApprover(context: CommandContext, approvesAll: boolean): CommandApprover {
  const always = new Set<string>()
  const unasked = new Set<string>()
  return {
    get unasked() {
      return [...unasked]
    },
    async approve(request) {
      // The reason too: a yes to a tool is none to what it is asked for every time.
      const key = `${request.agent} ${request.tool.name} ${request.reason}`
      if (approvesAll || always.has(key)) return { approved: true }
      const { signal } = request
      const answer = context.interactive ? await context.ask(question(request), signal) : undefined
      if (signal.aborted) return { approved: false, reason: 'the call was cancelled' }
      if (answer === undefined) {
        unasked.add(request.tool.name)
        return { approved: false, reason: 'it needs an approval, and nobody is there to give one' }
      }
      const word = answer.trim().toLowerCase()
      if (/^a(?:lways)?$/.test(word)) always.add(key)
      if (/^(?:y(?:es)?|a(?:lways)?)$/.test(word)) return { approved: true }
      const said = /^(?:no?)?$/.test(word) ? '' : `, and said: ${answer.trim()}`
      return { approved: false, reason: `the user did not approve it${said}` }
    },
  }
}

/** Everything that a person has to see before a yes. */
function question({ agent, tool, input, reason, effect }: ApprovalRequest): string {
  const who = agent === 'main' ? 'The agent' : `The subagent ${agent}`
  const lines = [
    `${who} wants to call ${tool.name} (${reason}).`,
    effect ?? JSON.stringify(input, null, 2),
    'Allow it? [y]es, [a]lways this tool, [N]o, or say what to do instead: ',
  ]
  return safeText(lines.join('\n'))
}
