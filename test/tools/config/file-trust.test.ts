import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { fileTrust } from '../../../src/tools/config/read-configuration.ts'
import { collectActingParts } from '../../../src/trust/acting-parts.ts'
import { TrustStore } from '../../../src/trust/store.ts'

async function accepted(files: Readonly<Record<string, string>>) {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-file-trust-')))
  onTestFinished(() => rmSync(project, { recursive: true, force: true }))
  const runtime = systemRuntime({ home: join(project, 'home'), cwd: project, env: {} })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  await new TrustStore(runtime).accept(project, collectActingParts(project, []))
  const blockOf = (name: string) =>
    fileTrust(project, runtime, 'ask').blockOf(join(project, name))?.reason
  return { project, blockOf }
}

it('starts the servers of an accepted file until the file changes', async () => {
  const { project, blockOf } = await accepted({ '.mcp.json': '{}' })
  expect(blockOf('.mcp.json')).toBeUndefined()
  writeFileSync(join(project, '.mcp.json'), '{"mcpServers": {}}')
  expect(blockOf('.mcp.json')).toBe('changed')
})

it('does not accept a file that is deleted before it is compared', async () => {
  const { project, blockOf } = await accepted({ '.mcp.json': '{}' })
  rmSync(join(project, '.mcp.json'))
  expect(blockOf('.mcp.json')).toBe('changed')
  expect(blockOf('opencode.json')).toBe('changed')
})

/** How a server may name a file of the project: its configuration, and the file. */
const programs: readonly (readonly [configuration: object, file: string])[] = [
  [{ command: 'node', args: ['./server.js'] }, 'server.js'],
  [{ command: './bin/server' }, 'bin/server'],
  [{ command: 'python', args: ['tools/server.py'] }, 'tools/server.py'],
  [{ command: 'python', args: ['-m', 'tools.server'] }, 'tools/server.py'],
  [{ command: 'uv', args: ['run', '--directory', 'tools', 'x.py'] }, 'tools/x.py'],
  [{ command: 'node', args: ['server'], cwd: './tools' }, 'tools/server'],
  [{ command: 'node', args: ['./tools/server'] }, 'tools/server.js'],
  [{ command: 'node', args: ['${workspaceFolder}/my tools/server.js'] }, 'my tools/server.js'],
  [{ command: 'sh', args: ['-c', 'cd tools && exec node server.mjs'] }, 'tools/server.mjs'],
  [{ command: 'node', args: ['--require=./hook.cjs', 'other'] }, 'hook.cjs'],
  [{ command: 'other', envFile: '${workspaceFolder}/some/variables.txt' }, 'some/variables.txt'],
]

it.each(programs)('does not start %j after %s changed', async (server, file) => {
  const text = JSON.stringify({ mcpServers: { one: server } })
  const { project, blockOf } = await accepted({ '.mcp.json': text, [file]: 'first' })
  expect(blockOf('.mcp.json')).toBeUndefined()
  writeFileSync(join(project, file), 'second')
  expect(blockOf('.mcp.json')).toBe('changed')
  rmSync(join(project, file))
  expect(blockOf('.mcp.json')).toBe('changed')
})

it('stops a server after a file is added in a place that it searches', async () => {
  const text = JSON.stringify({ mcpServers: { one: { command: 'node', args: ['./server'] } } })
  const { project, blockOf } = await accepted({ '.mcp.json': text })
  writeFileSync(join(project, 'server.js'), '')
  expect(blockOf('.mcp.json')).toBe('changed')
})

it('allows changes of data and packages that a server names', async () => {
  const args = ['--db-path', './shop.db', 'docs', '.', 'node_modules']
  const text = JSON.stringify({ mcpServers: { one: { command: 'npx', args } } })
  const files = { 'shop.db': 'a', 'docs/notes.md': 'a', 'node_modules/a/index.js': 'a' }
  const { project, blockOf } = await accepted({ '.mcp.json': text, ...files })
  for (const name of Object.keys(files)) writeFileSync(join(project, name), 'b')
  expect(blockOf('.mcp.json')).toBeUndefined()
})

it('does not accept a configuration that names too many files', async () => {
  const words = Array.from({ length: 60_000 }, (_, index) => `word-${index}`)
  await expect(accepted({ '.mcp.json': JSON.stringify(words) })).rejects.toMatchObject({
    code: 'trust-part-unreadable',
  })
})
