import type { JsonValue } from '../../../src/core/json.ts'
import {
  bindParameters,
  referringParameters,
  referencedNames,
} from '../../../src/tools/call/steps.ts'
import { isObject } from '../../../src/core/json.ts'
import { parseReferences, valueAt } from '../../../src/tools/workflow/references.ts'
import { demand, partsOf, same } from '../target.ts'

export const name = 'references'
export const seeds: readonly string[] = [
  '{"a":"$x","b":"say $x.name and $$x","c":["$y[0].z"],"d":5}\n%%\n{"x":{"name":"n"},"y":[{"z":null}]}',
  '{"a":"$x[\\"a key\\"]","b":"$5.00 $id $zz"}\n%%\n{"x":{"a key":[1,"$x"]},"s":"$x"}',
  '{"a":"$x.__proto__","b":"$x.constructor.name"}\n%%\n{"x":{"a":1}}',
  '{"a":"$call.page ?? $steps[1].id ?? none?","__proto__":{"b":"$x"}}\n%%\n{"x":"y"}',
  `{"a":${'['.repeat(3000)}"$x"${']'.repeat(3000)}}\n%%\n{"x":1}`,
]
export const words: readonly string[] = [
  '$x',
  '$$x',
  '.name',
  '[0]',
  '["k"]',
  '.constructor',
  '.__proto__',
  ' ?? ',
  '$call.',
  '$steps[1]',
  '[*]',
  '"a":',
  '\n%%\n',
]

/** Only own members are reached, answers are never looked at again, and without a `$` nothing changes. */
export function fuzz(data: Uint8Array): void {
  const [first = '', second = ''] = partsOf(data, 2)
  const params = parsed(first)
  const values = parsed(second)
  for (const text of [first, ...textsIn(params, 0)]) checkWorkflowReference(text, values)
  if (params === undefined || !isObject(params)) return
  if (values === undefined || !isObject(values)) return
  const variables = new Map(Object.entries(values))
  const binding = bindParameters(params, variables)
  if (!binding.ok) {
    demand(binding.message.length > 0, 'a refusal without words')
    return
  }
  referringParameters(params)
  const bound = JSON.stringify(binding.value)
  if (!first.includes('$') && !first.includes('\\u')) {
    demand(bound === JSON.stringify(params), 'a change without a reference', params, binding.value)
  }
  for (const used of referencedNames(params)) demand(variables.has(used), 'an unknown name', used)
  demand(same(Object.keys(binding.value), Object.keys(params)), 'other parameters', params)
  for (const key of variables.keys()) {
    if (!/^[A-Za-z_]\w*$/.test(key)) continue
    const answer = `$${key} and $$${key}`
    const only = bindParameters({ only: `$${key}` }, new Map([[key, answer]]))
    demand(only.ok && only.value['only'] === answer, 'an answer that was looked at', key, only)
  }
}

function checkWorkflowReference(text: string, value: JsonValue | undefined): void {
  const chain = parseReferences(text)
  demand(chain === undefined || text.startsWith('$'), 'a reference without a sign', text)
  for (const { path } of chain?.references ?? []) {
    demand(path.length <= 17, 'a path without end', path)
    const target = valueAt(value, path)
    demand(typeof target !== 'function', 'something that is not data', text)
    demand(target === undefined || contains(value, target), 'something from elsewhere', text)
  }
}

function contains(whole: JsonValue | undefined, part: JsonValue): boolean {
  return JSON.stringify(whole)?.includes(JSON.stringify(part)) ?? false
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth > 50) return []
  return Object.values(value).flatMap((item) => textsIn(item, depth + 1))
}
