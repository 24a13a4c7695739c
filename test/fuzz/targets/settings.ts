import path from 'node:path'
import { inspectConfiguration } from '../../../src/core/configuration.ts'
import { emptyMachine, scratchFolder, writeIn } from '../_scratch.ts'
import { demand, same, textOf } from '../target.ts'

export const name = 'settings'
export const seeds: readonly string[] = [
  '{"skills":{"paths":["a","~/b"],"trustedPaths":["c"]},"run":{"timeout":5,"environment":["A"]}}',
  '// words\n{"workspaceTrust":"trusted","run":{"sandbox":"all",},"agent":{"model":"a/b"},}',
  '{"$schema":"x","skils":{},"run":[],"tools":{"model":"openai:x"},"__proto__":{"a":1}}',
  `{"a":${'['.repeat(6000)}${']'.repeat(6000)}}`,
  '{"run.timeout":1,"run":{"timeout":-1,"constructor":1,"outputLimit":1e99}}',
]
export const words: readonly string[] = [
  '{"',
  '":{"',
  '":[',
  '"run":',
  '"__proto__":',
  '//',
  '/*',
  '"~/',
]

const folder = scratchFolder()
const runtime = emptyMachine(folder)
const defaults = inspectConfiguration(runtime)
const file = path.join(runtime.cwd, '.skillrail/config.json')

/** A project's file never throws, never extends its permissions, and its errors are reported. */
export function fuzz(data: Uint8Array): void {
  writeIn(file, data)
  const { settings, diagnostics } = inspectConfiguration(runtime)
  const lines = textOf(data).split('\n').length
  for (const { path: of, line = 1, column = 1, message } of diagnostics) {
    demand(of === file && message !== '', 'a diagnostic of nothing')
    demand(line >= 1 && line <= lines && column >= 1, 'a place outside of the file', line, column)
  }
  demand(settings.workspaceTrust === 'ask', 'trust that a project gave itself')
  demand(same(settings.skills.trustedPaths, []), 'trusted paths of a project')
  checkTypes(settings, defaults.settings)
}

function checkTypes(value: unknown, like: unknown): void {
  demand(kindOf(value) === kindOf(like), 'a value of another kind', value, like)
  if (typeof value === 'number') demand(Number.isFinite(value), 'no number', value)
  if (kindOf(value) !== 'object') return
  demand(same(Object.keys(value ?? {}), Object.keys(like ?? {})), 'other settings', value)
  const all = Object.entries(value ?? {})
  for (const [key, inner] of all)
    checkTypes(inner, Object.entries(like ?? {}).find(([k]) => k === key)?.[1])
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
}
