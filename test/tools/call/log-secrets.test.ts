import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfiguration } from '../../../src/core/configuration.ts'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import { callContext } from '../../../src/tools/call/call-context.ts'
import { callTool } from '../../../src/tools/call/call-tool.ts'
import { openSession } from '../../../src/tools/workflow/session.ts'
import { runtimeIn, temporaryDirectory } from '../../trust/_project.ts'
import { definitionOf, toolFixture } from './_fake.ts'

it("masks the secrets of a tool's server in the log of calls", async () => {
  const root = temporaryDirectory()
  const project = join(root, 'project')
  const runtime = runtimeIn(root)
  const { settings } = loadConfiguration(runtime)
  const fake = { name: 'send', inputSchema: { type: 'object' } }
  const session = openSession({ runtime, project, settings })
  const { context, calls } = toolFixture([fake])
  const { signal, note, servers } = context
  const source = callContext({
    project,
    runtime,
    settings,
    session,
    index: indexDefinitions([definitionOf(fake)]),
    serverDefinition: (name) => ({
      name,
      transport: {
        kind: 'stdio',
        command: 'server',
        args: [],
        env: { MY_API_TOKEN: 'plain words 17', REGION: 'north sea' },
      },
      source: { client: 'claude-code', scope: 'user', path: join(root, '.claude.json') },
      startupTimeoutMs: 1000,
      callTimeoutMs: 1000,
      disabled: false,
      trusted: true,
      digest: '',
    }),
    servers,
    gate: { pass: () => Promise.resolve(), after: () => Promise.resolve() },
    signal,
    note,
  })
  const params = { note: 'say plain words 17', where: 'north sea' }
  await callTool({ tool: 'fake__send', params }, source)
  expect(calls).toEqual([`fake__send ${JSON.stringify(params)}`])
  const logged = await session.calls()
  expect(logged.calls).toMatchObject([
    { tool: 'fake__send', params: { note: 'say [redacted]', where: 'north sea' } },
  ])
})
