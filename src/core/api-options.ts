import { UsageError } from './errors.ts'
import { isObject } from './json.ts'
import { didYouMean } from './text.ts'

/** A rule for a value that a program passes. `form` completes "must be". */
export interface ValueRule {
  form: string
  fits: (value: unknown) => boolean
  isRequired?: boolean
}

/** One rule for every option, so that a forgotten one is a type error. */
export type OptionRules<Options> = { readonly [Name in keyof Required<Options>]: ValueRule }

export const rule = {
  text: { form: 'a text', fits: (value) => typeof value === 'string' },
  texts: { form: 'a list of texts', fits: isListOf((item) => typeof item === 'string') },
  flag: { form: 'true or false', fits: (value) => typeof value === 'boolean' },
  object: { form: 'an object', fits: isObject },
  callback: { form: 'a function', fits: (value) => typeof value === 'function' },
  amount: {
    form: 'a number of at least 0',
    fits: (value) => typeof value === 'number' && value >= 0,
  },
  content: {
    form: 'a text or its bytes',
    fits: (value) => typeof value === 'string' || value instanceof Uint8Array,
  },
  anything: { form: 'anything', fits: () => true },
} as const satisfies Record<string, ValueRule>

export function required(value: ValueRule): ValueRule {
  return { ...value, isRequired: true }
}

export function oneOf(...choices: readonly string[]): ValueRule {
  return { form: choices.join(' or '), fits: (value) => choices.some((choice) => choice === value) }
}

export function listOf(form: string, fits: (item: unknown) => boolean): ValueRule {
  return { form: `a list of ${form}`, fits: isListOf(fits) }
}

function isListOf(fits: (item: unknown) => boolean): ValueRule['fits'] {
  return (value) => Array.isArray(value) && value.every(fits)
}

export interface OptionOwner<Options = object> {
  /** As in "the options of a skill manager". */
  of: string
  rules: OptionRules<Options> & Readonly<Record<string, ValueRule>>
  /** Hints for options of earlier versions: what to use instead. */
  earlierNames?: Readonly<Record<string, string>>
}

/**
 * Returns options without those that are null, which means absent.
 *
 * @throws {UsageError} with the name of every unknown, missing or wrong option.
 */
export function checkOptions<Options extends object>(
  options: Options,
  owner: OptionOwner,
): Options {
  const problem = optionsProblem(options, owner)
  if (problem) throw new UsageError({ code: 'options-invalid', ...problem })
  const present = { ...options }
  for (const [name, value] of Object.entries(present)) {
    if (value === null) Reflect.deleteProperty(present, name)
  }
  return present
}

/** Returns all problems of the options, for an error; undefined if there are none. */
export function optionsProblem(
  options: unknown,
  { of, rules, earlierNames = {} }: OptionOwner,
): { message: string; hint?: string | undefined } | undefined {
  const table = new Map<string, ValueRule>(Object.entries(rules))
  // An instance without fields, such as a SkillManager, is in the wrong position.
  const isInstance = isObject(options) && classOf(options) !== undefined
  if (!isObject(options) || (isInstance && Object.keys(options).length === 0)) {
    const hint = `The fields are ${[...table.keys()].join(', ')}.`
    return { message: `The options of ${of} must be an object, not ${kindOf(options)}.`, hint }
  }
  const hints: string[] = []
  const problems = Object.entries(options).flatMap(([name, value]): string[] => {
    const expected = table.get(name)
    if (expected) {
      const isRight = value === undefined || value === null || expected.fits(value)
      return isRight ? [] : [`\`${name}\` must be ${expected.form}, not ${kindOf(value)}`]
    }
    hints.push(
      earlierNames[name] ??
        (didYouMean(name, table.keys()) || `The options are ${[...table.keys()].join(', ')}.`),
    )
    return [`there is no option \`${name}\``]
  })
  for (const [name, { isRequired, form }] of table) {
    const isMissing = options[name] === undefined || options[name] === null
    if (isRequired === true && isMissing) problems.push(`\`${name}\` is missing: ${form}`)
  }
  if (problems.length === 0) return undefined
  const message = `The options of ${of} cannot be used: ${problems.join('; ')}.`
  return { message, hint: [...new Set(hints)].join(' ') || undefined }
}

/** Returns the class of an object; undefined for a plain object, also from another realm. */
function classOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  const constructor = isObject(prototype) ? prototype['constructor'] : undefined
  return typeof constructor !== 'function' || constructor.name === 'Object'
    ? undefined
    : constructor.name
}

/** @throws {UsageError} for an argument of a wrong kind. */
export function checkArgument(value: unknown, subject: string, expected: ValueRule): void {
  if (expected.fits(value)) return
  const message = `${subject} must be ${expected.form}, not ${kindOf(value)}.`
  throw new UsageError({ code: 'argument-invalid', message })
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return value.length > 60 ? 'a text' : JSON.stringify(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  const name = classOf(value)
  return name === undefined ? 'an object' : `an instance of ${name}`
}
