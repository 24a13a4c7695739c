import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { collectActingParts } from '../../../src/trust/acting-parts.ts'
import { TrustStore } from '../../../src/trust/store.ts'
import { readServerConfiguration } from '../../../src/tools/config/read-configuration.ts'
import type { ServerConfiguration, ServerTransport } from '../../../src/tools/config/model.ts'

let root: string
let home: string
let project: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-servers-')))
  home = join(root, 'home')
  project = join(root, 'project')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
})
afterEach(() => rmSync(root, { recursive: true }))

function put(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
}

function read(
  options: {
    trust?: 'ask' | 'trusted'
    env?: Record<string, string>
    platform?: NodeJS.Platform
  } = {},
): ServerConfiguration {
  const { trust = 'trusted', env = {}, platform = 'linux' } = options
  return readServerConfiguration({
    project,
    runtime: systemRuntime({ home, env, platform, cwd: project }),
    trust,
  })
}

function transports(found: ServerConfiguration): Record<string, ServerTransport> {
  return Object.fromEntries(found.servers.map(({ name, transport }) => [name, transport]))
}

const stdio = (command: string, more: object = {}): object => ({
  kind: 'stdio',
  command,
  args: [],
  env: {},
  ...more,
})

describe('Skillrail among its own servers', () => {
  it.each([
    ['skillrail', ['mcp', 'serve']],
    ['/opt/bin/skillrail', ['-C', '/shop', 'mcp', 'serve', '--yes']],
    ['npx', ['skillrail@0.1', '-C', '/shop', 'mcp', 'serve']],
    ['npx', ['--prefix', '/shop', '--no', '--', 'skillrail', '-C', '/shop', 'mcp', 'serve']],
    ['bunx', ['skillrail', 'mcp', 'serve', '--http']],
    ['cmd', ['/c', 'npx', 'skillrail.cmd', 'mcp', 'serve']],
    ['sh', ['-c', "cd /shop && exec 'skillrail' mcp serve"]],
  ])('is left out with a remark: %s %j', (command, args) => {
    const own = { command, args }
    put(join(project, '.mcp.json'), { mcpServers: { own, other: { command: 'other' } } })
    const { servers, diagnostics } = read()
    expect(servers.map(({ name }) => name)).toEqual(['other'])
    expect(diagnostics).toMatchObject([{ code: 'server-own', severity: 'info' }])
  })

  it.each([
    ['skillrail', ['tools', 'serve']],
    ['other', ['mcp', 'serve', 'skillrail']],
    ['node', ['/else/cli/bin.js', 'mcp', 'serve']],
    ['not-skillrail', ['mcp', 'serve']],
  ])('is not what only looks like it: %s %j', (command, args) => {
    put(join(project, '.mcp.json'), { mcpServers: { a: { command, args } } })
    expect(read().servers.map(({ name }) => name)).toEqual(['a'])
  })
})

describe('the shapes of eight clients', () => {
  it.each([
    ['.mcp.json', 'project', 'claude-code', { mcpServers: { a: { command: 'x' } } }],
    ['.cursor/mcp.json', 'project', 'cursor', { mcpServers: { a: { command: 'x' } } }],
    ['.vscode/mcp.json', 'project', 'vscode', { servers: { a: { type: 'stdio', command: 'x' } } }],
    [
      '.gemini/settings.json',
      'project',
      'gemini',
      { mcpServers: { a: { command: 'x' } }, theme: 'dark' },
    ],
    ['.codex/config.toml', 'project', 'codex', '[mcp_servers.a]\ncommand = "x"\n'],
    ['opencode.json', 'project', 'opencode', { mcp: { a: { type: 'local', command: ['x'] } } }],
    [
      '.opencode/opencode.jsonc',
      'project',
      'opencode',
      '{ // ours\n "mcp": { "servers": { "a": { "type": "local", "command": ["x"] } } }, }',
    ],
    [
      '.claude.json',
      'user',
      'claude-code',
      { mcpServers: { a: { command: 'x' } }, numStartups: 3 },
    ],
    [
      '.config/Claude/claude_desktop_config.json',
      'user',
      'claude-desktop',
      { mcpServers: { a: { command: 'x' } } },
    ],
    ['.cursor/mcp.json', 'user', 'cursor', { mcpServers: { a: { command: 'x' } } }],
    ['.config/Code/User/mcp.json', 'user', 'vscode', { servers: { a: { command: 'x' } } }],
    [
      '.codeium/windsurf/mcp_config.json',
      'user',
      'windsurf',
      { mcpServers: { a: { command: 'x' } } },
    ],
    ['.gemini/settings.json', 'user', 'gemini', { mcpServers: { a: { command: 'x' } } }],
    ['.codex/config.toml', 'user', 'codex', '[mcp_servers.a]\ncommand = "x"\n'],
    [
      '.config/opencode/opencode.json',
      'user',
      'opencode',
      { mcp: { a: { type: 'local', command: ['x'] } } },
    ],
  ] as const)('%s of the %s is that of %s', (name, scope, client, content) => {
    const path = join(scope === 'project' ? project : home, name)
    put(path, content)
    const found = read()
    expect(found.diagnostics).toEqual([])
    expect(found.servers).toMatchObject([
      {
        name: 'a',
        transport: stdio('x'),
        source: { client, path, scope },
        trusted: true,
        disabled: false,
      },
    ])
  })

  it('reads what Claude Code was told for this project alone, before the project’s own file', () => {
    put(join(home, '.claude.json'), {
      mcpServers: { a: { command: 'global' } },
      projects: {
        [project]: { mcpServers: { a: { command: 'local' } } },
        '/other': { mcpServers: { b: { command: 'x' } } },
      },
    })
    put(join(project, '.mcp.json'), { mcpServers: { a: { command: 'shared' } } })
    const found = read()
    expect(transports(found)).toEqual({ a: stdio('local') })
    expect(found.shadowed.map(({ server, reason }) => [server.transport, reason])).toEqual([
      [stdio('shared'), 'earlier'],
      [stdio('global'), 'earlier'],
    ])
  })

  it('makes whole milliseconds of whatever time is required, as timers take them', () => {
    const times = (seconds: number): string =>
      `startup_timeout_sec = ${seconds}\ntool_timeout_sec = ${seconds}\n`
    put(
      join(home, '.codex/config.toml'),
      `[mcp_servers.a]\ncommand = "x"\n${times(1.001)}[mcp_servers.b]\ncommand = "x"\n${times(0.0005)}`,
    )
    expect(read().servers).toMatchObject([
      { startupTimeoutMs: 1001, callTimeoutMs: 1001 },
      { startupTimeoutMs: 1, callTimeoutMs: 1 },
    ])
  })

  it('reads the tables of Codex', () => {
    put(
      join(home, '.codex/config.toml'),
      `[mcp_servers.web]
url = "https://example.org/mcp"
bearer_token_env_var = "WEB_TOKEN"
http_headers = { "X-Team" = "blue" }
env_http_headers = { "X-User" = "USER_NAME", "X-None" = "NOT_SET" }
startup_timeout_sec = 5
tool_timeout_sec = 90.5
enabled_tools = ["search"]
disabled_tools = ["delete"]

[mcp_servers.local]
command = "node"
args = ["server.js"]
cwd = "tools"
enabled = false
env_vars = ["PASSED"]
env = { KEY = "value" }
`,
    )
    const found = read({ env: { WEB_TOKEN: 'abc', USER_NAME: 'me', PASSED: 'on' } })
    expect(found.servers).toMatchObject([
      {
        name: 'web',
        transport: {
          kind: 'http',
          url: 'https://example.org/mcp',
          headers: { 'X-Team': 'blue', 'X-User': 'me', Authorization: 'Bearer abc' },
        },
        startupTimeoutMs: 5000,
        callTimeoutMs: 90_500,
        allow: ['search'],
        deny: ['delete'],
      },
      {
        name: 'local',
        disabled: true,
        transport: stdio('node', {
          args: ['server.js'],
          cwd: join(project, 'tools'),
          env: { KEY: 'value', PASSED: 'on' },
        }),
      },
    ])
    expect(found.diagnostics).toMatchObject([
      { code: 'server-variable', line: 1, message: expect.stringContaining('NOT_SET') },
    ])
  })

  it('reads the transports, limits and lists of the others', () => {
    put(join(home, '.gemini/settings.json'), {
      mcpServers: {
        stream: {
          httpUrl: 'https://example.org/mcp',
          timeout: 5000,
          includeTools: ['a'],
          excludeTools: ['b'],
        },
        events: { url: 'https://example.org/sse' },
      },
    })
    put(join(home, '.codeium/windsurf/mcp_config.json'), {
      mcpServers: {
        far: { serverUrl: 'https://example.org/w', disabledTools: ['x'] },
        off: { command: 'x', disabled: true },
      },
    })
    put(join(home, '.cursor/mcp.json'), {
      mcpServers: { old: { type: 'sse', url: 'https://example.org/s' } },
    })
    put(join(project, 'opencode.json'), {
      mcp: {
        servers: {
          one: { type: 'remote', url: 'https://example.org/o', enabled: false, timeout: 7000 },
          two: {
            type: 'local',
            command: ['x', 'y'],
            environment: { A: 'b' },
            disabled: true,
            timeout: { startup: 1, request: 2 },
          },
        },
      },
    })
    const byName = Object.fromEntries(read().servers.map((server) => [server.name, server]))
    expect(byName).toMatchObject({
      stream: { transport: { kind: 'http' }, callTimeoutMs: 5000, allow: ['a'], deny: ['b'] },
      events: { transport: { kind: 'sse' } },
      far: { transport: { kind: 'http', url: 'https://example.org/w' }, deny: ['x'] },
      off: { disabled: true },
      old: { transport: { kind: 'sse' } },
      one: { transport: { kind: 'http' }, disabled: true, startupTimeoutMs: 7000 },
      two: {
        transport: stdio('x', { args: ['y'], env: { A: 'b' } }),
        disabled: true,
        startupTimeoutMs: 1,
        callTimeoutMs: 2,
      },
    })
  })

  it('finds the settings of desktop programs on other platforms', () => {
    put(join(home, 'Library/Application Support/Claude/claude_desktop_config.json'), {
      mcpServers: { a: { command: 'x' } },
    })
    expect(transports(read({ platform: 'darwin' }))).toEqual({ a: stdio('x') })
    put(join(root, 'roaming/Code/User/mcp.json'), { servers: { b: { command: 'y' } } })
    expect(
      transports(read({ platform: 'win32', env: { APPDATA: join(root, 'roaming') } })),
    ).toEqual({ b: stdio('y') })
  })
})

describe('variables', () => {
  const env = { SET: 'value', EMPTY: '', DANGEROUS: '${SET}$SET' }

  it.each([
    [
      '.mcp.json',
      '${SET}-${UNSET:-other}-${EMPTY}-$SET-${DANGEROUS}',
      'value-other--$SET-${SET}$SET',
      0,
    ],
    ['.mcp.json', '${UNSET}', '${UNSET}', 1],
    [
      '.cursor/mcp.json',
      '${env:SET}-${userHome}-${workspaceFolderBasename}',
      'value-HOME-project',
      0,
    ],
    ['.cursor/mcp.json', '${env:UNSET}!', '!', 1],
    ['.vscode/mcp.json', '${env:SET}${/}${workspaceFolder}', 'value/PROJECT', 0],
    ['opencode.json', '{env:SET}-{env:UNSET}-${SET}', 'value--${SET}', 1],
    ['.gemini/settings.json', '$SET-${SET}-${UNSET:-a:-b}-$$', 'value-value-a:-b-$$', 0],
    ['.gemini/settings.json', '$UNSET', '$UNSET', 1],
  ])('of %s: %s becomes %s', (file, text, expected, warnings) => {
    const entry = { type: 'local', command: ['x'], environment: { A: text } }
    const standard = { x: { command: 'x', env: { A: text } } }
    put(
      join(project, file),
      file === 'opencode.json'
        ? { mcp: { x: entry } }
        : file === '.vscode/mcp.json'
          ? { servers: standard }
          : { mcpServers: standard },
    )
    const found = read({ env })
    const wanted = expected.replace('HOME', home).replace('PROJECT', project)
    expect(transports(found)).toEqual({ x: stdio('x', { env: { A: wanted } }) })
    expect(found.diagnostics.map(({ code, severity }) => [code, severity])).toEqual(
      Array.from({ length: warnings }, () => ['server-variable', 'warning']),
    )
  })

  it('of VS Code ask for inputs, which a variable or their default answers', () => {
    put(join(project, '.vscode/mcp.json'), {
      inputs: [
        { id: 'api-key', type: 'promptString' },
        { id: 'region', type: 'pickString', default: 'eu' },
      ],
      servers: {
        x: { command: 'x', env: { KEY: '${input:api-key}', REGION: '${input:region}' } },
        y: { command: '${command:pick}' },
      },
    })
    expect(read().servers.map(({ blocked }) => blocked?.reason)).toEqual([
      'unresolved',
      'unresolved',
    ])
    expect(read().servers[0]?.blocked?.hint).toContain('SKILLRAIL_INPUT_API_KEY')
    expect(transports(read({ env: { SKILLRAIL_INPUT_API_KEY: 'k' } }))['x']).toEqual(
      stdio('x', { env: { KEY: 'k', REGION: 'eu' } }),
    )
  })

  it('of OpenCode read files beside the configuration', () => {
    put(join(home, '.config/opencode/opencode.json'), {
      mcp: {
        x: {
          type: 'remote',
          url: 'https://example.org',
          headers: { Authorization: 'Bearer {file:./token}' },
        },
        y: { type: 'local', command: ['{file:~/none}'] },
      },
    })
    put(join(home, '.config/opencode/token'), 'secret\n')
    const found = read()
    expect(transports(found)['x']).toMatchObject({ headers: { Authorization: 'Bearer secret' } })
    expect(found.servers[1]?.blocked?.reason).toBe('unresolved')
    expect(found.inputs).toContain(join(home, '.config/opencode/token'))
  })

  it('may come from the file that an editor names', () => {
    put(join(project, '.env'), '# ours\nexport A=1\nB="two words"\n')
    put(join(project, '.vscode/mcp.json'), {
      servers: { x: { command: 'x', envFile: '${workspaceFolder}/.env', env: { A: '2' } } },
    })
    expect(transports(read())['x']).toEqual(stdio('x', { env: { A: '2', B: 'two words' } }))
  })

  it('takes no variable from an envFile that changes what programs load', () => {
    const names = ['HTTPS_PROXY', 'LD_PRELOAD', 'NODE_OPTIONS', 'PATH', 'npm_config_registry']
    put(join(project, 'e.env'), `${names.map((name) => `${name}=x`).join('\n')}\nAPI_KEY=1\n`)
    put(join(project, '.vscode/mcp.json'), { servers: { x: { command: 'x', envFile: 'e.env' } } })
    const found = read()
    expect(transports(found)['x']).toEqual(stdio('x', { env: { API_KEY: '1' } }))
    expect(found.diagnostics.map(({ message }) => message).join()).toContain(names.join(', '))
  })

  it('are not read from a file for a server that nobody trusts', () => {
    put(join(home, 'credentials'), 'SECRET=hidden\n')
    put(join(project, '.vscode/mcp.json'), {
      servers: {
        x: { command: 'x', envFile: '~/credentials' },
        y: { command: 'y', envFile: 'is-not-there' },
      },
    })
    const found = read({ trust: 'ask' })
    expect(transports(found)).toEqual({ x: stdio('x'), y: stdio('y') })
    expect(found.servers.map(({ blocked }) => blocked?.reason)).toEqual(['untrusted', 'untrusted'])
    expect(found.inputs).not.toContain(join(home, 'credentials'))
    expect(transports(read())['x']).toEqual(stdio('x', { env: { SECRET: 'hidden' } }))
  })

  it('keep the spaces inside a value of a file, however many, and lose those around it', () => {
    // A megabyte of them is read in one pass; what looks at each start again never comes back.
    const spaces = ' '.repeat(300_000)
    put(join(project, 'e.env'), `A=x${spaces}x\nB = ${spaces} b ${spaces}\nC=\n`)
    put(join(project, '.vscode/mcp.json'), { servers: { x: { command: 'x', envFile: 'e.env' } } })
    const found = read()
    expect(found.servers[0]?.transport).toEqual(
      stdio('x', { env: { A: `x${spaces}x`, B: 'b', C: '' } }),
    )
  })

  it('leave the digest of a server alone', () => {
    put(join(project, '.mcp.json'), { mcpServers: { x: { command: 'x', env: { A: '${TOKEN}' } } } })
    const [one, two] = ['a', 'b'].map((TOKEN) => read({ env: { TOKEN } }).servers[0]?.digest)
    expect(one).toBe(two)
    put(join(project, '.mcp.json'), { mcpServers: { x: { command: 'x', args: ['more'] } } })
    expect(read().servers[0]?.digest).not.toBe(one)
  })
})

describe('what is broken', () => {
  it('is reported with its line, hides no other file, and is not written to', () => {
    put(join(project, '.mcp.json'), '{\n  "mcpServers": {\n    "a": { "command": "x" \n')
    put(join(project, '.codex/config.toml'), '[mcp_servers.a]\ncommand = \n')
    put(join(project, '.cursor/mcp.json'), '[]')
    put(join(home, '.cursor/mcp.json'), { mcpServers: { good: { command: 'x' } } })
    const before = readFileSync(join(project, '.mcp.json'), 'utf8')
    const found = read()
    expect(Object.keys(transports(found))).toEqual(['good'])
    expect(found.diagnostics).toMatchObject([
      { code: 'servers-syntax', severity: 'error', path: join(project, '.mcp.json'), line: 4 },
      { code: 'servers-syntax', path: join(project, '.cursor/mcp.json'), line: 1 },
      { code: 'servers-syntax', path: join(project, '.codex/config.toml'), line: 2 },
    ])
    expect(readFileSync(join(project, '.mcp.json'), 'utf8')).toBe(before)
  })

  it('in one entry hides no other', () => {
    put(
      join(home, '.cursor/mcp.json'),
      `{ "mcpServers": {
  "__proto__": { "command": "x" },
  "constructor": { "command": "x" },
  "": { "command": "x" },
  "nothing": {},
  "carrier": { "type": "pigeon" },
  "text": "x",
  "noUrl": { "type": "http", "command": "x" },
  "ftp": { "url": "ftp://example.org" },
  "odd": { "command": "x", "args": "y", "env": { "N": 1, "O": {} } },
  "good": { "command": "x" },
  "good": { "command": "y" }
} }`,
    )
    const found = read()
    expect(transports(found)).toMatchObject({ odd: stdio('x'), good: stdio('y') })
    expect(found.servers.map(({ name }) => name)).toEqual(['ftp', 'odd', 'good'])
    expect(found.diagnostics.map(({ code, line }) => [code, line])).toEqual([
      ['server-name-invalid', 2],
      ['server-name-invalid', 3],
      ['server-name-invalid', 4],
      ['server-invalid', 5],
      ['server-invalid', 6],
      ['server-invalid', 7],
      ['server-invalid', 8],
      ['server-variable', 9],
      ['server-field-invalid', 10],
      ['server-field-invalid', 10],
    ])
  })

  it('never throws, whatever a file holds', () => {
    const path = join(home, '.cursor/mcp.json')
    const toml = join(home, '.codex/config.toml')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((text) => `{"mcpServers":{"a":${text}}}`),
        ),
        (text) => {
          put(path, text)
          put(toml, text)
          const { servers } = read()
          expect(servers.every(({ name }) => name !== '__proto__')).toBe(true)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('trust', () => {
  const content = { mcpServers: { a: { command: 'x', env: { A: '${TOKEN}' } } } }

  it('is needed for what came with the project, not for what the user configured', () => {
    put(join(project, '.mcp.json'), content)
    put(join(home, '.claude.json'), { mcpServers: { mine: { command: 'y' } } })
    const found = read({ trust: 'ask', env: { TOKEN: 'secret' } })
    expect(found.servers).toMatchObject([
      { name: 'a', trusted: false, blocked: { reason: 'untrusted' } },
      { name: 'mine', trusted: true, blocked: undefined },
    ])
    expect(found.diagnostics).toMatchObject([
      { code: 'servers-untrusted', path: join(project, '.mcp.json') },
    ])
    expect(JSON.stringify(found)).not.toContain('secret')
  })

  it('keeps a project from taking the name of the user’s server', () => {
    put(join(project, '.mcp.json'), { mcpServers: { github: { command: 'evil' } } })
    put(join(home, '.cursor/mcp.json'), { mcpServers: { github: { command: 'good' } } })
    const found = read({ trust: 'ask' })
    expect(transports(found)).toEqual({ github: stdio('good') })
    expect(found.shadowed).toMatchObject([
      { reason: 'untrusted', server: { transport: stdio('evil') } },
    ])
    expect(transports(read({ trust: 'trusted' }))).toEqual({ github: stdio('evil') })
  })

  it('holds for the files as they were accepted', async () => {
    put(join(project, '.mcp.json'), content)
    put(join(project, '.cursor/mcp.json'), { mcpServers: { b: { command: 'y' } } })
    const runtime = systemRuntime({ home, env: {}, cwd: project })
    await new TrustStore(runtime).accept(project, collectActingParts(project, []))
    expect(read({ trust: 'ask' }).servers.map(({ trusted }) => trusted)).toEqual([true, true])
    put(join(project, '.mcp.json'), { mcpServers: { a: { command: 'worse' } } })
    expect(read({ trust: 'ask' }).servers).toMatchObject([
      { name: 'a', trusted: false, blocked: { reason: 'changed' } },
      { name: 'b', trusted: true },
    ])
  })
})

describe('a server that its client disabled', () => {
  it('stays off for this client, and comes from another one that has it', () => {
    put(join(project, 'opencode.json'), {
      mcp: { a: { type: 'local', command: ['x'], enabled: false } },
    })
    put(join(home, '.config/opencode/opencode.json'), {
      mcp: { a: { type: 'local', command: ['x'] } },
    })
    expect(read().servers).toMatchObject([{ disabled: true }])
    put(join(home, '.cursor/mcp.json'), { mcpServers: { a: { command: 'y' } } })
    expect(read().servers).toMatchObject([{ disabled: false, source: { client: 'cursor' } }])
  })
})
