import { safeLine } from '../base/index.ts'
import { describeParameters, proposalText, type RequestWorld } from '../tools/index.ts'
import type { CommandContext } from './command.ts'

/** Asks the person at the terminal; undefined where there is none. */
export function personAt(context: CommandContext): RequestWorld['person'] {
  if (!context.interactive) return undefined
  return {
    async confirm(plan) {
      const question = plan.length === 1 ? 'Call it?' : `Make these ${plan.length} calls?`
      // Part of the question: a person must see it with --quiet too.
      const answer = await context.ask(`${proposalText(plan)}\n${question} [y/N] `)
      return answer !== undefined && /^y(?:es)?$/i.test(answer.trim())
    },
    async choose(candidates) {
      const list = candidates.map(({ tool }, index) => `${index + 1}. ${safeLine(tool)}\n`)
      const answer = await context.ask(
        `${list.join('')}Which one? [1-${candidates.length}, empty for none] `,
      )
      return candidates[Number(answer?.trim() || 0) - 1]?.tool
    },
    async provide(tool, name, problem) {
      const parameter = describeParameters(tool.inputSchema).find((one) => one.name === name)
      const about = parameter?.description ?? ''
      const hint = about === '' ? '' : ` (${safeLine(about).slice(0, 200)})`
      const again = problem === undefined ? '' : `${safeLine(problem)}\n`
      const question = `${again}${safeLine(tool.name)} needs ${safeLine(name)}${hint}: `
      return (await context.ask(question))?.trim()
    },
  }
}
