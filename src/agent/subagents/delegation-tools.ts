import { untilAborted } from '../../core/runtime.ts'
import type { JsonObject } from '../../tools/model.ts'
import { textOf } from '../built-in-tools/paths.ts'
import { SubagentDelegationError } from '../errors.ts'
import type { AgentSession, SessionPart } from '../session.ts'
import type { AgentTool, ToolContext } from '../types.ts'
import type { SubagentConfig } from './config.ts'
import { DelegationHandle, type SubagentResult } from './delegation.ts'
import type { SubagentManager } from './manager.ts'

/** Results of background delegations that the model can still ask for. */
const keptResults = 20

/**
 * What an agent's model gets to delegate: tools, when there are subagents, and a message when a
 * background delegation is over.
 */
export class DelegationPart implements SessionPart {
  readonly #manager: SubagentManager
  readonly #work = new BackgroundWork((result) => this.#session?.steer(overText(result)))
  #session: AgentSession | undefined
  #tools: readonly AgentTool[] = []

  constructor(manager: SubagentManager) {
    this.#manager = manager
  }

  attach(session: AgentSession): void {
    this.#session = session
  }

  async instructions(): Promise<undefined> {
    const configs = await this.#manager.list()
    this.#tools = configs.length === 0 ? [] : delegationTools(this.#manager, configs, this.#work)
  }

  tools(): readonly AgentTool[] {
    return this.#tools
  }

  async close(): Promise<void> {
    await this.#manager.cancelAll()
  }
}

/** Background delegations: running ones, and the results of the last finished ones. */
class BackgroundWork {
  readonly #handles = new Map<string, DelegationHandle>()
  readonly #results = new Map<string, SubagentResult>()
  readonly #onEnd: (result: SubagentResult) => void

  constructor(onEnd: (result: SubagentResult) => void) {
    this.#onEnd = onEnd
  }

  watch(handle: DelegationHandle): void {
    this.#results.delete(handle.id)
    this.#handles.set(handle.id, handle)
    void handle.result().then((result) => {
      this.#handles.delete(handle.id)
      this.#results.set(handle.id, result)
      const [oldest] = this.#results.keys()
      if (this.#results.size > keptResults && oldest !== undefined) this.#results.delete(oldest)
      this.#onEnd(result)
    })
  }

  find(id: string): DelegationHandle | SubagentResult | undefined {
    return this.#handles.get(id) ?? this.#results.get(id)
  }

  all(): readonly (DelegationHandle | SubagentResult)[] {
    return [...this.#handles.values(), ...this.#results.values()]
  }
}

/** The tools by which a model hands tasks on. Never for a subagent. */
function delegationTools(
  manager: SubagentManager,
  configs: readonly SubagentConfig[],
  work: BackgroundWork,
): AgentTool[] {
  return [
    {
      ...common,
      name: 'delegate',
      aliases: ['Task', 'Agent'],
      description: `Hands a task to a subagent and returns its answer. It has a conversation of its own and knows nothing but the task: say everything that it needs. With background, returns an id at once. With resume, the subagent of a finished delegation continues.\n\nSubagents:\n${agentCatalogue(configs)}`,
      inputSchema: {
        type: 'object',
        properties: {
          agent: { type: 'string', enum: configs.map(({ name }) => name) },
          task: { type: 'string', description: 'What to do, with everything needed for it.' },
          background: { type: 'boolean', description: 'Continue at once. Default false.' },
          resume: { type: 'string', description: 'ID of a finished delegation to resume.' },
        },
        required: ['agent', 'task'],
        additionalProperties: false,
      },
      execute: (input, context) => delegate(manager, work, input, context),
    },
    {
      ...common,
      name: 'delegation_status',
      description: 'Says how background delegations stand, and gives the answer of a finished one.',
      inputSchema: {
        type: 'object',
        properties: {
          delegation: { type: 'string', description: 'Its id; absent: all of them.' },
          wait: { type: 'boolean', description: 'Wait until it is over. Default false.' },
        },
        additionalProperties: false,
      },
      execute: (input, context) => status(work, input, context),
    },
    {
      ...common,
      name: 'delegation_send',
      description: 'Sends a message to a subagent that works in the background.',
      inputSchema: {
        type: 'object',
        properties: { delegation: { type: 'string' }, message: { type: 'string' } },
        required: ['delegation', 'message'],
        additionalProperties: false,
      },
      execute: async (input) => {
        const handle = required(work, textOf(input, 'delegation'))
        if (!(handle instanceof DelegationHandle)) return stateText(handle)
        handle.send(textOf(input, 'message'))
        return 'It reads the message before its next step.'
      },
    },
    {
      ...common,
      name: 'delegation_cancel',
      description: 'Ends a background delegation.',
      inputSchema: {
        type: 'object',
        properties: { delegation: { type: 'string' } },
        required: ['delegation'],
        additionalProperties: false,
      },
      execute: async (input) => {
        const handle = required(work, textOf(input, 'delegation'))
        if (!(handle instanceof DelegationHandle)) return stateText(handle)
        handle.cancel()
        return stateText(await handle.result())
      },
    },
  ]
}

/** What a subagent does is asked for call by call; that it is asked at all changes nothing. */
const common = { readOnly: true, needsApproval: false, origin: { kind: 'agent' } } as const

async function delegate(
  manager: SubagentManager,
  work: BackgroundWork,
  input: JsonObject,
  { signal, onEvent }: ToolContext,
): Promise<string> {
  const task = textOf(input, 'task')
  const resumed = textOf(input, 'resume')
  const background = input['background'] === true
  // A background delegation outlives the call and the run: their signal and stream are not its own.
  const options = { source: 'model', ...(background ? {} : { signal, onEvent }) } as const
  const handle =
    resumed === ''
      ? await manager.delegateAsync(textOf(input, 'agent'), task, options)
      : await manager.resume(resumed, task, options)
  if (!background) return answerText(await handle.result())
  work.watch(handle)
  return `Delegation ${handle.id} to ${handle.subagentName} has started in the background. You will get a message when it ends.`
}

async function status(
  work: BackgroundWork,
  input: JsonObject,
  { signal }: ToolContext,
): Promise<string> {
  const id = textOf(input, 'delegation')
  const wait = input['wait'] === true
  const chosen = id === '' ? work.all() : [required(work, id)]
  if (chosen.length === 0) return 'Nothing was delegated in the background.'
  const states = await Promise.all(
    chosen.map(async (item) =>
      stateText(
        wait && item instanceof DelegationHandle ? await untilAborted(item.result(), signal) : item,
      ),
    ),
  )
  return states.join('\n\n')
}

function required(work: BackgroundWork, id: string): NonNullable<ReturnType<typeof work.find>> {
  const found = work.find(id)
  if (found !== undefined) return found
  const known = work.all().map((item) => item.id)
  throw new SubagentDelegationError({
    code: 'delegation-unknown',
    message: `There is no background delegation ${id}.`,
    hint: known.length === 0 ? 'There are none.' : `There are ${known.join(', ')}.`,
  })
}

/** Characters of all descriptions together; each is shortened before one is left out. */
const catalogueLength = 8000
const shortest = 40

/** One line a subagent, for the description of the tool. */
function agentCatalogue(configs: readonly SubagentConfig[]): string {
  const share = Math.max(shortest, Math.floor(catalogueLength / Math.max(1, configs.length)))
  return configs
    .map(({ name, description }) => `- ${name}: ${shortened(oneLine(description), share)}`)
    .join('\n')
}

/**
 * What the model gets of a delegation that it waited for.
 *
 * @throws {SubagentDelegationError} when it has no answer, so that the model sees an error.
 */
function answerText(result: SubagentResult): string {
  const { id, subagentName, status, output, error = '' } = result
  if (status === 'completed') return `${output}\n\n[delegation ${id} of ${subagentName}: completed]`
  if (status === 'capped') {
    return `${output}\n\n[delegation ${id} of ${subagentName} is not done: ${error}. This is its summary; resume it to continue.]`
  }
  const partial = output === '' ? '' : ` Until then it wrote: ${output}`
  throw new SubagentDelegationError({
    code: `delegation-${status}`,
    message: `The delegation ${id} to ${subagentName} ${status === 'failed' ? 'failed' : 'was cancelled'}: ${error}${partial}`,
  })
}

/** How a background delegation stands, with its answer when it is over. */
function stateText(item: DelegationHandle | SubagentResult): string {
  const { id, subagentName, status } = item
  const head = `Delegation ${id} to ${subagentName}: ${status}`
  if (item instanceof DelegationHandle) return `${head}.`
  const error = item.error === undefined ? '' : ` (${item.error})`
  return item.output === '' ? `${head}${error}.` : `${head}${error}.\n${item.output}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`
}

function overText({ id, subagentName, status }: SubagentResult): string {
  return `The background delegation ${id} to ${subagentName} is over: ${status}. Get its answer with delegation_status.`
}
