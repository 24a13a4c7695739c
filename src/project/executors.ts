import { resolve } from 'node:path'
import { commaNames } from '#core/option-values'
import { findProgram } from '#core/find-program'
import { agentClis, type AgentCliName } from '#exec/agent-clients'
import { activateSkill } from '#library/activation'
import { discoverOptionsFrom } from '#library/discover'
import { loadSkill, skillAt } from '#library/find-skill'
import { argumentText } from '#skill/arguments'
import { matchPrompt } from '#trigger/match'
import { planInjection, renderInjection } from '#trigger/inject'
import { agentExecutor, type StepContent } from '#chain/executors'
import { ChainPlanError } from '#chain/errors'
import type { Executor } from '#chain/engine'
import type { PlannedStep } from '#chain/plan-model'
import type { RunStore } from '#chain/run-store'
import {
  acceptedEnvironment,
  type ChainProject,
  clientNamed,
  type InstructionChoice,
} from './chains.ts'

export async function executorsFor(
  project: ChainProject,
  choice: InstructionChoice,
): Promise<Executor[]> {
  if (choice.model !== undefined) return [await modelExecutorOf(project, choice, [choice.model])]
  const client = clientNamed(choice.via)
  return client ? [viaExecutor(project, client)] : []
}

export function viaExecutor(
  project: ChainProject,
  name: AgentCliName,
  store: Pick<RunStore, 'directory'> = project.store,
): Executor {
  const { context, workspace } = project
  const client = agentClis[name]
  const program = findProgram(client.program, context.runtime)
  if (program === undefined) {
    throw new ChainPlanError(
      'client-missing',
      `${client.title} is not installed: no program ${client.program} is on the search path outside of the project`,
      `To install it: ${client.install}`,
    )
  }
  return agentExecutor({
    client,
    program,
    workspace,
    store,
    runtime: context.runtime,
    environment: acceptedEnvironment(project),
    outputLimit: context.settings.run.outputLimit,
    contentOf: (step, given) => stepContent(project, step, given),
  })
}

/** An unavailable model is an error before anything runs. `names`: allowed `provider:name`. */
export async function modelExecutorOf(
  project: ChainProject,
  { baseUrl, tools }: Pick<InstructionChoice, 'baseUrl' | 'tools'>,
  names: readonly string[],
): Promise<Executor> {
  const [{ modelExecutor }, { resolveModel }] = await Promise.all([
    import('#agent/chain-executor'),
    import('#agent/resolve-model'),
  ])
  const { runtime, settings } = project.context
  const options = { baseUrl, compatibleUrl: settings.agent.baseUrl, runtime }
  const models = new Map(
    await Promise.all(
      names.map(async (name) => [name, await resolveModel(name, options)] as const),
    ),
  )
  return modelExecutor({
    async modelNamed(name) {
      const model = models.get(name)
      if (!model) throw new Error(`no executor is configured for the model ${name}`)
      return model
    },
    contentOf: (step, given) => stepContent(project, step, given),
    project: project.workspace,
    runtime,
    environment: acceptedEnvironment(project),
    builtIns: tools === undefined ? [] : commaNames(tools),
    maxTurns: settings.agent.maxTurns,
  })
}

/** What a model gets when the skill is activated, with the references that its triggers inject. */
export function stepContent(
  project: ChainProject,
  step: PlannedStep,
  given: readonly string[],
): StepContent {
  const { runtime, settings } = project.context
  const path = resolve(project.workspace, step.path)
  const info = skillAt(path, discoverOptionsFrom(runtime, settings))
  const typed = argumentText(given)
  const { content } = activateSkill({
    skill: loadSkill(info),
    source: 'code',
    arguments: typed,
    trustLevel: step.trust,
  })
  const { name, directory, fields } = info
  const skill = { name, directory, path, triggers: fields.triggers }
  const prompt = typed === '' ? `/${name}` : `/${name} ${typed}`
  const { matches } = matchPrompt(prompt, [skill])
  const { injected } = planInjection(matches, { mayInject: () => step.trust === 'trusted' })
  return {
    content,
    references: renderInjection(injected),
    wishes: { allowedTools: fields.allowedTools ?? [], model: fields.model },
  }
}
