import { checkDefinitionText } from '../../../src/tools/workflow/edit-workflows.ts'
import { checkWorkflows } from '../../../src/tools/workflow/check-workflows.ts'
import { readWorkflows } from '../../../src/tools/workflow/read-workflows.ts'
import type { WorkflowDefinition } from '../../../src/tools/workflow/model.ts'
import { UsageError } from '../../../src/core/errors.ts'
import { demand, same, textOf } from '../target.ts'

export const name = 'workflows'
const step = '{"step":1,"tool":"x__y","description":"d","params":{"id":"$call.id ?? $a.b?"}}'
export const seeds: readonly string[] = [
  `{"w":{"description":"d","triggers":{"tools":["a__b"]},"prerequisites":[${step}],"mode":"enforce"}}`,
  `// words\n{"workflows":{"w":{"description":"d","triggers":{"keywords":["x"]},"prerequisites":[${step},]}}}`,
  `{"name":"w","description":"d","triggers":{"category":"c"},"prerequisites":[${step}]}`,
  '{"version":"4.0.0","categories":{},"workflows":{"__proto__":{}}}',
  `{"w":{"triggers":{},"prerequisites":[{"step":0,"tool":"","output_as":"call","scope":["a"]}]}}`,
  `{"a":${'['.repeat(6000)}${']'.repeat(6000)}}`,
]
export const words: readonly string[] = [
  '"prerequisites":[',
  '"triggers":{',
  '"tools":["a__b"]',
  '"params":{"a":"$x.y"}',
  '"output_as":"x"',
  '"mode":"warn"',
  '"scope":["a"]',
  '__proto__',
  '{"w":{',
  step,
]

const path = '/p/.skillrail/workflows.json'

/** Nothing throws; a definition is whole; one with an error counts for nothing and is reported. */
export function fuzz(data: Uint8Array): void {
  const text = textOf(data)
  const { workflows, diagnostics } = readWorkflows([{ path, text }])
  const lines = text.split('\n').length
  for (const { line = 1, column = 1 } of diagnostics) {
    demand(line >= 1 && line <= lines && column >= 1, 'a place outside of the file', line, column)
  }
  const isNothing = text.trim() === '' || workflows.length > 0 || diagnostics.length > 0
  demand(isNothing || /^[\s\S]*\{/.test(text), 'neither a workflow nor a word')
  for (const workflow of workflows) checkForm(workflow)
  checkWorkflows(workflows)
  try {
    checkDefinitionText('w', text, path)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
  }
}

function checkForm(workflow: WorkflowDefinition): void {
  const { name, prerequisites, mode } = workflow
  demand(name !== '' && name !== '__proto__', 'a name', name)
  demand(['enforce', 'warn', 'suggest'].includes(mode), 'a mode', mode)
  for (const { step: number, tool, params, outputAs } of prerequisites) {
    demand(Number.isInteger(number) && number >= 1 && number <= 1000, 'a step', number)
    demand(tool.trim() !== '', 'a step without tool')
    demand(outputAs === undefined || /^[A-Za-z][\w-]*$/.test(outputAs), 'a name', outputAs)
    demand(params === undefined || !Object.hasOwn(params, '__proto__'), 'a key of objects', params)
  }
  demand(same(workflow, JSON.parse(JSON.stringify(workflow))), 'something that is not data')
}
