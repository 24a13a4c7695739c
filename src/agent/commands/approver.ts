import type { Context } from '../../core/command.ts'
import { safeText } from '../../core/text.ts'
import { maxTurnsExceeded } from '../loop/run-loop.ts'
import type { Approval, ApprovalRequest } from '../types.ts'

export interface Ending {
  error?: string | undefined
  /** Tools whose calls were refused because nobody could be asked. */
  refused?: readonly string[] | undefined
}

export class CommandApprover {
  readonly #context: Pick<Context, 'ask'>
  readonly #approvesAll: boolean
  /** Whether the run can be continued later. */
  readonly #canWait: boolean
  readonly #always = new Set<string>()
  readonly #unasked = new Set<string>()

  constructor(context: Pick<Context, 'ask'>, approvesAll: boolean, canWait = false) {
    this.#canWait = canWait
    this.#context = context
    this.#approvesAll = approvesAll
  }

  readonly approve = async (request: ApprovalRequest): Promise<Approval> => {
    const { agent, tool, reason, signal } = request
    // The reason is part of the key: a yes to a tool is not a yes to a call outside the project.
    const key = `${agent} ${tool.name} ${reason}`
    if (this.#approvesAll || this.#always.has(key)) return { approved: true }
    const nobody = new Error('no answer was given')
    let answer: string
    try {
      const question = { text: questionText(request), otherwise: () => nobody }
      answer = (await this.#context.ask(question, signal)).trim()
    } catch (error) {
      if (signal.aborted) return { approved: false, reason: 'the call was cancelled' }
      if (error !== nobody) throw error
      if (this.#canWait && agent === 'main') return { approved: 'later' }
      this.#unasked.add(tool.name)
      return { approved: false, reason: 'it needs an approval, and the shell is not interactive' }
    }
    if (/^a(?:lways)?$/i.test(answer)) this.#always.add(key)
    if (/^(?:y(?:es)?|a(?:lways)?)$/i.test(answer)) return { approved: true }
    const said = /^(?:no?)?$/i.test(answer) ? '' : `, and said: ${answer}`
    return { approved: false, reason: `the user did not approve it${said}` }
  }

  ending(error = ''): Ending {
    const ended = error === maxTurnsExceeded ? `${error}. --max-turns gives it more.` : error
    if (this.#unasked.size === 0) return { error: ended || undefined, refused: undefined }
    const refused = [...this.#unasked]
    const why = `Refused without approval, because the shell is not interactive: ${refused.join(', ')}.`
    return { error: `${ended}\n${why} Run it with --yes.`.trimStart(), refused }
  }
}

function questionText({ agent, tool, input, reason, effect }: ApprovalRequest): string {
  const who = agent === 'main' ? 'The agent' : `The subagent ${agent}`
  const lines = [
    `${who} wants to call ${tool.name} (${reason}).`,
    effect ?? JSON.stringify(input, null, 2),
    'Allow it? [y]es, [a]lways this tool, [N]o, or say what to do instead: ',
  ]
  return safeText(lines.join('\n'))
}
