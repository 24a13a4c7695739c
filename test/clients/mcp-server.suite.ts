import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bin } from '../command-line.ts'
import { startModelServer } from '../model-server/server.ts'
import { installClients } from './cache.ts'
import { recipes } from './clients.ts'
import { makeHome, write } from './home.ts'
import { runClient } from './run-client.ts'

const tool = 'mcp__skillrail__use_skill'

it('Claude Code uses a skill through our MCP server', async () => {
  const client = installClients(['claude'], { latest: false }).get('claude')
  if (client === undefined) throw new Error('Claude Code is not installed')
  const model = await startModelServer(({ body }) => {
    if (!body.includes(tool) || body.includes('<skill_content')) return 'done'
    return { calls: [{ name: tool, input: { skill: 'saw', arguments: 'program the house' } }] }
  })
  try {
    const home = makeHome(recipes.claude, model.url)
    const configuration = join(home.home, 'mcp.json')
    const server = { command: 'node', args: ['--no-warnings', bin, 'mcp', 'serve'] }
    write(configuration, JSON.stringify({ mcpServers: { skillrail: server } }))
    const run = await runClient(
      client,
      [
        '-p',
        'Plan the work.',
        '--mcp-config',
        configuration,
        '--strict-mcp-config',
        '--allowedTools',
        tool,
      ],
      home,
      recipes.claude.environment(model.url),
    )
    expect(run.output).toContain('done')
    const last = model.prompts().at(-1)?.body
    expect(last).toContain('skill_content name=')
    expect(last).toContain('PROGRAM FLOW 4711')
  } finally {
    await model.close()
  }
})
