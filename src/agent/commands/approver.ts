import type { Context } from '../../core/command.ts'
import { safeText } from '../../core/text.ts'
import { maxTurnsExceeded } from '../loop/run-loop.ts'
import type { ApprovalRequest, Approval } from '../types.ts'

/** Why a run has no answer or only a part of one, as the command line says it. */
export interface Ending {
  error?: string | undefined
  /** Tools whose calls were refused because nobody could be asked. */
  refused?: readonly string[] | undefined
}

/** Asks for approvals at the terminal, and remembers what could not be asked. */
export class CommandApprover {
  readonly #context: Pick<Context, 'ask'>
  /** `--yes` */
  readonly #approvesAll: boolean
  readonly #always = new Set<string>()
  readonly #unasked = new Set<string>()

  constructor(context: Pick<Context, 'ask'>, approvesAll: boolean) {
    this.#context = context
    this.#approvesAll = approvesAll
  }

  readonly approve = async (request: ApprovalRequest): Promise<Approval> => {
    // The reason is part of the key: a yes to a tool is not a yes to a call outside the project.
    const key = `${request.agent} ${request.tool.name} ${request.reason}`
    if (this.#approvesAll || this.#always.has(key)) return { approved: true }
    const answer = await this.#ask(request)
    if (request.signal.aborted) return { approved: false, reason: 'the call was cancelled' }
    if (answer === undefined) {
      this.#unasked.add(request.tool.name)
      return { approved: false, reason: 'it needs an approval, and the shell is not interactive' }
    }
    const word = answer.trim().toLowerCase()
    if (/^a(?:lways)?$/.test(word)) this.#always.add(key)
    if (/^(?:y(?:es)?|a(?:lways)?)$/.test(word)) return { approved: true }
    const said = /^(?:no?)?$/.test(word) ? '' : `, and said: ${answer.trim()}`
    return { approved: false, reason: `the user did not approve it${said}` }
  }

  /** How a run ended that failed with `error`, if with any. */
  ending(error: string | undefined): Ending {
    const unasked = [...this.#unasked]
    const said = error === undefined ? [] : [withOption(error)]
    if (unasked.length > 0) {
      said.push(
        `Refused without approval, because the shell is not interactive: ${unasked.join(', ')}. Run it in an interactive shell, or with --yes.`,
      )
    }
    return {
      error: said.length === 0 ? undefined : said.join('\n'),
      refused: unasked.length === 0 ? undefined : unasked,
    }
  }

  /** Undefined where no user can be asked, and after Ctrl-D. */
  async #ask(request: ApprovalRequest): Promise<string | undefined> {
    const nobody = new Error('no answer was given')
    try {
      const text = questionText(request)
      return await this.#context.ask({ text, otherwise: () => nobody }, request.signal)
    } catch (error) {
      if (error === nobody || request.signal.aborted) return undefined
      throw error
    }
  }
}

/** Everything that the user has to see before a yes. */
function questionText({ agent, tool, input, reason, effect }: ApprovalRequest): string {
  const who = agent === 'main' ? 'The agent' : `The subagent ${agent}`
  const lines = [
    `${who} wants to call ${tool.name} (${reason}).`,
    effect ?? JSON.stringify(input, null, 2),
    'Allow it? [y]es, [a]lways this tool, [N]o, or say what to do instead: ',
  ]
  return safeText(lines.join('\n'))
}

/** The turns are the only limit that an option of the same command raises. */
function withOption(error: string): string {
  return error === maxTurnsExceeded
    ? `${error}: it was asked for a summary instead. --max-turns gives it more.`
    : error
}
