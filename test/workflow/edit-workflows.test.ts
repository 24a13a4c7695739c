import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { StateFileError, UsageError } from '../../src/core/errors.ts'
import { definitionText, editWorkflows } from '../../src/tools/workflow/edit-workflows.ts'
import { readWorkflows, workflowsPath } from '../../src/tools/workflow/read-workflows.ts'
import { temporaryProject, workflow } from './helpers.ts'

const definition = {
  description: 'x',
  triggers: { tools: ['go'] },
  prerequisites: [{ step: 1, tool: 'look', description: 'x' }],
}

function fileWith(text: string): string {
  const path = workflowsPath(temporaryProject())
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

it('creates the file for the first workflow', async () => {
  const path = workflowsPath(temporaryProject())
  await editWorkflows(path, { kind: 'write', name: 'a', definition })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ a: definition })
})

it('shows the change in a dry run, and writes no file', async () => {
  const path = workflowsPath(temporaryProject())
  const edit = { kind: 'write', name: 'a', definition } as const
  const { before, after } = await editWorkflows(path, edit, { dryRun: true })
  expect(before).toBe('')
  expect(JSON.parse(after)).toEqual({ a: definition })
  expect(existsSync(path)).toBe(false)
})

it('changes one field and nothing else', async () => {
  const text = `{\n  // why\n  "a": ${JSON.stringify(definition)}, // so\n  "other": 3\n}\n`
  const path = fileWith(text)
  await editWorkflows(path, { kind: 'set', name: 'a', key: 'enabled', value: false })
  const after = readFileSync(path, 'utf8')
  expect(after).toContain('// why')
  expect(after).toContain('// so\n  "other": 3')
  expect(readWorkflows([{ path }]).workflows).toMatchObject([{ name: 'a', enabled: false }])
})

it('removes one workflow and keeps the others', async () => {
  const path = fileWith(JSON.stringify({ ...workflow('a'), ...workflow('b') }))
  await editWorkflows(path, { kind: 'remove', name: 'a' })
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')))).toEqual(['b'])
})

it('changes a workflow of a tool cache in the cache', async () => {
  const cache = { version: '4.0.0', categories: { x: {} }, workflows: workflow('a') }
  const path = fileWith(JSON.stringify(cache))
  await editWorkflows(path, { kind: 'set', name: 'a', key: 'mode', value: 'warn' })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    ...cache,
    workflows: workflow('a', { mode: 'warn' }),
  })
})

describe('a malformed file', () => {
  it.each(['{"a": }', '[]', '{', 'workflows'])('%j is not changed', async (text) => {
    const path = fileWith(text)
    const edit = { kind: 'write', name: 'a', definition } as const
    await expect(editWorkflows(path, edit)).rejects.toThrow(StateFileError)
    await expect(editWorkflows(path, edit)).rejects.toThrow('line 1')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
})

it('refuses a definition with errors', async () => {
  const path = fileWith('{}')
  const edit = { kind: 'write', name: 'a', definition: { description: 'x' } } as const
  await expect(editWorkflows(path, edit)).rejects.toThrow(UsageError)
  expect(readFileSync(path, 'utf8')).toBe('{}')
})

it('returns a definition in the form of its file', () => {
  const path = fileWith(JSON.stringify(workflow('a', { mode: 'warn' })))
  const [found] = readWorkflows([{ path }]).workflows
  expect(found && { a: JSON.parse(definitionText(found)) }).toEqual(workflow('a', { mode: 'warn' }))
})

it('keeps a change of another process', async () => {
  const project = temporaryProject()
  const path = join(project, '.skillrail', 'workflows.json')
  const names = Array.from({ length: 20 }, (_, index) => `w${index}`)
  await Promise.all(names.map((name) => editWorkflows(path, { kind: 'write', name, definition })))
  expect(readWorkflows([{ path }]).workflows).toHaveLength(20)
})
