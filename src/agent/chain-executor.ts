import { jsonText } from '#core/text'
import { z } from 'zod'
import { skillDirectory, type StepContent } from '#chain/executors'
import type { Executor, StepAnswer, StepRequest } from '#chain/engine'
import type { PlannedTask } from '#chain/plan-model'
import { messageOf } from '#core/errors'
import { sha256 } from '#core/json'
import type { Runtime } from '#core/runtime'
import { agentPrompt } from '#exec/agent-clients'
import { failedOutput, type StepOutput } from '#exec/output-protocol'
import { SkillManager } from '#library/manager'
import { createPermit } from './approval/permit.ts'
import { createBuiltInTools, requireBuiltIns } from './built-in-tools/built-in-tools.ts'
import { AgentSession } from './session.ts'
import type { SessionPart } from './session-contract.ts'
import { scriptTools } from './skills/active-skills.ts'
import { jsonSchemaOf } from './tool.ts'
import type { AgentEvent, LoopOutcome, ModelObject } from './types.ts'
import { UsageLedger } from './usage.ts'

interface ModelExecutorOptions {
  modelNamed(name: string): Promise<ModelObject>
  /** Reads the skill of a step, whose digest was just compared with the plan's. */
  contentOf(step: PlannedTask, arguments_: readonly string[]): StepContent
  project: string
  runtime: Runtime
  environment: readonly string[]
  /** Names of the built-in tools that the model gets besides the scripts of the skill. */
  builtIns: readonly string[]
  maxTurns?: number | undefined
}

/** Lets a model carry out steps without a script. The metrics of a step include the usage. */
export function modelExecutor(options: ModelExecutorOptions): Executor {
  requireBuiltIns(options.builtIns)
  return {
    kind: 'model',
    async execute(request) {
      const { step, state } = request.call
      const content = options.contentOf(step, request.arguments)
      const { feedback } = state
      const facts = { step: step.step, state: jsonText(state), feedback, report: 'schema' } as const
      const prompt = agentPrompt({ ...content, ...facts })
      const promptDigest = sha256(prompt)
      try {
        return { ...(await ask(prompt, content, request, options)), promptDigest }
      } catch (error) {
        const output = failedOutput('model-failed', messageOf(error))
        return { kind: 'output', output, promptDigest }
      }
    },
  }
}

const longestLog = 4000

async function ask(
  prompt: string,
  content: StepContent,
  { call: { step }, signal, onOutput }: StepRequest,
  options: ModelExecutorOptions,
): Promise<Extract<StepAnswer, { kind: 'output' }>> {
  const model = await options.modelNamed(step.model ?? '')
  const ledger = new UsageLedger()
  const session = new AgentSession({
    agent: step.step,
    model: () => model,
    parts: [await stepTools(step, content, options)],
    maxTurns: options.maxTurns,
    usage: ledger,
  })
  let log = ''
  const onEvent = (event: AgentEvent) => {
    const line = logLine(event)
    log = `${log}${line}`.slice(-longestLog)
    if (line !== '') onOutput?.(Buffer.from(line), 'stdout')
  }
  try {
    const outputSchema = jsonSchemaOf('the report', reportSchema)
    const output = stepOutput(await session.run(prompt, { outputSchema, signal, onEvent }))
    const usage = ledger.report().total
    const tokens = { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens }
    const metrics = { ...output.metrics, ...tokens, model_calls: usage.requests }
    return { kind: 'output', output: { ...output, metrics, evidence: 'self-reported' }, log }
  } finally {
    await session.close()
  }
}

function logLine(event: AgentEvent) {
  if (event.type === 'text') return `${event.text}\n`
  if (event.type === 'tool-call') return `${event.tool} ${JSON.stringify(event.input)}\n`
  if (event.type === 'tool-result' && event.isError) return `${JSON.stringify(event.output)}\n`
  return ''
}

/** Offers the scripts of the skill and built-in tools. Calls that need an approval are refused. */
async function stepTools(
  step: PlannedTask,
  { wishes }: StepContent,
  options: ModelExecutorOptions,
): Promise<SessionPart> {
  const { builtIns, project, runtime } = options
  const directory = skillDirectory(project, step)
  // The trust of the skill was checked when the chain was planned, and again before this step.
  const manager = new SkillManager({ runtime, autoDiscover: false, trustedPaths: [directory] })
  await manager.register(directory)
  const skill = await manager.get(step.skill)
  const scripts = skill ? scriptTools(skill, { ...options, manager }) : []
  const tools = [
    ...scripts.map((tool) => ({ ...tool, needsApproval: false })),
    ...createBuiltInTools(builtIns, { ...options, readable: () => [directory] }),
  ]
  return {
    tools: () => tools,
    permit: createPermit({
      agent: step.step,
      platform: runtime.platform,
      rules: () => ({ preApproved: wishes.allowedTools, narrowed: [] }),
    }),
  }
}

/** Metrics are a list, because providers that enforce a schema refuse objects with any keys. */
const reportSchema = z.strictObject({
  status: z.enum(['success', 'failure', 'critical']),
  result: z.string(),
  errors: z.array(z.strictObject({ code: z.string(), message: z.string() })),
  metrics: z.array(z.strictObject({ name: z.string(), value: z.union([z.number(), z.string()]) })),
})

function stepOutput({ status, output, error = '', text, failure }: LoopOutcome): StepOutput {
  switch (status) {
    case 'completed': {
      const { metrics, errors, ...report } = reportSchema.parse(output)
      return {
        ...report,
        errors: errors.map(({ code, message }) => ({ code: code || 'reported', message })),
        metrics: Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
        evidence: 'self-reported',
      }
    }
    case 'cancelled':
      return failedOutput('aborted', 'the model was stopped before it finished')
    case 'capped': {
      const turnsExceeded = failedOutput(
        'turns-exceeded',
        `the model was not done in its turns: ${error}`,
      )
      return text.trim() === '' ? turnsExceeded : { ...turnsExceeded, result: text }
    }
    case 'waiting':
    case 'failed':
      return failedOutput(failure === 'answer' ? 'output-missing' : 'model-failed', error)
  }
}
