import { safeLine, safeText } from '../base/index.ts'
import { describeParameters, type ProposedCall, type RequestWorld } from '../tools/index.ts'
import { canAsk } from './_terminal.ts'
import type { CommandContext } from './command.ts'

/** Asks the person at the terminal; undefined where there is none. */
export function personAt(context: CommandContext): RequestWorld['person'] {
  if (!canAsk()) return undefined
  return {
    async confirm(call) {
      // Part of the question: a person must see it with --quiet too.
      const answer = await context.ask(`${proposalText(call)}\nCall it? [y/N] `)
      return answer !== undefined && /^y(?:es)?$/i.test(answer.trim())
    },
    async choose(candidates) {
      const list = candidates.map(({ tool }, index) => `${index + 1}. ${safeLine(tool)}\n`)
      const answer = await context.ask(
        `${list.join('')}Which one? [1-${candidates.length}, empty for none] `,
      )
      return candidates[Number(answer?.trim() || 0) - 1]?.tool
    },
    async provide(tool, name) {
      const parameter = describeParameters(tool.inputSchema).find((one) => one.name === name)
      const about = parameter?.description ?? ''
      const answer = await context.ask(
        `${safeLine(tool.name)} needs ${safeLine(name)}${about === '' ? '' : ` (${safeLine(about).slice(0, 200)})`}: `,
      )
      const text = answer?.trim()
      return text === '' ? undefined : text
    },
  }
}

/** The tool and all of its parameters, as a person has to see them before a yes. */
function proposalText({ tool, params, unusual }: ProposedCall): string {
  const lines = [`Tool: ${tool.id}`, `Params: ${JSON.stringify(params, null, 2)}`]
  if (unusual !== undefined) lines.push(unusual)
  return safeText(lines.join('\n'))
}
