import { z } from 'zod'
import { isObject, type JsonObject } from '#core/json'
import { type OptionOwner, checkOptions, optionsProblem } from '#core/api-options'
import { didYouMean } from '#core/text'
import { usageError } from './errors.ts'

export interface OptionProblem {
  field: string
  problem: string
  hint?: string | undefined
}

/** Returns all problems of options. The message of a schema's rule says what its value must be. */
export function problemsIn(schema: z.ZodObject, options: object, owner: string): OptionProblem[] {
  const fields = Object.keys(schema.shape)
  return (schema.safeParse(options).error?.issues ?? []).flatMap((issue): OptionProblem[] => {
    const path = issue.path.filter((part) => typeof part === 'string')
    if (issue.code !== 'unrecognized_keys') {
      return [{ field: path.join('.'), problem: `must be ${issue.message}` }]
    }
    return issue.keys.map((key) => {
      const hint = didYouMean(key, fields) || `There are ${fields.join(', ')}.`
      return { field: [...path, key].join('.'), problem: `is not a field of ${owner}`, hint }
    })
  })
}

/** @throws {AgentUsageError} that names every option which is unknown or out of range. */
export function requireOptions(schema: z.ZodObject, options: object, owner: string): void {
  const problems = problemsIn(schema, options, owner)
  if (problems.length === 0) return
  const list = problems.map(({ field, problem }) => `\`${field}\` ${problem}`).join('; ')
  const hint = problems.flatMap((one) => one.hint ?? []).join(' ') || undefined
  throw usageError('agent-options', `The options of ${owner} cannot be used: ${list}.`, hint)
}

/** Checks like {@link checkOptions}. @throws {AgentUsageError} for an invalid option. */
export function checkAgentOptions<Options extends object>(
  options: Options,
  owner: OptionOwner,
): Options {
  const problem = optionsProblem(options, owner)
  if (problem) throw usageError('agent-options', problem.message, problem.hint)
  return checkOptions(options, owner)
}

function wholeNumber(least: number, most: number): z.ZodOptional<z.ZodNumber> {
  const form = `a whole number from ${least} to ${most}`
  return z.number(form).int(form).min(least, form).max(most, form).optional()
}

function fraction(least: number, most: number): z.ZodOptional<z.ZodNumber> {
  const form = `a number from ${least} to ${most}`
  return z.number(form).min(least, form).max(most, form).optional()
}

export const limits = {
  maxTurns: wholeNumber(1, 10_000),
  /** The longest time of a timer. */
  timeoutMs: wholeNumber(1, 2 ** 31 - 1),
  maxTokens: wholeNumber(1, 1_000_000_000_000),
  concurrency: wholeNumber(1, 1000),
  contextTokens: wholeNumber(1, 1_000_000_000),
}

export const runLimits = z.looseObject({
  maxTurns: limits.maxTurns,
  timeoutMs: limits.timeoutMs,
  maxTokens: limits.maxTokens,
})

export const callSettings = z
  .strictObject(
    {
      maxOutputTokens: wholeNumber(1, 1_000_000_000),
      temperature: fraction(0, 100),
      topP: fraction(0, 1),
      seed: wholeNumber(-(2 ** 53 - 1), 2 ** 53 - 1),
      maxRetries: wholeNumber(0, 100),
      headers: z.record(z.string(), z.string(), 'an object of texts').optional(),
      providerOptions: z
        .custom<Readonly<Record<string, JsonObject>>>(isObject, 'an object')
        .optional(),
    },
    'an object',
  )
  .optional()

/** Settings of model calls, for the provider. */
export interface CallSettings {
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  topP?: number | undefined
  seed?: number | undefined
  /** Further attempts after HTTP 408, 409, 429, 5xx or a lost connection; default 2. */
  maxRetries?: number | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Options of single providers, by the name of the provider. */
  providerOptions?: Readonly<Record<string, JsonObject>> | undefined
}
