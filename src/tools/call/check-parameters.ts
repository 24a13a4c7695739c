import { nearest } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { objectOf } from './_json.ts'
import { callToComplete } from './call-to-complete.ts'
import { InvalidParametersError } from './errors.ts'
import type { SchemaChecker, SchemaProblem } from './schema-checker.ts'
import { propertyOf, typeText } from './type-text.ts'
import { unknownNames, unknownParameters } from './unknown-parameters.ts'

/**
 * Checks the parameters by the tool's own schema.
 *
 * @returns why they could not be checked, or undefined
 * @throws {InvalidParametersError} with everything that is missing or wrong
 */
export async function checkParameters(
  tool: ToolDefinition,
  params: JsonObject,
  schemas: SchemaChecker,
): Promise<string | undefined> {
  const verdict = await schemas.check(tool.inputSchema, params)
  if (!verdict.checked) return `the parameters of ${tool.id} were not checked: ${verdict.reason}`
  const { problems } = verdict
  if (problems.length === 0) return undefined
  const advice = adviceFor(tool, params, problems)
  throw new InvalidParametersError(problemsText(tool, problems), problems, advice)
}

/** The call to complete, where something is missing; a misspelt name gives its value to the right one. */
function adviceFor(
  tool: ToolDefinition,
  params: JsonObject,
  problems: readonly SchemaProblem[],
): string | undefined {
  const pathsOf = (kind: SchemaProblem['kind']): (readonly string[])[] =>
    problems.flatMap((problem) => (problem.kind === kind ? [problem.path] : []))
  const missing = pathsOf('missing')
  if (missing.length === 0) return undefined
  const unknown = new Set(unknownNames(tool, params))
  const lacking = missing.flatMap(([name, ...rest]) =>
    name === undefined || rest.length > 0 ? [] : name,
  )
  const known = new Map<string, JsonValue>()
  for (const [name, value] of Object.entries(params)) {
    const right = unknown.has(name) ? nearest(name, lacking) : name
    if (right !== undefined) known.set(right, value)
  }
  const open = [
    ...missing.filter(([name = '', ...rest]) => rest.length > 0 || !known.has(name)),
    ...pathsOf('wrong').filter(({ length }) => length > 0),
  ]
  const call = `Complete it: ${callToComplete(tool, Object.fromEntries(known), open)}`
  return [...unknownParameters(tool, params), call].join('\n')
}

/**
 * What the tool's schema says against parameters that are not complete yet: `later` are the paths of
 * values that an earlier answer will give. One line for each kind of problem; none where they fit.
 */
export async function foreseenProblems(
  tool: ToolDefinition,
  params: JsonObject,
  later: readonly (readonly string[])[],
  schemas: SchemaChecker,
): Promise<string[]> {
  const verdict = await schemas.check(tool.inputSchema, params)
  if (!verdict.checked) return []
  const certain = verdict.problems.filter(
    ({ path, kind }) => kind === 'unknown' || !later.some((one) => isOnOneWay(path, one)),
  )
  return problemLines(tool, certain)
}

function isOnOneWay(a: readonly string[], b: readonly string[]): boolean {
  return a.slice(0, b.length).every((part, index) => part === b[index])
}

/** The seed's error text, with what is wrong besides what is missing. */
function problemsText(tool: ToolDefinition, problems: readonly SchemaProblem[]): string {
  const names = Object.keys(objectOf(tool.inputSchema['properties']))
  const isAtTop = problems.some(({ path, kind }) => kind === 'unknown' || path.length === 0)
  const concerned = isAtTop ? names : problems.map(({ path }) => path[0] ?? '')
  const expected = [...new Set(concerned)]
    .filter((name) => names.includes(name))
    .map((name) => `${name}: ${typeText(propertyOf(tool, name))}`)
  const lines = [`Error: invalid parameters for ${tool.id}`, ...problemLines(tool, problems)]
  if (expected.length > 0) lines.push(`Expected: ${expected.join(', ')}`)
  const isWrong = problems.some(({ kind }) => kind !== 'missing')
  lines.push(isWrong ? 'Next: correct the values' : 'Next: provide missing values')
  return lines.join('\n')
}

/** `Missing: …` and `Invalid: …`, as far as there is something to say. */
function problemLines(tool: ToolDefinition, problems: readonly SchemaProblem[]): string[] {
  const names = Object.keys(objectOf(tool.inputSchema['properties']))
  const missing = problems.filter(({ kind }) => kind === 'missing').map(nameOf)
  const wrong = problems.filter(({ kind }) => kind !== 'missing').map(sentence)
  return [
    ...(missing.length > 0 ? [`Missing: ${[...new Set(missing)].join(', ')}`] : []),
    ...(wrong.length > 0 ? [`Invalid: ${[...new Set(wrong)].slice(0, 10).join('; ')}`] : []),
  ]

  function sentence({ path, kind, message }: SchemaProblem): string {
    const name = path.length === 0 ? 'the whole' : path.join('.')
    const meant = kind === 'unknown' && path.length === 1 ? nearest(name, names) : undefined
    return `${name} ${message}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
  }
}

function nameOf({ path }: SchemaProblem): string {
  return path.join('.')
}
