import { dirname } from 'node:path'
import { makePrivateDirectory, reasonOf, type Runtime, sha256 } from '../base/index.ts'
import {
  type AgentCli,
  agentPrompt,
  type AgentWishes,
  childEnvironment,
  networkVariables,
  runAgent,
} from '../exec/index.ts'
import type { Executor, StepRequest } from './executor.ts'
import type { PlannedTask } from './plan-model.ts'
import type { RunStore } from './run-store.ts'
import { cannotPrepare, lastOutput } from './script-executor.ts'
import { runFiles, skillDirectory } from './step-files.ts'

/** What an agent is told of a skill. */
export interface StepContent {
  /** Wrapped, with the arguments in place. */
  content: string
  /** The references that its triggers inject for the arguments, rendered; empty for none. */
  references: string
  wishes: AgentWishes
}

export interface AgentExecutorOptions {
  client: AgentCli
  /** Where its program lies. */
  program: string
  workspace: string
  store: Pick<RunStore, 'directory'>
  runtime: Pick<Runtime, 'env' | 'platform'>
  /** Further variables to pass on, from `run.environment`. */
  environment: readonly string[]
  outputLimit: number
  /** Reads the skill of a step, whose digest was just compared with the plan's. */
  contentOf(step: PlannedTask, arguments_: readonly string[]): StepContent
}

/**
 * Lets an agent's command line carry out the steps that have no script: everything it has to know is
 * in the prompt, and the output block of its answer is its report.
 */
export function agentExecutor(options: AgentExecutorOptions): Executor {
  return {
    kind: 'agent',
    async execute(request) {
      const { step, state } = request.call
      const { content, references, wishes } = options.contentOf(step, request.arguments)
      const prompt = agentPrompt({
        content,
        references,
        step: step.step,
        state: JSON.stringify(state),
      })
      const { output, stdout, stderr } = await runAgent({
        client: options.client,
        program: options.program,
        wishes,
        prompt,
        cwd: options.workspace,
        environment: environmentOf(request, options),
        outputLimit: options.outputLimit,
        signal: request.signal,
        onOutput: request.onOutput,
      })
      const log = lastOutput(stdout, stderr)
      return { kind: 'output', output, log, promptDigest: sha256(prompt) }
    },
  }
}

function environmentOf(
  { call, runId, idempotencyKey }: StepRequest,
  options: AgentExecutorOptions,
): Record<string, string> {
  const { client, runtime } = options
  const own = Object.keys(runtime.env).filter((name) =>
    client.variables.some((beginning) => name.startsWith(beginning)),
  )
  const names = [...own, ...networkVariables, ...options.environment]
  const { scratch } = runFiles(options.store.directory, runId)
  try {
    makePrivateDirectory(dirname(scratch))
    makePrivateDirectory(scratch)
  } catch (error) {
    const reason = reasonOf(error)
    throw cannotPrepare({ call }, `${scratch} cannot be made: ${reason}`)
  }
  return childEnvironment(runtime, names, {
    NO_COLOR: '1',
    TERM: 'dumb',
    SKILLRAIL_SKILL_DIR: skillDirectory(options.workspace, call.step),
    SKILLRAIL_RUN_ID: runId,
    SKILLRAIL_STEP: call.step.step,
    SKILLRAIL_ATTEMPT: String(call.attempt),
    SKILLRAIL_IDEMPOTENCY_KEY: idempotencyKey,
    SKILLRAIL_SCRATCH: scratch,
  })
}
