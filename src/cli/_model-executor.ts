import { modelExecutor, resolveModel } from '../agent/index.ts'
import type { Executor } from '../chain/index.ts'
import { commaNames } from '../base/option-values.ts'
import type { ChainProject } from './_chain-project.ts'
import type { InstructionChoice } from './_instructions.ts'
import { acceptedEnvironment } from './_run-settings.ts'
import { stepContent } from './_step-content.ts'

/**
 * The executor of `--model`; models that cannot be had are found out before anything runs.
 *
 * @param names of the models that steps may be given to, as `provider:name`.
 * @throws {ModelNotFoundError} {AgentUsageError}
 */
export async function modelExecutorOf(
  project: ChainProject,
  { baseUrl, tools }: Pick<InstructionChoice, 'baseUrl' | 'tools'>,
  names: readonly string[],
): Promise<Executor> {
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
      if (model === undefined) throw new Error(`nothing here was told to ask the model ${name}`)
      return model
    },
    contentOf: (step, given) => stepContent(project, step, given),
    project: project.workspace,
    runtime,
    environment: acceptedEnvironment(project),
    builtIns: commaNames(tools) ?? [],
    maxTurns: settings.agent.maxTurns,
  })
}
