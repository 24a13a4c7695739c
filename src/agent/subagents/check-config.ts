import { type Diagnostic, nearest, isObject } from '../../base/index.ts'
import { SubagentConfigError } from '../errors.ts'
import { permissionModes, type SubagentConfig } from './config.ts'

/** What is wrong with one field of a definition. */
export interface ConfigProblem {
  /** As {@link SubagentConfig} spells it. */
  field: string
  message: string
  hint?: string | undefined
}

/**
 * Passes a definition on when it can be used. Whether its model, tools and skills exist is looked at
 * when it is delegated to.
 *
 * @throws {SubagentConfigError} that lists everything that is wrong.
 */
export function requireConfig(config: SubagentConfig): SubagentConfig {
  const problems = checkConfig(config)
  if (problems.length === 0) return config
  const named = typeof config.name === 'string' && config.name !== '' ? ` ${config.name}` : ''
  throw new SubagentConfigError({
    code: 'subagent-config',
    message: `The subagent${named} cannot be used: ${problems.map(({ message }) => message).join('; ')}.`,
    hint: problems.flatMap(({ hint }) => hint ?? []).join(' ') || undefined,
    diagnostics: problems.map(({ field, message, hint }): Diagnostic => ({
      code: `subagent-${kebab(field)}`,
      severity: 'error',
      message,
      path: field,
      hint,
    })),
  })
}

/** Everything that is wrong with a definition; values of a wrong type too, for callers without types. */
export function checkConfig(config: SubagentConfig): ConfigProblem[] {
  const values: Readonly<Record<string, unknown>> = { ...config }
  return [
    ...unknownFields(values),
    ...required(values, 'name'),
    ...nameForm(values['name']),
    ...required(values, 'description'),
    ...rules.flatMap(({ field, wanted, accepts }) => {
      const value = values[field]
      if (value === undefined || value === null || accepts(value)) return []
      return [{ field, message: `\`${field}\` must be ${wanted}` }]
    }),
  ]
}

/** Letters, digits, `-`, `_` and `.`: usable in a command line, an enum for a model, a file name. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u
const longestName = 64

function nameForm(name: unknown): ConfigProblem[] {
  if (typeof name !== 'string' || name.trim() === '') return []
  if (name.length <= longestName && namePattern.test(name)) return []
  const hint = 'Use up to 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit.'
  return [{ field: 'name', message: `\`${name.slice(0, 80)}\` is no name for a subagent`, hint }]
}

function required(values: Readonly<Record<string, unknown>>, field: string): ConfigProblem[] {
  const value = values[field]
  if (value === undefined || value === null || value === '') {
    return [{ field, message: `\`${field}\` is missing` }]
  }
  if (typeof value === 'string') {
    return value.trim() === '' ? [{ field, message: `\`${field}\` is empty` }] : []
  }
  return [{ field, message: `\`${field}\` must be a text` }]
}

interface FieldRule {
  field: string
  wanted: string
  accepts: (value: unknown) => boolean
}

const rules: readonly FieldRule[] = [
  {
    field: 'model',
    wanted: 'a name such as `provider:name`, or a model object',
    accepts: (value) => isText(value) || isObject(value),
  },
  {
    field: 'tools',
    wanted: 'a list of names of tools, or of tools',
    accepts: (value) => Array.isArray(value) && value.every((item) => isText(item) || isTool(item)),
  },
  { field: 'disallowedTools', wanted: 'a list of names of tools', accepts: isTexts },
  {
    field: 'systemPrompt',
    wanted: 'a text or { template, variables }',
    accepts: (value) =>
      typeof value === 'string' || (isObject(value) && typeof value['template'] === 'string'),
  },
  { field: 'skills', wanted: 'a list of names of skills', accepts: isTexts },
  { field: 'maxTurns', wanted: 'a whole number from 1', accepts: isPositive },
  {
    field: 'permissionMode',
    wanted: `one of ${permissionModes.join(', ')}`,
    accepts: (value) => permissionModes.some((mode) => mode === value),
  },
  { field: 'outputSchema', wanted: 'a JSON Schema as an object', accepts: isObject },
  { field: 'config', wanted: 'an object', accepts: isObject },
]

const fields = ['name', 'description', ...rules.map(({ field }) => field)]

function unknownFields(values: Readonly<Record<string, unknown>>): ConfigProblem[] {
  return Object.keys(values)
    .filter((key) => !fields.includes(key))
    .map((key) => {
      const meant = nearest(key, fields)
      const hint =
        meant === undefined ? `There are ${fields.join(', ')}.` : `Did you mean ${meant}?`
      return { field: key, message: `\`${key}\` is no field of a subagent`, hint }
    })
}

function isTool(value: unknown): boolean {
  return isObject(value) && isText(value['name']) && typeof value['execute'] === 'function'
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}

function kebab(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
