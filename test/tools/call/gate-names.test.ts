import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serverProject } from '../../fixtures/server-project.ts'
import { runInProcess } from '../../run-in-process.ts'
import { textResult } from './_scripted.ts'

it.each([
  ['an ID', ['tools', 'call', 'db__drop']],
  ['the prefix of a client', ['tools', 'call', 'mcp__db__drop']],
  ['another prefix', ['tools', 'call', 'MetaMCP_db__drop']],
  ['a colon', ['tools', 'call', 'db:drop']],
  ['its bare name', ['tools', 'call', 'drop']],
  ['another case', ['tools', 'call', 'DB__DROP']],
  ['a request', ['tools', 'do', '--yes', 'Use db__drop']],
  ['a batch', ['tools', 'batch', 'BATCH: [{"tool": "drop"}]']],
  ['a chain', ['tools', 'chain', 'CHAIN: [{"tool": "mcp__db__drop"}]']],
])(
  'runs a required step before a tool that is called by %s, in a nested folder',
  async (_, words) => {
    const { root, home, scripted, configure, workflows, calls } = serverProject()
    const tool = { inputSchema: { type: 'object' }, result: textResult('ok') }
    configure({ db: scripted('db', { look: tool, drop: tool }) })
    workflows({
      careful: {
        description: 'Look first.',
        triggers: { tools: ['drop'] },
        prerequisites: [{ step: 1, tool: 'look', description: 'Look at it.' }],
      },
    })
    const cwd = join(root, 'packages', 'app')
    mkdirSync(cwd, { recursive: true })
    const { code } = await runInProcess(['--trust-workspace', ...words], { cwd, home })
    expect([code, calls().map((call) => call.split(' ')[0])]).toEqual([0, ['look', 'drop']])
  },
)
