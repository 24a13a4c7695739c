import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { fileTrust } from '../../../src/tools/config/read-configuration.ts'
import { collectActingParts } from '../../../src/trust/acting-parts.ts'
import { TrustStore } from '../../../src/trust/store.ts'

async function accepted(files: Readonly<Record<string, string>>) {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-file-trust-')))
  onTestFinished(() => rmSync(project, { recursive: true, force: true }))
  const runtime = systemRuntime({ home: join(project, 'home'), cwd: project, env: {} })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  await new TrustStore(runtime).accept(project, collectActingParts(project, []))
  const blockOf = (name: string) =>
    fileTrust(project, runtime, 'ask').blockOf(join(project, name))?.reason
  return { project, blockOf }
}

it('a file that was accepted may start its servers, and not once it is another', async () => {
  const { project, blockOf } = await accepted({ '.mcp.json': '{}' })
  expect(blockOf('.mcp.json')).toBeUndefined()
  writeFileSync(join(project, '.mcp.json'), '{"mcpServers": {}}')
  expect(blockOf('.mcp.json')).toBe('changed')
})

it('a file that was read and is gone when it is compared was not accepted', async () => {
  const { project, blockOf } = await accepted({ '.mcp.json': '{}' })
  rmSync(join(project, '.mcp.json'))
  expect(blockOf('.mcp.json')).toBe('changed')
  expect(blockOf('opencode.json')).toBe('changed')
})
