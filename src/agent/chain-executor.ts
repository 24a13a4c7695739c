import { isObject, sha256 } from '../core/json.ts'
import { messageOf } from '../core/errors.ts'
import type { Runtime } from '../core/runtime.ts'
import type { Executor, StepAnswer, StepRequest } from '../chain/executor.ts'
import type { PlannedTask } from '../chain/plan-model.ts'
import { skillDirectory } from '../chain/script-executor.ts'
import type { StepContent } from '../chain/agent-executor.ts'
import { agentPrompt } from '../exec/agent-clients.ts'
import { failedOutput, type StepOutput } from '../exec/output-protocol.ts'
import { SkillManager } from '../library/manager.ts'
import type { JsonValue } from '../skill/model.ts'
import type { JsonObject } from '../tools/model.ts'
import { createPermit } from './approval/permit.ts'
import { createBuiltInTools, requireBuiltIns } from './built-in-tools/built-in-tools.ts'
import type { ModelObject } from './types.ts'
import { AgentSession, type SessionPart } from './session.ts'
import { scriptTools } from './skills/script-tools.ts'
import type { AgentEvent, AgentTool, LoopOutcome, TokenUsage } from './types.ts'
import { UsageLedger } from './usage.ts'

interface ModelExecutorOptions {
  /** The model that a plan names; what it throws makes the step fail. */
  modelNamed(name: string): Promise<ModelObject>
  /** Reads the skill of a step, whose digest was just compared with the plan's. */
  contentOf(step: PlannedTask, arguments_: readonly string[]): StepContent
  /** The directory that the model's tools work in. */
  project: string
  runtime: Runtime
  /** Names of environment variables that tools get besides the few that programs need. */
  environment: readonly string[]
  /** Names of the built-in tools that the model gets besides the scripts of the skill. */
  builtIns: readonly string[]
  /** Default 50. */
  maxTurns?: number | undefined
}

/**
 * Lets a model carry out the steps that have no script: everything it has to know is in the prompt,
 * and its report has a schema. What its calls used is among the metrics of the step, however it ends.
 *
 * @throws {AgentUsageError} for a built-in tool that there is not.
 */
export function modelExecutor(options: ModelExecutorOptions): Executor {
  requireBuiltIns(options.builtIns)
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
  const usage = new UsageLedger()
  const session = new AgentSession({
    agent: step.step,
    model: () => model,
    parts: [await stepTools(step, content, options)],
    maxTurns: options.maxTurns,
    usage,
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

/**
 * The tools of a step: the scripts of its skill, which is trusted, and the built-in ones. Nobody can
 * be asked while a chain runs, so of the built-in ones it may use what changes nothing and what
 * `allowed-tools` approves.
 */
async function stepTools(
  step: PlannedTask,
  { wishes }: StepContent,
  options: ModelExecutorOptions,
): Promise<SessionPart> {
  const { builtIns, project, runtime } = options
  const directory = skillDirectory(project, step)
  const tools = [
    ...(await ownScripts(step, directory, options)),
    ...createBuiltInTools(builtIns, { ...options, readable: () => [directory] }),
  ]
  return {
    tools: () => tools,
    permit: createPermit({
      agent: step.step,
      platform: runtime.platform,
      rules: { preApproved: () => wishes.allowedTools, narrowed: () => [] },
    }),
  }
}

async function ownScripts(
  step: PlannedTask,
  directory: string,
  { runtime, project, environment }: ModelExecutorOptions,
): Promise<AgentTool[]> {
  // Its trust was checked when the chain was planned, and again right before this step.
  const manager = new SkillManager({ runtime, autoDiscover: false, trustedPaths: [directory] })
  await manager.register(directory)
  const skill = await manager.get(step.skill)
  if (skill === undefined) return []
  const tools = scriptTools(skill, { runtime, project, environment, manager })
  return tools.map((tool) => ({ ...tool, needsApproval: false }))
}

/**
 * The output block of a chain's step as a schema. Metrics are a list because providers that enforce
 * a schema allow no free keys.
 */
const reportSchema: JsonObject = object({
  status: { type: 'string', enum: ['success', 'failure', 'critical'] },
  result: { type: 'string' },
  errors: {
    type: 'array',
    items: object({ code: { type: 'string' }, message: { type: 'string' } }),
  },
  metrics: {
    type: 'array',
    items: object({ name: { type: 'string' }, value: { type: ['number', 'string'] } }),
  },
})

/** The output of a step, from how its model's run ended; the usage is always among its metrics. */
function stepOutput(outcome: LoopOutcome, usage: TokenUsage): StepOutput {
  const output = ended(outcome)
  const used = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    model_calls: usage.requests,
  }
  return { ...output, metrics: { ...output.metrics, ...used }, evidence: 'self-reported' }
}

function ended({ status, output, error = '', text, failure }: LoopOutcome): StepOutput {
  switch (status) {
    case 'completed':
      return reported(output)
    case 'cancelled':
      return failedOutput('aborted', 'the model was ended before it was done')
    case 'capped': {
      const failed = failedOutput('turns-exceeded', `the model was not done in its turns: ${error}`)
      return text.trim() === '' ? failed : { ...failed, result: text }
    }
    case 'failed':
      return failedOutput(failure === 'answer' ? 'output-missing' : 'model-failed', error)
  }
}

/** The loop has checked it by the schema. */
function reported(value: JsonValue | undefined): StepOutput {
  if (!isObject<JsonValue>(value)) return failedOutput('output-missing', 'the model gave no report')
  const { status, result, errors, metrics } = value
  return {
    status: status === 'success' || status === 'critical' ? status : 'failure',
    result: text(result),
    errors: list(errors).map(({ code, message }) => ({
      code: text(code) || 'reported',
      message: text(message),
    })),
    metrics: Object.fromEntries(
      list(metrics).map(({ name, value: metric = null }) => [text(name), metric]),
    ),
    evidence: 'self-reported',
  }
}

function object(properties: JsonObject): JsonObject {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

function list(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isObject<JsonValue>(item)) : []
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
