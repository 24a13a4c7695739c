import { SubagentDelegationError } from '../errors.ts'
import { untilAborted } from '../loop/until-aborted.ts'
import type { AgentTool, ToolContext } from '../model.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { SubagentConfig } from './config.ts'
import type { DelegationHandle } from './delegation.ts'
import type { BackgroundWork } from './delegation-part.ts'
import { agentCatalogue, answerText, stateText } from './delegation-texts.ts'
import type { SubagentManager } from './manager.ts'

/** The tools by which a model hands tasks on. Never for a subagent. */
export function delegationTools(
  manager: SubagentManager,
  configs: readonly SubagentConfig[],
  work: BackgroundWork,
): AgentTool[] {
  return [
    {
      ...common,
      name: 'delegate',
      aliases: ['Task', 'Agent'],
      description: `Hands a task to a subagent and returns its answer. It has a conversation of its own and knows nothing but the task: say everything that it needs. With background, returns an id at once. With resume, the subagent of a finished delegation goes on.\n\nSubagents:\n${agentCatalogue(configs)}`,
      inputSchema: {
        type: 'object',
        properties: {
          agent: { type: 'string', enum: configs.map(({ name }) => name) },
          task: { type: 'string', description: 'What to do, with everything needed for it.' },
          background: { type: 'boolean', description: 'Go on at once. Default false.' },
          resume: { type: 'string', description: 'Id of a finished delegation to go on with.' },
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
        if (!('send' in handle)) return stateText(handle)
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
        if (!('cancel' in handle)) return stateText(handle)
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
  const handle: DelegationHandle =
    resumed === ''
      ? await manager.delegateAsync(textOf(input, 'agent'), task, options)
      : await manager.resume(resumed, task, options)
  if (!background) return answerText(await handle.result())
  work.watch(handle)
  return `Delegation ${handle.id} to ${handle.subagentName} has begun in the background. You will be told when it is over.`
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
      stateText(wait && 'cancel' in item ? await untilAborted(item.result(), signal) : item),
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

function textOf(input: JsonObject, key: string): string {
  const value = input[key]
  return typeof value === 'string' ? value : ''
}
