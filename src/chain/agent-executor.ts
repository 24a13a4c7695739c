import { jsonText } from '../core/text.ts'
import { dirname } from 'node:path'
import { makePrivateDirectory } from '../core/write-files.ts'
import { reasonOf } from '../core/errors.ts'
import type { Runtime } from '../core/runtime.ts'
import { sha256 } from '../core/json.ts'
import {
  type AgentCli,
  agentPrompt,
  type AgentWishes,
  networkVariables,
  runAgent,
} from '../exec/agent-clients.ts'
import { childEnvironment } from '../exec/process.ts'
import { failedOutput } from '../exec/output-protocol.ts'
import type { Executor, StepRequest, TaskCall } from './engine.ts'
import type { PlannedTask } from './plan-model.ts'
import type { RunJournal } from './run-journal.ts'
import type { RunStore } from './run-store.ts'
import { cannotPrepare, lastOutput, runFiles, skillDirectory } from './script-executor.ts'

/**
 * Steps that an agent does while it is driven through a run: handed out, then judged by what it
 * reports. Time-outs count between the two, across processes.
 */
export function drivenExecutor(
  journal: RunJournal,
  clock: Pick<Runtime, 'now'>,
  onHandOut?: (call: TaskCall) => void,
): Executor {
  return {
    kind: 'driven',
    async execute({ call }) {
      const handed = journal.handed.get(call.key)
      const handedAt = handed === undefined ? clock.now() : Date.parse(handed)
      const report = journal.reports.get(call.key)
      const until = report === undefined ? clock.now() : Date.parse(report.at)
      const workedMs = Math.max(0, until - handedAt)
      const isLate = call.timeoutMs !== 0 && workedMs > call.timeoutMs
      if (!isLate && report === undefined) {
        onHandOut?.(call)
        return { kind: 'pending', handedAt }
      }
      const message = `no report came within ${call.timeoutMs / 1000} s`
      const late = failedOutput('timeout', message)
      const output = isLate || report === undefined ? late : report.output
      return { kind: 'output', output: { ...output, evidence: 'self-reported' }, workedMs }
    },
  }
}

export interface StepContent {
  content: string
  /** The references that its triggers inject for the arguments, rendered; empty for none. */
  references: string
  wishes: AgentWishes
}

export interface AgentExecutorOptions {
  client: AgentCli
  program: string
  workspace: string
  store: Pick<RunStore, 'directory'>
  runtime: Pick<Runtime, 'env' | 'platform'>
  environment: readonly string[]
  outputLimit: number
  /** Reads the skill of a step, whose digest was just compared with the plan's. */
  contentOf(step: PlannedTask, arguments_: readonly string[]): StepContent
}

/**
 * Lets an agent's command line execute the steps that have no script: the prompt holds everything
 * it needs, and the output block of its answer is its report.
 */
export function agentExecutor(options: AgentExecutorOptions): Executor {
  return {
    kind: 'agent',
    async execute(request) {
      const { step, state } = request.call
      const { content, references, wishes } = options.contentOf(step, request.arguments)
      const prompt = agentPrompt({ content, references, step: step.step, state: jsonText(state) })
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

export function environmentOf(
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
