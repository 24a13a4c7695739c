import { it } from 'vitest'
import { expectOutcomes } from './_outcomes.ts'
import type { Scenario } from './_scenario.ts'

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

it('serves skills over MCP', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
      await json('mcp serve --list')
      project(scenario)
      await json('mcp serve --list')
      await json('mcp serve --dry-run --trust-workspace')
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
    [
      '0 mcp serve --list → [object Object]',
      '0 mcp serve --list → [object Object]',
      '0 mcp serve --dry-run --trust-workspace → [object Object]',
      '2 mcp serve --port 1',
      '2 mcp serve --http --port x',
      '0 mcp serve --http --token-file nowhere/deep/token --list',
      '0 mcp serve --trust-workspace',
      '0 mcp serve --trust-workspace',
      '0 mcp serve --trust-workspace',
      '0 mcp serve --trust-workspace',
      '0 mcp serve --trust-workspace',
      '0 mcp serve --trust-workspace',
      '0 mcp serve --trust-workspace',
      '0 mcp serve --trust-workspace',
      '0 mcp serve --trust-workspace',
    ],
  ),
)

it('serves over HTTP until it is interrupted', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { run } = scenario
      project(scenario)
      const signal = 'SIGINT'
      await run('mcp serve --http', { interrupt: { when: 'http://', signal } })
      await run('mcp serve --http --json', { interrupt: { when: 'http://', signal } })
      await run('view', { interrupt: { when: 'http://', signal } })
      await run('view --json', { interrupt: { when: 'http://', signal } })
      await run('view --port x')
      await run('view --port x --json')
      await run('runs worker --port x')
      await run('runs worker --via nobody')
    },
    [
      '130 mcp serve --http',
      '130 mcp serve --http',
      '130 view',
      '130 view',
      '2 view --port x',
      '2 view --port x → option-number',
      '2 runs worker --port x',
      '2 runs worker --via nobody',
    ],
  ),
)

it('checks a new machine', { timeout: 180_000 }, () =>
  expectOutcomes(
    async ({ json, run }) => {
      await run('doctor')
      await json('')
      await json('completion zsh')
      await json('completion zsh -- runs appr')
      await run('doctor --engine restate')
      await run('doctor --engine restate --url http://127.0.0.1:1 --admin-url http://127.0.0.1:1')
      await run('doctor --engine steam')
      await run('doctor --probe')
    },
    [
      '0 doctor',
      '0 ',
      '0 completion zsh',
      '0 completion zsh -- runs appr',
      '1 doctor --engine restate',
      '1 doctor --engine restate --url http://127.0.0.1:<port> --admin-url http://127.0.0.1:<port>',
      '2 doctor --engine steam',
      '0 doctor --probe',
    ],
  ),
)

it('reports invalid settings', { timeout: 180_000 }, () =>
  expectOutcomes(
    async ({ json, run, write }) => {
      write(
        'project/.skillrail/config.json',
        '{ "run": { "shel": 1 }, "workspaceTrust": "trusted" }',
      )
      await json('list')
      await run('doctor')
      write('home/.config/skillrail/config.json', '{ "agent": { "concurrency": "x" }, ')
      await json('list')
      await run('doctor')
      write('project/mine.json', '{ "nonsense": 1 }')
      await json('list --config mine.json')
      write('project/mine.json', '{ "agent": { "concurrency": "x" } }')
      await json('list --config mine.json')
      write('project/mine.json', '[')
      await json('list --config mine.json')
    },
    [
      '0 list',
      '1 doctor',
      '0 list',
      '1 doctor',
      '0 list --config mine.json',
      '0 list --config mine.json',
      '0 list --config mine.json',
    ],
  ),
)
