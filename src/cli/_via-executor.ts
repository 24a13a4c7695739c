import { agentExecutor, ChainPlanError, type Executor, type RunStore } from '../chain/index.ts'
import { agentClis, type AgentCliName } from '../exec/index.ts'
import type { ChainProject } from './_chain-project.ts'
import { findProgram } from '../exec/find-program.ts'
import { acceptedEnvironment } from './_run-settings.ts'
import { stepContent } from './_step-content.ts'

/**
 * The executor of `--via`.
 * @throws {ChainPlanError} when the client is not installed.
 */
export function viaExecutor(
  project: ChainProject,
  name: AgentCliName,
  store: Pick<RunStore, 'directory'> = project.store,
): Executor {
  const { context, workspace } = project
  const client = agentClis[name]
  const program = findProgram(client.program, context.runtime)
  if (program === undefined) {
    throw new ChainPlanError({
      code: 'client-missing',
      message: `${client.title} is not installed: there is no program ${client.program} on the search path`,
      hint: `To install it: ${client.install}`,
    })
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
