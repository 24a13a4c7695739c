import { messageOf, sha256 } from '../base/index.ts'
import {
  type Executor,
  type PlannedTask,
  type StepAnswer,
  type StepContent,
  type StepRequest,
} from '../chain/index.ts'
import { agentPrompt, failedOutput } from '../exec/index.ts'
import { requireBuiltIns } from './hands/hands.ts'
import type { AgentEvent, CallSettings } from './model.ts'
import type { ModelObject } from './models/resolve-model.ts'
import { openSession } from './session.ts'
import { reportSchema, stepOutput } from './step-report.ts'
import { type StepWorld, stepTools } from './step-tools.ts'
import { createUsageLedger } from './usage/ledger.ts'

export interface ModelExecutorOptions {
  /** The model that a plan names; what it throws makes the step fail. */
  modelNamed(name: string): Promise<ModelObject>
  /** Reads the skill of a step, whose digest was just compared with the plan's. */
  contentOf(step: PlannedTask, arguments_: readonly string[]): StepContent
  /** Where the model's tools work: the scripts of the skill, and the built-in ones. */
  world: StepWorld
  /** Default 50. */
  maxTurns?: number | undefined
  callSettings?: CallSettings | undefined
}

/**
 * Lets a model carry out the steps that have no script: everything it has to know is in the prompt,
 * and its report has a schema. What its calls used is among the metrics of the step, however it ends.
 *
 * @throws {AgentUsageError} for a built-in tool that there is not.
 */
export function modelExecutor(options: ModelExecutorOptions): Executor {
  requireBuiltIns(options.world.builtIns ?? [])
  return {
    kind: 'model',
    async execute(request) {
      const { step } = request.call
      const content = options.contentOf(step, request.arguments)
      const prompt = agentPrompt({
        content: content.content,
        references: content.references,
        step: step.step,
        state: JSON.stringify(request.call.state),
        report: 'schema',
      })
      const promptDigest = sha256(prompt)
      try {
        return { ...(await ask(prompt, content, request, options)), promptDigest }
      } catch (error) {
        return {
          kind: 'output',
          output: failedOutput('model-failed', messageOf(error)),
          promptDigest,
        }
      }
    },
  }
}

async function ask(
  prompt: string,
  content: StepContent,
  { call, signal, onOutput }: StepRequest,
  options: ModelExecutorOptions,
): Promise<Extract<StepAnswer, { kind: 'output' }>> {
  const { step } = call
  const model = await options.modelNamed(step.model ?? '')
  const usage = createUsageLedger()
  const session = openSession({
    agent: step.step,
    model: () => model,
    parts: [await stepTools(step, content, options.world)],
    maxTurns: options.maxTurns,
    usage,
    callSettings: options.callSettings,
  })
  const log: string[] = []
  const onEvent = (event: AgentEvent): void => {
    const line = logLine(event)
    if (line === undefined) return
    log.push(line)
    onOutput?.(Buffer.from(line), 'stdout')
  }
  try {
    const outcome = await session.run(prompt, { outputSchema: reportSchema, signal, onEvent })
    return {
      kind: 'output',
      output: stepOutput(outcome, usage.report().total),
      log: log.join('').slice(-longestLog),
    }
  } finally {
    await session.close()
  }
}

/** Characters of the end of a step's log that the journal keeps. */
const longestLog = 4000

function logLine(event: AgentEvent): string | undefined {
  if (event.type === 'text') return `${event.text}\n`
  if (event.type === 'tool-call') return `${event.tool} ${JSON.stringify(event.input)}\n`
  if (event.type === 'tool-result' && event.isError) return `${JSON.stringify(event.output)}\n`
  return undefined
}
