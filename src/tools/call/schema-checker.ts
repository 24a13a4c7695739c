import type * as Vm from 'node:vm'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { RegExpEngine, RegExpLike } from 'ajv/dist/types/index.js'
import { messageOf } from '#core/errors'
import { isObject, type JsonValue, type JsonObject } from '#core/json'
import { schemaPattern } from '#tools/schema/pattern'

export interface SchemaProblem {
  path: readonly string[]
  kind: 'missing' | 'unknown' | 'wrong'
  message: string
}

type SchemaVerdict =
  | {
      checked: true
      problems: readonly SchemaProblem[]
      /** Patterns of the schema that RE2 cannot read, or not for such a long text: not compared. */
      unread: readonly string[]
    }
  /** The schema itself is at fault; its server has the last word then. */
  | { checked: false; reason: string }

export interface SchemaChecker {
  check(schema: JsonObject, value: JsonValue): Promise<SchemaVerdict>
}

const maxCharacters = 1_000_000

/**
 * A checker for draft-07 and 2020-12, by `$schema` (default 2020-12, as MCP says). Nothing is fetched.
 */
export function createSchemaChecker({ limitMs = 1000 } = {}): SchemaChecker {
  const compiled = new Map<string, CompiledSchema>()
  return {
    async check(schema, value) {
      const text = JSON.stringify(schema)
      if (text.length > maxCharacters) {
        return unusable(`its schema has ${text.length} characters; ${maxCharacters} are read`)
      }
      let known = compiled.get(text)
      if (known === undefined) {
        known = await compile(schema, limitMs)
        compiled.set(text, known)
      }
      return typeof known === 'string' ? unusable(known) : judge(known, value, limitMs)
    },
  }
}

interface UsableSchema {
  validate: ValidateFunction
  unread: Set<string>
}

type CompiledSchema = UsableSchema | string

async function compile(schema: JsonObject, limitMs: number): Promise<CompiledSchema> {
  const { draft7, draft2020 } = await (libraries ??= importLibraries())
  const { $schema: dialect, ...rest } = schema
  const isDraft7 = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect)
  let reason = ''
  // A schema without a dialect, or with the wrong one, is often of the other.
  for (const draft of isDraft7 ? [draft7, draft2020] : [draft2020, draft7]) {
    const unread = new Set<string>()
    try {
      const compiling = runWithin(limitMs, () => draft(patternReader(unread)).compile(rest))
      if (!compiling.inTime) return 'its schema takes too long to compile'
      return { validate: compiling.value, unread }
    } catch (error) {
      reason ||= `its schema cannot be used: ${messageOf(error)}`
    }
  }
  return reason
}

/** Gives ajv an engine that takes linear time; what it cannot read matches, and is reported. */
function patternReader(unread: Set<string>): RegExpEngine {
  const engine = (source: string): RegExpLike => {
    const pattern = schemaPattern(source)
    const reader = {
      test(text: string) {
        const matches = pattern?.test(text)
        if (matches === undefined) unread.add(source)
        return matches ?? true
      },
      // Ajv keeps one reader for each text.
      toString: () => source,
    }
    return reader
  }
  return Object.assign(engine, { code: 'schemaPattern' })
}

function judge(
  { validate, unread }: UsableSchema,
  value: JsonValue,
  limitMs: number,
): SchemaVerdict {
  try {
    unread.clear()
    const { inTime } = runWithin(limitMs, () => validate(value))
    if (!inTime) return unusable('checking it by its schema takes too long')
    const errors = validate.errors ?? []
    const problems = errors.slice(0, maxProblems).map(problemOf)
    return { checked: true, problems, unread: [...unread] }
  } catch (error) {
    return unusable(`its schema cannot be checked: ${messageOf(error)}`)
  }
}

const maxProblems = 50

function unusable(reason: string): SchemaVerdict {
  return { checked: false, reason }
}

function problemOf({ instancePath, params, message = 'is invalid' }: ErrorObject): SchemaProblem {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const { missingProperty, additionalProperty, unevaluatedProperty, allowedValues } = params
  if (typeof missingProperty === 'string') {
    return { path: [...path, missingProperty], kind: 'missing', message: 'is missing' }
  }
  const unknown: unknown = additionalProperty ?? unevaluatedProperty
  if (typeof unknown === 'string') {
    return { path: [...path, unknown], kind: 'unknown', message: 'is not a parameter' }
  }
  if (!Array.isArray(allowedValues)) return { path, kind: 'wrong', message }
  const choices = allowedValues.slice(0, 20).map((choice) => JSON.stringify(choice))
  return { path, kind: 'wrong', message: `must be one of ${choices.join(', ')}` }
}

type Compiler = (regExp: RegExpEngine) => { compile(schema: object): ValidateFunction }

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
    draft7: (regExp) =>
      formats.default(new Ajv({ ...options, code: { regExp } }), { mode: 'fast' }),
    draft2020: (regExp) =>
      formats.default(new Ajv2020({ ...options, code: { regExp } }), { mode: 'fast' }),
  }
}

type BoundedAnswer<T> = { inTime: true; value: T } | { inTime: false }

/** The highest ratio of elapsed time to CPU time that is allowed for on a busy machine. */
const maxSlowdown = 10

/**
 * Stops synchronous work after `limitMs`, also inside a regular expression. No sandbox. If a busy machine gave the
 * work too little CPU time, it is done once more with a limit that allows for this.
 *
 * @param cpuMs CPU time of this process so far
 */
export function runWithin<T>(
  limitMs: number,
  work: () => T,
  cpuMs: () => number = processCpuMs,
): BoundedAnswer<T> {
  const start = cpuMs()
  const answer = runFor(limitMs, work)
  const slowdown = limitMs / Math.max(1, cpuMs() - start)
  if (answer.inTime || slowdown < 1.5) return answer
  return runFor(Math.round(limitMs * Math.min(slowdown, maxSlowdown)), work)
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function runFor<T>(limitMs: number, work: () => T): BoundedAnswer<T> {
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
