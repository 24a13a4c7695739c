import { golden, type Scenario } from './_golden.ts'

function project({ skill }: Scenario): void {
  skill('greet', { head: 'argument-hint: "[name]"', body: 'Greet $ARGUMENTS warmly.' })
  skill('build', { run: 'echo built' })
  skill('main', { metadata: ['chain: build greet'] })
}

let id = 0
const request = (method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`

const opening =
  request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  }) + `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`

const call = (name: string, args: object): string =>
  request('tools/call', { name, arguments: args })

golden('serve', {
  async 'as an MCP server'(scenario) {
    const { both, run } = scenario
    await both('mcp serve --list')
    project(scenario)
    await both('mcp serve --list')
    await both('mcp serve --dry-run --trust-workspace')
    await run('mcp serve --port 1', { process: true })
    await run('mcp serve --http --port x')
    await run('mcp serve --http --token-file nowhere/deep/token --list')
    const questions = [
      request('tools/list'),
      request('prompts/list'),
      request('resources/list'),
      request('resources/templates/list'),
      request('prompts/get', { name: 'greet', arguments: { arguments: 'Ada' } }),
      request('prompts/get', { name: 'nothing' }),
      request('resources/read', { uri: 'skill://greet/SKILL.md' }),
      call('nothing', {}),
      call('skill_run', { skill: 'build' }),
    ]
    for (const question of questions) {
      await run('mcp serve --trust-workspace', { stdin: opening + question, process: true })
    }
  },
  async 'over HTTP and to a browser'(scenario) {
    const { run } = scenario
    project(scenario)
    const signal = 'SIGINT'
    await run('mcp serve --http', { interrupt: { when: 'http://', signal } })
    await run('mcp serve --http --json', { interrupt: { when: 'http://', signal } })
    await run('view', { interrupt: { when: 'http://', signal } })
    await run('view --json', { interrupt: { when: 'http://', signal } })
    await run('view --port x')
    await run('view --port x --json')
    await run('worker --port x')
    await run('worker --via nobody')
  },
})

golden('doctor', {
  async 'a new machine'({ both }) {
    await both('doctor')
    await both('overview')
    await both('completion zsh')
    await both('completion zsh -- runs appr')
    await both('doctor --engine restate')
    await both('doctor --engine restate --url http://127.0.0.1:1 --admin-url http://127.0.0.1:1')
    await both('doctor --engine steam')
    await both('doctor --probe')
  },
  async settings({ both, write }) {
    write('project/.skillrail/config.json', '{ "run": { "shel": 1 }, "workspaceTrust": "trusted" }')
    await both('list')
    await both('doctor')
    write('home/.config/skillrail/config.json', '{ "agent": { "concurrency": "x" }, ')
    await both('list')
    await both('doctor')
    write('project/mine.json', '{ "nonsense": 1 }')
    await both('list --config mine.json')
    write('project/mine.json', '{ "agent": { "concurrency": "x" } }')
    await both('list --config mine.json')
    write('project/mine.json', '[')
    await both('list --config mine.json')
  },
})
