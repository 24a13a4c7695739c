import { UsageError } from '#core/errors'
import { safeLine, safeText } from '#core/text'
import { neededText } from '#tools/cache/describe-parameters'
import { proposalText } from '#tools/call/consent'
import type { RequestSetup } from '#tools/call/do-request'
import { type AskUser } from './tool.ts'

/** Maximum number of questions per request: the SDK ends a request that still asks after 8 rounds. */
export const maxQuestions = 7

const longestQuestion = 20_000

/**
 * Refuses a question beyond the limit and one that is too long; results of earlier calls remain.
 */
export function askWithinBounds(ask: AskUser | undefined): AskUser | undefined {
  if (!ask) return undefined
  let count = 0
  return async (question) => {
    const { length } = question.message
    if (length > longestQuestion)
      throw new UsageError({
        code: 'question-too-long',
        message: `not called: its ${length} characters are too many to ask the user about; at most ${longestQuestion}`,
        hint: 'Make it smaller, or name a file instead of its text.',
      })
    if (count++ >= maxQuestions)
      throw new UsageError({
        code: 'too-many-questions',
        message: `not called: the user answered ${maxQuestions} questions for this request already`,
        hint: 'Put the rest into a separate request.',
      })
    return await ask(question)
  }
}

export function howToAllow(ask: AskUser | undefined, yes: boolean, command: string): string {
  if (ask) return 'The user has to approve it in the client.'
  if (yes) return 'Name it in the request, or use a client that can ask the user (elicitation).'
  return `This client cannot ask the user (elicitation). A user allows it with skillrail mcp serve --yes, or at a terminal with ${command}.`
}

export async function askForYes(ask: AskUser, message: string, title: string): Promise<boolean> {
  return (await ask({ message, name: 'approve', field: { type: 'boolean', title } })) === true
}

/** Returns the user behind the client, or undefined if the client cannot ask one. */
export function userBehind(ask: AskUser | undefined): RequestSetup['user'] {
  if (!ask) return undefined
  return {
    async confirm(plan) {
      const title = plan.length === 1 ? 'Make this call' : `Make these ${plan.length} calls`
      const message = `Something may be changed by this.\n${proposalText(plan)}`
      return await askForYes(ask, message, title)
    },
    async choose(candidates) {
      const tools = candidates.map(({ tool }) => tool)
      const answer = await ask({
        message: 'More than one tool may be meant. Which one is it?',
        name: 'tool',
        field: { type: 'string', title: 'Tool', enum: tools },
      })
      return tools.find((tool) => tool === answer)
    },
    async provide(tool, name, problem) {
      const again = problem === undefined ? '' : `${problem}\n`
      const value = await ask({
        message: safeText(`${again}${tool.id} needs ${neededText(tool, name)}.`),
        name: 'value',
        field: { type: 'string', title: safeLine(name).slice(0, 100) },
      })
      return typeof value === 'string' ? value.trim() : undefined
    },
  }
}

/** Asks once per request whether to run the steps of a workflow that only warns. */
export function askWhetherToRun(
  ask: AskUser | undefined,
): ((warning: string) => Promise<'run' | 'skip'>) | undefined {
  if (!ask) return undefined
  const choices = new Map<string, 'run' | 'skip'>()
  return async (warning) => {
    const earlier = choices.get(warning)
    if (earlier) return earlier
    const answer = await ask({
      message: safeText(warning),
      name: 'skip',
      field: { type: 'boolean', title: 'Leave these steps out' },
      isOptional: true,
    })
    const choice = answer === true ? 'skip' : 'run'
    choices.set(warning, choice)
    return choice
  }
}
