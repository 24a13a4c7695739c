import { option, type OptionSpecs } from '../../core/command.ts'
import { contradiction, pointless, wrongUse } from '../../core/errors.ts'
import { commaNames } from '../../core/option-values.ts'
import { agentClis, type AgentCliName, isAgentCli } from '../../exec/agent-clients.ts'
import type { InstructionExecutor } from '../plan.ts'

export interface InstructionChoice {
  via?: string | undefined
  model?: string | undefined
  baseUrl?: string | undefined
  /** Names of the built-in tools that the model gets, separated by commas. */
  tools?: string | undefined
}

export interface PlanChanges extends InstructionChoice {
  set: readonly string[]
  from?: string | undefined
  only?: string | undefined
}

/** What decides about the steps of a plan. */
export const instructionOptions = {
  set: option.list('--set <key=value>', 'change the policy (repeatable)'),
  via: option.text(
    '--via <client>',
    'claude, codex, gemini, opencode, copilot or qwen for steps without a script',
  ),
  model: option.text('--model <provider:name>', 'a model for steps without a script'),
  tools: option.text(
    '--tools <names>',
    'built-in tools for the model: read,list,search,write,edit,shell or all',
  ),
  from: option.text('--from <step>', 'skip the steps before this one'),
  only: option.text('--only <step>', 'skip every other step'),
} as const satisfies OptionSpecs

/** The changes to a plan that the options of a command make. */
export async function askedChanges(
  options: PlanChanges & { engine?: string | undefined },
): Promise<PlanChanges> {
  const { set, from, only, via, model, engine, tools, baseUrl } = options
  if (from !== undefined && only !== undefined) {
    throw contradiction('--from', '--only', 'Run one step, or all from one on; say which.')
  }
  if (via !== undefined && model !== undefined) {
    const hint = 'A step is carried out by an agent client or by a model; say which.'
    throw contradiction('--via', '--model', hint)
  }
  refuseWithoutModel(model !== undefined, options, 'Add --model provider:name.')
  if (engine === 'restate' && baseUrl !== undefined) {
    const hint = 'The workers ask the model: start them with --base-url.'
    throw contradiction('--engine restate', '--base-url', hint)
  }
  const names = tools === undefined ? undefined : commaNames(tools)
  if (names !== undefined)
    (await import('../../agent/built-in-tools/built-in-tools.ts')).requireBuiltIns(names)
  return { set, from, only, via, model, baseUrl, tools }
}

/** @throws {UsageError} for options about models where there is none. */
export function refuseWithoutModel(
  hasModel: boolean,
  { tools, baseUrl }: Pick<InstructionChoice, 'tools' | 'baseUrl'>,
  hint: string,
): void {
  if (hasModel) return
  if (tools !== undefined) throw pointless('--tools', '--model', hint)
  if (baseUrl !== undefined) throw pointless('--base-url', '--model', hint)
}

export function instructionsOf({
  via,
  model,
  tools,
}: InstructionChoice): InstructionExecutor | undefined {
  if (model === undefined) {
    const client = clientNamed(via)
    if (client === undefined) return undefined
    return { kind: 'agent', client, honours: agentClis[client].honours }
  }
  if (/^[^:]+:./.test(model)) {
    return { kind: 'model', model, honours: tools === undefined ? [] : ['allowed-tools'] }
  }
  const hint = 'Write it as provider:name, such as anthropic:claude-sonnet-4-5 or ollama:qwen3:8b.'
  throw wrongUse(`--model ${model}: the provider is missing`, hint)
}

export function clientNamed(via: string | undefined): AgentCliName | undefined {
  if (via === undefined || isAgentCli(via)) return via
  const hint = `Known are ${Object.keys(agentClis).join(', ')}.`
  throw wrongUse(`--via ${via}: this is not a known agent client`, hint)
}
