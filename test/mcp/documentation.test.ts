import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { offeredTools } from '../../src/mcp/create-server.ts'
import { projectAt } from './_in-process.ts'

const root = new URL('../..', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/reference/mcp-server.md'), 'utf8')
const tools = offeredTools(projectAt())

interface Schema {
  type?: string
  description?: string
  properties?: Record<string, Schema & { items?: Schema }>
  required?: string[]
}

it('names the version of the extension that is served', () => {
  expect(page).toContain('`io.modelcontextprotocol/skills` as it became final on 2026-09-13')
})

it('lists every tool in its table, with its parameters and whether it only reads', () => {
  const table = /^\| tool [^]*?\n\n/m.exec(page)?.[0] ?? ''
  const rows = table.split('\n').flatMap((line) => {
    const [name, reads, required, optional] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim())
    return name?.startsWith('`') === true ? [[name, reads, required, optional]] : []
  })
  const cell = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
  const offered = tools.map(({ name, annotations, inputSchema }) => {
    const { properties = {}, required = [] }: Schema = { ...inputSchema }
    const optional = Object.keys(properties).filter((key) => !required.includes(key))
    const reads = annotations.readOnlyHint ? 'yes' : 'no'
    return [`\`${name}\``, reads, cell(required), cell(optional)]
  })
  expect(rows).toEqual(offered)
})

it('describes every parameter in the schema that clients get', () => {
  const bare = tools.flatMap(({ name, inputSchema }) => {
    const { properties = {} }: Schema = { ...inputSchema }
    const all = Object.entries(properties).flatMap(([key, { items, ...own }]) => [
      [key, own.description] as const,
      ...Object.entries(items?.properties ?? {}).map(
        ([within, it]) => [within, it.description] as const,
      ),
    ])
    return all.flatMap(([key, text]) => (text === undefined ? [`${name}.${key}`] : []))
  })
  expect(bare).toEqual([])
})

it('shows the announcement of tools that do not only read', () => {
  for (const { name, annotations } of tools) {
    const { readOnlyHint: reads, destructiveHint, idempotentHint, openWorldHint } = annotations
    const acts = !reads && !['find_tools', 'describe_tool'].includes(name)
    expect([destructiveHint, idempotentHint, openWorldHint]).toEqual([acts, !acts, !reads])
  }
})
