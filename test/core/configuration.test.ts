import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ConfigurationReading, inspectConfiguration } from '../../src/core/configuration.ts'
import { settingTable, variableOf } from '../../src/core/settings.ts'
import { systemRuntime } from '../../src/core/runtime.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-config-'))
  mkdirSync(join(root, 'project/.git'), { recursive: true })
  mkdirSync(join(root, 'project/deep/er'), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, content: string): void {
  const target = join(root, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, content)
}

function load(env: Record<string, string> = {}, file?: string): ConfigurationReading {
  const cwd = join(root, 'project/deep/er')
  return inspectConfiguration(systemRuntime({ env, home: join(root, 'home'), cwd }), { file })
}

const project = 'project/.skillrail/config.json'
const user = 'home/.config/skillrail/config.json'

it('has the defaults if nothing is configured', () => {
  expect(load()).toEqual({
    settings: {
      skills: { paths: [], trustedPaths: [], precedence: 'project' },
      run: {
        environment: [],
        timeout: 3600,
        outputLimit: 8_388_608,
        notify: '',
        sandbox: 'untrusted',
      },
      tools: {
        retryWaits: [0, 1],
        replaySafe: [],
        neverReplay: [],
        allow: [],
        ask: [],
        deny: [],
        readOnly: [],
        model: '',
        sessionHours: 24,
        idleExit: 1800,
      },
      agent: { model: '', baseUrl: '', maxTurns: 50, contextTokens: 100_000, concurrency: 10 },
      hooks: { budget: 10_000, notice: 'none', repeat: 'prompt' },
      rail: { start: 'invoked', approval: 'prompted', signingKey: '', allowedSigners: '' },
      restate: {
        url: 'http://127.0.0.1:8080',
        adminUrl: '',
        token: '',
        workerHost: '127.0.0.1',
        workerPort: 9080,
        workerAddress: '',
        identityKeys: [],
        via: [],
        models: [],
        patience: 60,
        resultLimit: 8_388_608,
        scratch: '',
      },
      state: { directory: '' },
      workspaceTrust: 'ask',
    },
    diagnostics: [],
    sources: [],
  })
})

it('reads the user, then the project, then variables, then an explicit file, and the later value applies', () => {
  write(
    user,
    '{ "run": { "timeout": 1, "outputLimit": 2048 }, "skills": { "precedence": "user" } }',
  )
  write(project, '{ "run": { "timeout": 2, "environment": ["CI"] } }')
  write('named.json', '{ "run": { "environment": ["A"] } }')
  const { settings } = load({ SKILLRAIL_RUN_TIMEOUT: '3', SKILLRAIL_RUN_ENVIRONMENT: 'B, C' })
  expect(settings.run).toEqual({
    timeout: 3,
    outputLimit: 2048,
    notify: '',
    environment: ['B', 'C'],
    sandbox: 'untrusted',
  })
  expect(settings.skills.precedence).toBe('user')
  const named = load({ SKILLRAIL_RUN_ENVIRONMENT: 'B' }, join(root, 'named.json'))
  expect(named.settings.run.environment).toEqual(['A'])
})

it('reads comments and trailing commas, and resolves paths against the file', () => {
  write(project, '// ours\n{ "skills": { "paths": ["more", "~/mine", "/abs"], } }')
  expect(load().settings.skills.paths).toEqual([
    join(root, 'project/more'),
    join(root, 'home/mine'),
    '/abs',
  ])
})

it('ignores project settings that would raise the project’s rights, and reports them', () => {
  write(project, '{ "workspaceTrust": "trusted",\n  "skills": { "trustedPaths": ["."] } }')
  const { settings, diagnostics } = load()
  expect(settings.workspaceTrust).toBe('ask')
  expect(settings.skills.trustedPaths).toEqual([])
  expect(diagnostics.map(({ code, line }) => [code, line])).toEqual([
    ['setting-not-for-projects', 1],
    ['setting-not-for-projects', 2],
  ])
})

describe.each([
  ['{ "run": { "timeout": -1 } }', 'setting-wrong-value', 'run.timeout must be a whole number'],
  ['{ "run": 5 }', 'setting-wrong-value', 'run must be an object'],
  ['{ "run": { "environment": ["A=B"] } }', 'setting-wrong-value', 'list of names'],
  ['{ "skills": { "precedence": "me" } }', 'setting-wrong-value', '"project" or "user"'],
  ['{ "skills": { "paths": "x" } }', 'setting-wrong-value', 'list of paths'],
  ['{ "worksapceTrust": "ask" }', 'setting-unknown', 'worksapceTrust is not a setting'],
  ['{ "run": {}, "run": {} }', 'setting-repeated', 'run is set twice'],
  ['{ "tools.deny": ["a"] }', 'setting-unknown', 'tools.deny is not a setting'],
  ['{ "run": { "timeout": 1 ', 'configuration-syntax', ''],
  ['[]', 'configuration-syntax', 'JSON object'],
  ['', 'configuration-syntax', ''],
])('the user’s file %j', (text, code, message) => {
  it('is reported with its place, has no effect, and stays unchanged', () => {
    write(user, text)
    const { settings, diagnostics } = load()
    expect(diagnostics[0]).toMatchObject({ code, path: join(root, user), line: 1 })
    expect(diagnostics[0]?.message).toContain(message)
    expect(settings).toEqual(load({}, undefined).settings)
    expect(settings.run.timeout).toBe(3600)
    expect(readFileSync(join(root, user), 'utf8')).toBe(text)
  })
})

it('suggests the nearest setting', () => {
  write(user, '{ "worksapceTrust": "ask" }')
  expect(load().diagnostics[0]?.hint).toBe('Did you mean workspaceTrust?')
})

it('reports a variable with a wrong value', () => {
  const { diagnostics } = load({ SKILLRAIL_RUN_TIMEOUT: 'soon' })
  expect(diagnostics).toMatchObject([
    { code: 'setting-wrong-value', path: 'SKILLRAIL_RUN_TIMEOUT' },
  ])
})

it('reports a missing explicit file', () => {
  expect(load({}, 'no-such.json').diagnostics).toMatchObject([{ code: 'file-missing' }])
})

it.each(settingTable)('$key has a variable named after it and a description', (setting) => {
  const words = setting.key.replace(/[A-Z]/g, '_$&').replace('.', '_')
  expect(variableOf(setting)).toBe(`SKILLRAIL_${words.toUpperCase()}`)
  expect(setting.description).toMatch(/\.$/)
})

it('reads the addresses of a Restate server and its workers only from the user', () => {
  write(user, '{ "restate": { "url": "https://restate.example:8080", "via": ["claude"] } }')
  write(project, '{ "restate": { "url": "https://elsewhere.example" } }')
  const { settings, diagnostics } = load({
    SKILLRAIL_RESTATE_ADMIN_URL: 'nowhere',
    SKILLRAIL_RESTATE_WORKER_PORT: '9081',
    SKILLRAIL_RESTATE_IDENTITY_KEYS: 'publickeyv1_a, publickeyv1_b',
    SKILLRAIL_RESTATE_TOKEN: 'a secret',
  })
  expect(settings.restate).toMatchObject({
    url: 'https://restate.example:8080',
    adminUrl: '',
    token: 'a secret',
    workerPort: 9081,
    identityKeys: ['publickeyv1_a', 'publickeyv1_b'],
    via: ['claude'],
  })
  expect(diagnostics).toMatchObject([
    { code: 'setting-not-for-projects' },
    { code: 'setting-wrong-value', path: 'SKILLRAIL_RESTATE_ADMIN_URL' },
  ])
})

it('reads how tool calls are repeated, and which may be repeated only from the user', () => {
  write(project, '{ "tools": { "retryWaits": [], "replaySafe": ["*"], "neverReplay": ["a__*"] } }')
  const own = load()
  expect(own.settings.tools).toMatchObject({
    retryWaits: [],
    replaySafe: [],
    neverReplay: ['a__*'],
  })
  expect(own.diagnostics).toMatchObject([{ code: 'setting-not-for-projects' }])
  const named = load({
    SKILLRAIL_TOOLS_RETRY_WAITS: '0, 0.5 2',
    SKILLRAIL_TOOLS_REPLAY_SAFE: 'x__y',
  })
  expect(named.settings.tools).toMatchObject({ retryWaits: [0, 0.5, 2], replaySafe: ['x__y'] })
})

it.each([['-1'], ['soon'], ['601'], ['1,1,1,1,1,1,1,1,1,1']])(
  'refuses %s as waiting times between attempts',
  (waits) => {
    const { settings, diagnostics } = load({ SKILLRAIL_TOOLS_RETRY_WAITS: waits })
    expect(settings.tools.retryWaits).toEqual([0, 1])
    expect(diagnostics).toMatchObject([{ code: 'setting-wrong-value' }])
  },
)
