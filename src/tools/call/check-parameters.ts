import { nearest } from '../../base/index.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { isList, objectOf } from './_json.ts'
import { InvalidParametersError } from './errors.ts'
import type { SchemaChecker, SchemaProblem } from './schema-checker.ts'

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
  if (verdict.problems.length === 0) return undefined
  throw new InvalidParametersError(problemsText(tool, verdict.problems), verdict.problems)
}

/** The seed's error text, with what is wrong besides what is missing. */
function problemsText(tool: ToolDefinition, problems: readonly SchemaProblem[]): string {
  const names = Object.keys(objectOf(tool.inputSchema['properties']))
  const missing = problems.filter(({ kind }) => kind === 'missing').map(nameOf)
  const wrong = problems.filter(({ kind }) => kind !== 'missing').map(sentence)
  const isAtTop = problems.some(({ path, kind }) => kind === 'unknown' || path.length === 0)
  const concerned = isAtTop ? names : problems.map(({ path }) => path[0] ?? '')
  const expected = [...new Set(concerned)]
    .filter((name) => names.includes(name))
    .map((name) => `${name}: ${typeText(propertyOf(tool, name))}`)
  const lines = [`Error: invalid parameters for ${tool.id}`]
  if (missing.length > 0) lines.push(`Missing: ${[...new Set(missing)].join(', ')}`)
  if (wrong.length > 0) lines.push(`Invalid: ${[...new Set(wrong)].slice(0, 10).join('; ')}`)
  if (expected.length > 0) lines.push(`Expected: ${expected.join(', ')}`)
  lines.push(wrong.length > 0 ? 'Next: correct the values' : 'Next: provide missing values')
  return lines.join('\n')

  function sentence({ path, kind, message }: SchemaProblem): string {
    const name = path.length === 0 ? 'the whole' : path.join('.')
    const meant = kind === 'unknown' && path.length === 1 ? nearest(name, names) : undefined
    return `${name} ${message}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
  }
}

function nameOf({ path }: SchemaProblem): string {
  return path.join('.')
}

function propertyOf(tool: ToolDefinition, name: string): JsonObject {
  return objectOf(objectOf(tool.inputSchema['properties'])[name])
}

/** `string`, `integer | null`, `"open" | "closed"`, `string[]`. */
function typeText(schema: JsonObject): string {
  const { type, enum: choices, anyOf, oneOf, items } = schema
  if (choices !== undefined && isList(choices)) {
    return choices
      .slice(0, 12)
      .map((choice) => JSON.stringify(choice))
      .join(' | ')
  }
  if (type === 'array') return `${typeText(objectOf(items))}[]`
  if (typeof type === 'string') return type
  if (type !== undefined && isList(type)) return type.map(String).join(' | ')
  const options = anyOf ?? oneOf
  if (options === undefined || !isList(options)) return 'any'
  return [...new Set(options.map((option) => typeText(objectOf(option))))].join(' | ')
}
