import { isObject } from '../base/index.ts'
import { failedOutput, type StepOutput } from '../exec/index.ts'
import type { JsonValue } from '../skill/index.ts'
import type { JsonObject } from '../tools/index.ts'
import type { LoopOutcome, TokenUsage } from './model.ts'

/**
 * The output block of a chain's step as a schema. Metrics are a list because providers that enforce
 * a schema allow no free keys.
 */
export const reportSchema: JsonObject = {
  type: 'object',
  properties: {
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
  },
  required: ['status', 'result', 'errors', 'metrics'],
  additionalProperties: false,
}

/** What a step gave, from how its model's run ended; the usage is always among its metrics. */
export function stepOutput(outcome: LoopOutcome, usage: TokenUsage): StepOutput {
  const { metrics, ...output } = ended(outcome)
  return { ...output, metrics: { ...metrics, ...usageMetrics(usage) }, evidence: 'self-reported' }
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

function usageMetrics({ inputTokens, outputTokens, requests }: TokenUsage): Record<string, number> {
  return { input_tokens: inputTokens, output_tokens: outputTokens, model_calls: requests }
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
