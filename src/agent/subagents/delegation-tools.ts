import type { JsonObject } from '#core/json'
import { untilAborted } from '#core/runtime'
import { cutToColumns } from '#core/text'
import { textOf } from '#agent/built-in-tools/paths'
import { SubagentDelegationError } from '#agent/errors'
import type { JoinedSession, SessionPart } from '#agent/session-contract'
import { objectSchema, ownTool } from '#agent/tool'
import type { AgentTool, ToolContext } from '#agent/types'
import type { SubagentConfig } from './config.ts'
import type { DelegationHandle, SubagentResult } from './delegation.ts'
import type { SubagentManager } from './manager.ts'

const maxResults = 20

/** Offers the tools that delegate, and tells the model when a background delegation is over. */
export class DelegationPart implements SessionPart {
  readonly #manager: SubagentManager
  readonly #background = new Map<string, DelegationHandle>()
  #session: JoinedSession | undefined
  #tools: readonly AgentTool[] = []

  constructor(manager: SubagentManager) {
    this.#manager = manager
  }

  attach(session: JoinedSession) {
    this.#session = session
  }

  async instructions(): Promise<undefined> {
    const configs = await this.#manager.list()
    this.#tools = configs.length === 0 ? [] : this.#delegationTools(configs)
  }

  tools() {
    return this.#tools
  }

  async close() {
    await this.#manager.cancelAll()
  }

  /** Delegating needs no approval: the calls of the subagent are approved one by one. */
  #delegationTools(configs: readonly SubagentConfig[]): AgentTool[] {
    const delegation = { type: 'string' }
    const message = { type: 'string' }
    return [
      {
        ...ownTool,
        name: 'delegate',
        aliases: ['Task', 'Agent'],
        description: `Hands a task to a subagent and returns its answer. It knows nothing but the task: say everything that it needs. With background, returns an id at once. With resume, the subagent of a finished delegation continues.\n\nSubagents:\n${agentCatalogue(configs)}`,
        inputSchema: objectSchema(
          {
            agent: { type: 'string', enum: configs.map((config) => config.name) },
            task: { type: 'string' },
            background: { type: 'boolean' },
            resume: { type: 'string', description: 'ID of a finished delegation to resume.' },
          },
          ['agent', 'task'],
        ),
        execute: (input, context) => this.#delegate(input, context),
      },
      {
        ...ownTool,
        name: 'delegation_status',
        description:
          'Shows the status of background delegations, and returns the answer of a finished one.',
        inputSchema: objectSchema({
          delegation: { type: 'string', description: 'Its id; absent: all of them.' },
          wait: { type: 'boolean', description: 'Wait until it is over.' },
        }),
        execute: (input, context) => this.#status(input, context),
      },
      {
        ...ownTool,
        name: 'delegation_send',
        description: 'Sends a message to a subagent that works in the background.',
        inputSchema: objectSchema({ delegation, message }, ['delegation', 'message']),
        execute: async (input) => {
          const handle = this.#required(textOf(input, 'delegation'))
          if (handle.isComplete) return await stateText(handle)
          handle.send(textOf(input, 'message'))
          return 'It reads the message before its next step.'
        },
      },
      {
        ...ownTool,
        name: 'delegation_cancel',
        description: 'Ends a background delegation.',
        inputSchema: objectSchema({ delegation }, ['delegation']),
        execute: async (input) => {
          const handle = this.#required(textOf(input, 'delegation'))
          handle.cancel()
          await handle.result()
          return await stateText(handle)
        },
      },
    ]
  }

  async #delegate(input: JsonObject, { signal, onEvent }: ToolContext): Promise<string> {
    const task = textOf(input, 'task')
    const resumedId = textOf(input, 'resume')
    const isBackground = input['background'] === true
    // A background delegation outlives this call and its run, so it does not get their signal and stream.
    const options = { source: 'model', ...(isBackground ? {} : { signal, onEvent }) } as const
    const handle =
      resumedId === ''
        ? await this.#manager.delegateAsync(textOf(input, 'agent'), task, options)
        : await this.#manager.resume(resumedId, task, options)
    if (!isBackground) return answerText(await handle.result())
    void this.#watch(handle)
    return `Delegation ${handle.id} to ${handle.subagentName} has started in the background. You will get a message when it ends.`
  }

  async #watch(handle: DelegationHandle): Promise<void> {
    const { id, subagentName } = handle
    // A resumed delegation moves to the end, where it is kept longest.
    this.#background.delete(id)
    this.#background.set(id, handle)
    const { status } = await handle.result()
    const finishedHandles = [...this.#background.values()].filter(({ isComplete }) => isComplete)
    for (const outdatedHandle of finishedHandles.slice(0, -maxResults))
      this.#background.delete(outdatedHandle.id)
    this.#session?.steer(
      `The background delegation ${id} to ${subagentName} is over: ${status}. Get its answer with delegation_status.`,
    )
  }

  async #status(input: JsonObject, { signal }: ToolContext): Promise<string> {
    const id = textOf(input, 'delegation')
    const handles = id === '' ? [...this.#background.values()] : [this.#required(id)]
    if (handles.length === 0) return 'Nothing was delegated in the background.'
    const states = handles.map(async (handle) => {
      if (input['wait'] === true) await untilAborted(handle.result(), signal)
      return await stateText(handle)
    })
    return (await Promise.all(states)).join('\n\n')
  }

  #required(id: string): DelegationHandle {
    const handle = this.#background.get(id)
    if (handle) return handle
    const ids = [...this.#background.keys()].join(', ')
    const message = `There is no background delegation ${id}.`
    const hint = `There are ${ids || 'none'}.`
    throw new SubagentDelegationError({ code: 'delegation-unknown', message, hint })
  }
}

/** Characters of all descriptions together. */
const catalogueLength = 8000
const shortestDescription = 40

/** Lists the subagents for the model; each description gets an equal share of the length. */
function agentCatalogue(configs: readonly SubagentConfig[]): string {
  const share = Math.max(shortestDescription, Math.floor(catalogueLength / configs.length))
  const lines = configs.map(({ name, description }) => {
    const text = description.replaceAll(/\s+/g, ' ').trim()
    return `- ${name}: ${cutToColumns(text, share)}`
  })
  return lines.join('\n')
}

/** @throws {SubagentDelegationError} for a failed or cancelled delegation, so that the model reads an error. */
function answerText(result: SubagentResult): string {
  const { id, subagentName, status, output, error = '' } = result
  const delegation = `delegation ${id} of ${subagentName}`
  if (status === 'completed') return `${output}\n\n[${delegation}: completed]`
  if (status === 'capped') {
    return `${output}\n\n[${delegation} is not done: ${error}. This is its summary; resume it to continue.]`
  }
  const partialOutput = output === '' ? '' : ` Until then it wrote: ${output}`
  const message = `The delegation ${id} to ${subagentName} ${status}: ${error}${partialOutput}`
  throw new SubagentDelegationError({ code: `delegation-${status}`, message })
}

async function stateText(handle: DelegationHandle): Promise<string> {
  const { id, subagentName, status } = handle
  const state = `Delegation ${id} to ${subagentName}: ${status}`
  if (!handle.isComplete) return `${state}.`
  const { output, error } = await handle.result()
  const line = `${state}${error === undefined ? '' : ` (${error})`}.`
  return output === '' ? line : `${line}\n${output}`
}
