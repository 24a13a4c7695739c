import type * as Vm from 'node:vm'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { isObject } from '../../core/json.ts'
import { messageOf } from '../../core/errors.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../model.ts'

export interface SchemaProblem {
  path: readonly string[]
  kind: 'missing' | 'unknown' | 'wrong'
  message: string
}

type SchemaVerdict =
  | { checked: true; problems: readonly SchemaProblem[] }
  /** The schema itself is at fault; its server has the last word then. */
  | { checked: false; reason: string }

export interface SchemaChecker {
  /** `isLarge`: the value came from outside and may have any size. */
  check(schema: JsonObject, value: JsonValue, isLarge?: boolean): Promise<SchemaVerdict>
}

const mostCharacters = 1_000_000

/**
 * A checker for draft-07 and 2020-12, by `$schema` (default 2020-12, as MCP says). Nothing is
 * fetched: a `$ref` that leads out of the schema makes it unusable. Loads the schema library when
 * it is first used. Compiling and each check may take `limitMs`.
 */
export function createSchemaChecker({ limitMs = 1000 } = {}): SchemaChecker {
  const compiled = new Map<string, CompiledSchema>()
  return {
    async check(schema, value, isLarge = false) {
      const text = JSON.stringify(schema)
      if (text.length > mostCharacters) {
        return unusable(`its schema has ${text.length} characters; ${mostCharacters} are read`)
      }
      let known = compiled.get(text)
      if (known === undefined) {
        known = await compile(schema, text, limitMs)
        compiled.set(text, known)
      }
      if (!known.ok) return unusable(known.reason)
      return judge(known, value, known.plain && !isLarge ? undefined : limitMs)
    },
  }
}

type CompiledSchema =
  | { ok: true; validate: ValidateFunction; plain: boolean }
  | { ok: false; reason: string }

/**
 * Keywords whose evaluation can take more than linear time: backtracking patterns, comparing all
 * items, cyclic references.
 */
const costly =
  /"(?:pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef|\$recursiveRef|format)":/

async function compile(schema: JsonObject, text: string, limitMs: number): Promise<CompiledSchema> {
  const { draft7, draft2020 } = await (libraries ??= importLibraries())
  const { $schema: dialect, ...rest } = schema
  const isDraft7 = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect)
  let reason = ''
  // A schema without a dialect, or with the wrong one, is often of the other.
  for (const draft of isDraft7 ? [draft7, draft2020] : [draft2020, draft7]) {
    try {
      const compiling = runWithin(limitMs, () => draft().compile(rest))
      if (!compiling.inTime) return { ok: false, reason: 'its schema takes too long to compile' }
      return { ok: true, validate: compiling.value, plain: !costly.test(text) }
    } catch (error) {
      reason ||= `its schema cannot be used: ${messageOf(error)}`
    }
  }
  return { ok: false, reason }
}

function judge(
  { validate }: CompiledSchema & { ok: true },
  value: JsonValue,
  limitMs: number | undefined,
): SchemaVerdict {
  try {
    if (limitMs === undefined) validate(value)
    else if (!runWithin(limitMs, () => validate(value)).inTime)
      return unusable('checking it by its schema takes too long')
    const errors = validate.errors ?? []
    return { checked: true, problems: errors.slice(0, mostProblems).flatMap(problemOf) }
  } catch (error) {
    return unusable(`its schema cannot be checked: ${messageOf(error)}`)
  }
}

const mostProblems = 50

function unusable(reason: string): SchemaVerdict {
  return { checked: false, reason }
}

function problemOf(error: ErrorObject): SchemaProblem[] {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const { missingProperty, additionalProperty, unevaluatedProperty, allowedValues } = error.params
  if (typeof missingProperty === 'string') {
    return [{ path: [...path, missingProperty], kind: 'missing', message: 'is missing' }]
  }
  const unknown: unknown = additionalProperty ?? unevaluatedProperty
  if (typeof unknown === 'string') {
    return [{ path: [...path, unknown], kind: 'unknown', message: 'is not a parameter' }]
  }
  if (Array.isArray(allowedValues)) {
    const choices = allowedValues.slice(0, 20).map((choice) => JSON.stringify(choice))
    return [{ path, kind: 'wrong', message: `must be one of ${choices.join(', ')}` }]
  }
  return [{ path, kind: 'wrong', message: error.message ?? 'is invalid' }]
}

type Compiler = () => { compile(schema: object): ValidateFunction }

let libraries: Promise<{ draft7: Compiler; draft2020: Compiler }> | undefined

async function importLibraries(): Promise<{ draft7: Compiler; draft2020: Compiler }> {
  const [{ Ajv }, { Ajv2020 }, { default: formats }] = await Promise.all([
    import('ajv'),
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ])
  // A fresh one for every schema, so that none can refer to another. `validateSchema` would compile
  // the whole meta-schema.
  const options = {
    strict: false,
    allErrors: true,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
  } as const
  return {
    draft7: () => formats.default(new Ajv(options), { mode: 'fast' }),
    draft2020: () => formats.default(new Ajv2020(options), { mode: 'fast' }),
  }
}

type BoundedAnswer<T> = { inTime: true; value: T } | { inTime: false }

/**
 * Runs synchronous work and stops it after `limitMs`, also inside a regular expression. This is a
 * time limit, not a sandbox.
 */
export function runWithin<T>(limitMs: number, work: () => T): BoundedAnswer<T> {
  const { script, context } = (watchdog ??= createWatchdog())
  let answer: BoundedAnswer<T> = { inTime: false }
  context['work'] = (): void => {
    answer = { inTime: true, value: work() }
  }
  try {
    script.runInContext(context, { timeout: limitMs })
  } catch (error) {
    // It is an error of another context, so `instanceof` fails.
    if (!isObject(error) || error['code'] !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
  } finally {
    context['work'] = undefined
  }
  return answer
}

let watchdog: { script: Vm.Script; context: Vm.Context } | undefined

function createWatchdog(): NonNullable<typeof watchdog> {
  const vm = process.getBuiltinModule('node:vm')
  return { script: new vm.Script('work()'), context: vm.createContext({ work: undefined }) }
}
