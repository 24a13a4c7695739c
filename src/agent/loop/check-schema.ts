import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject, SchemaChecker } from '../../tools/index.ts'

let checker: Promise<SchemaChecker> | undefined

/** What is wrong with a value by its JSON Schema, as one line, or undefined. */
export async function schemaProblem(
  schema: JsonObject,
  value: JsonValue,
): Promise<string | undefined> {
  if (!constrains(schema)) return undefined
  checker ??= import('../../tools/index.ts').then((tools) => tools.createSchemaChecker())
  const verdict = await (await checker).check(schema, value)
  // An unusable schema is its tool's fault: the tool has the last word then.
  if (!verdict.checked || verdict.problems.length === 0) return undefined
  const problems = verdict.problems.slice(0, 10)
  return problems.map(({ path, message }) => [path.join('.'), message].join(' ').trim()).join('; ')
}

/** Most tools without parameters say no more than that they take an object. */
function constrains(schema: JsonObject): boolean {
  const known = constraining.get(schema)
  if (known !== undefined) return known
  const answer = saysMore(schema)
  constraining.set(schema, answer)
  return answer
}

const constraining = new WeakMap<JsonObject, boolean>()

function saysMore(schema: JsonObject): boolean {
  const says = Object.keys(schema).filter((key) => key !== '$schema')
  if (says.some((key) => key !== 'type' && key !== 'properties')) return true
  return schema['type'] !== 'object' || JSON.stringify(schema['properties'] ?? {}) !== '{}'
}
