import type { Context } from '#core/command'
import { isYes, safeLine, safeText } from '#core/text'
import { neededText } from '#tools/cache/describe-parameters'
import { type ConsentSetup, proposalText } from '#tools/call/consent'
import type { CallContext } from '#tools/call/context'
import type { RequestUser } from '#tools/call/do-request'
import { answerOf } from '#tools/project-tools'

/** Returns the consent to calls that the user wrote on the command line. */
export function writtenConsent(
  context: Pick<Context, 'interactive' | 'ask'>,
  calls: CallContext,
  yes: boolean,
): ConsentSetup {
  return { context: calls, yes, user: userAt(context), isWritten: true }
}

/** Returns the user at the terminal; undefined if no question can be asked. */
export function userAt(context: Pick<Context, 'interactive' | 'ask'>): RequestUser | undefined {
  if (!context.interactive) return undefined
  return {
    async confirm(plan) {
      const question = plan.length === 1 ? 'Call it?' : `Make these ${plan.length} calls?`
      const answer = await answerOf(context, `${question} [y/N] `, `${proposalText(plan)}\n`)
      return isYes(answer ?? '')
    },
    async choose(candidates) {
      const list = candidates.map(({ tool }, index) => `${index + 1}. ${safeLine(tool)}\n`)
      const question = `Which one? [1-${candidates.length}, empty for none] `
      const answer = await answerOf(context, question, list.join(''))
      return candidates[Number(answer?.trim() || 0) - 1]?.tool
    },
    async provide(tool, name, problem) {
      const again = problem === undefined ? '' : `${safeLine(problem)}\n`
      const question = safeLine(`${tool.name} needs ${neededText(tool, name)}: `)
      return (await answerOf(context, question, again))?.trim()
    },
  }
}

/** Asks whether to run the steps of a workflow that only warns. */
export async function askWhetherToRun(context: Pick<Context, 'ask'>, warning: string) {
  const answer = await answerOf(context, 'Run them first? [Y/n] ', `${safeText(warning)}\n`)
  return answer !== undefined && /^no?$/i.test(answer.trim()) ? 'skip' : 'run'
}
