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

describe('a configuration file that begins with a byte-order mark', () => {
  const server = { command: 'run' }
  it.each([
    ['.mcp.json', { mcpServers: { one: server } }],
    ['.cursor/mcp.json', { mcpServers: { one: server } }],
    ['.vscode/mcp.json', { servers: { one: server } }],
    ['.gemini/settings.json', { mcpServers: { one: server } }],
    ['.codex/config.toml', '[mcp_servers.one]\ncommand = "run"\n'],
    ['opencode.jsonc', { mcp: { one: { type: 'local', command: ['run'] } } }],
  ])('is read without it: %s', (path, content) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    put(join(project, path), `\ufeff${text}`)
    const { servers, diagnostics } = read()
    expect(diagnostics).toEqual([])
    expect(servers.map(({ name }) => name)).toEqual(['one'])
  })

  it('does not change the first variable of an envFile', () => {
    put(join(project, 'one.env'), '\ufeffFIRST=1\nSECOND=2\n')
    put(join(project, '.cursor/mcp.json'), {
      mcpServers: { one: { command: 'run', envFile: 'one.env' } },
    })
    expect(transports(read())['one']).toMatchObject({ env: { FIRST: '1', SECOND: '2' } })
  })
})

describe('a field of a server with a wrong value', () => {
  it.each([
    ['args', 'text'],
    ['args', [{}]],
    ['command', 5],
    ['env', ['A=1']],
    ['cwd', 5],
    ['headers', 'A: b'],
    ['disabled', 'true'],
    ['enabled', 0],
    ['includeTools', 'read'],
    ['excludeTools', 'write'],
    ['disabledTools', 'write'],
  ])('is an error of that server, which is not started: %s %j', (field, value) => {
    const wrong = { command: 'run', [field]: value }
    put(join(home, '.cursor/mcp.json'), { mcpServers: { wrong, right: { command: 'run' } } })
    const { servers, diagnostics } = read()
    expect(servers.map(({ name }) => name)).toEqual(['right'])
    expect(diagnostics).toMatchObject([{ code: 'server-invalid', severity: 'error', line: 1 }])
    expect(diagnostics[0]?.message).toContain(`"${field}"`)
  })

  it('is only a warning when it limits a time', () => {
    put(join(home, '.gemini/settings.json'), {
      mcpServers: { one: { command: 'run', timeout: 'x' } },
    })
    const { servers, diagnostics } = read()
    expect(servers).toHaveLength(1)
    expect(diagnostics).toMatchObject([{ code: 'server-field-invalid', severity: 'warning' }])
  })
})

describe('a variable in the form of another client', () => {
  it.each([
    ['.mcp.json', 'mcpServers', '${env:V}', 'Write ${NAME}.'],
    ['.gemini/settings.json', 'mcpServers', '${env:V}', 'Write $NAME or ${NAME}.'],
    ['.gemini/settings.json', 'mcpServers', '{env:V}', 'Write $NAME or ${NAME}.'],
    ['.cursor/mcp.json', 'mcpServers', '{env:V}', 'Write ${env:NAME}.'],
    ['opencode.json', 'mcp', '${env:V}', 'Write {env:NAME}.'],
  ])('is a warning: %s %s %s', (path, group, form, hint) => {
    put(join(project, path), { [group]: { one: { command: ['run', `--key=${form}`] } } })
    const { servers, diagnostics } = read({ env: { V: 'secret' } })
    expect(servers).toHaveLength(1)
    const [found] = diagnostics
    expect(found).toMatchObject({ code: 'server-variable', severity: 'warning', hint })
    expect(found?.message).toContain(form)
  })

  it('is detected in addresses, headers and variables too', () => {
    const http = { type: 'http', url: 'https://x.example/${env:A}', headers: { K: '${input:b}' } }
    put(join(project, '.mcp.json'), {
      mcpServers: { http, stdio: { command: 'run', env: { K: '${env:C}' } } },
    })
    const forms = read().diagnostics.map(({ message }) => /\$\{\w+:\w\}/.exec(message)?.[0])
    expect(forms).toEqual(['${env:A}', '${input:b}', '${env:C}'])
  })

  it('is not reported in JSON, or in the form that the client supports', () => {
    const args = ['{"env": {"a": "b"}}', '${env:V}', 'a {x} b']
    put(join(project, '.cursor/mcp.json'), { mcpServers: { one: { command: 'run', args } } })
    expect(read({ env: { V: '1' } }).diagnostics).toEqual([])
  })
})

describe('the servers that Gemini CLI leaves out', () => {
  const server = { command: 'run' }
  const live = (found: ServerConfiguration): string[] =>
    found.servers.flatMap(({ name, disabled }) => (disabled ? [] : [name])).toSorted()
  const user = (more: object): void =>
    put(join(home, '.gemini/settings.json'), { mcpServers: { a: server, b: server }, ...more })
  const ofProject = (more: object): void =>
    put(join(project, '.gemini/settings.json'), { mcpServers: { c: server }, ...more })

  it.each([
    [{}, ['a', 'b', 'c']],
    [{ mcp: { excluded: ['A'] } }, ['b', 'c']],
    [{ mcp: { excluded: ['c'] } }, ['a', 'b']],
    [{ excludeMCPServers: ['a'] }, ['b', 'c']],
    [{ mcp: { allowed: ['b'] } }, ['b']],
    [{ mcp: { allowed: ['a', 'b'], excluded: ['b'] } }, ['a']],
    [{ mcp: { allowed: [] } }, []],
    [{ mcp: { excluded: 'a' } }, []],
    [{ mcp: 'a' }, []],
  ])('are those of the user’s lists %j', (more, names) => {
    ofProject({})
    user(more)
    expect(live(read())).toEqual(names)
  })

  it('are those of a project’s lists in its own file', () => {
    user({})
    ofProject({ mcp: { excluded: ['a', 'c'] } })
    expect(live(read())).toEqual(['a', 'b'])
    put(join(project, '.gemini/settings.json'), '{')
    expect(live(read())).toEqual(['a', 'b'])
  })

  it('are all if the user’s file cannot be read, and no server of another client', () => {
    ofProject({})
    put(join(home, '.gemini/settings.json'), '{')
    put(join(home, '.cursor/mcp.json'), { mcpServers: { d: server } })
    expect(live(read())).toEqual(['d'])
  })
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
  ])('is left out with a diagnostic: %s %j', (command, args) => {
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
  ])('is not confused with a similar entry: %s %j', (command, args) => {
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
  ] as const)('reads %s in the %s as a file of %s', (name, scope, client, content) => {
    const path = join(scope === 'project' ? project : home, name)
    put(path, content)
    const configuration = read()
    expect(configuration.diagnostics).toEqual([])
    expect(configuration.servers).toMatchObject([
      {
        name: 'a',
        transport: stdio('x'),
        source: { client, path, scope },
        trusted: true,
        disabled: false,
      },
    ])
  })

  it('reads the servers that Claude Code has for this project alone, before the project’s own file', () => {
    put(join(home, '.claude.json'), {
      mcpServers: { a: { command: 'global' } },
      projects: {
        [project]: { mcpServers: { a: { command: 'local' } } },
        '/other': { mcpServers: { b: { command: 'x' } } },
      },
    })
    put(join(project, '.mcp.json'), { mcpServers: { a: { command: 'shared' } } })
    const configuration = read()
    expect(transports(configuration)).toEqual({ a: stdio('local') })
    expect(configuration.shadowed.map(({ server, reason }) => [server.transport, reason])).toEqual([
      [stdio('shared'), 'earlier'],
      [stdio('global'), 'earlier'],
    ])
  })

  it('rounds any time limit to whole milliseconds, as timers require', () => {
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
    const configuration = read({ env: { WEB_TOKEN: 'abc', USER_NAME: 'me', PASSED: 'on' } })
    expect(configuration.servers).toMatchObject([
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
    expect(configuration.diagnostics).toMatchObject([
      { code: 'server-variable', line: 1, message: expect.stringContaining('NOT_SET') },
    ])
  })

  it('reads the transports, limits and lists of the other clients', () => {
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
    ['.gemini/settings.json', 'pa$unset-$1', 'pa$unset-$1', 1],
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
    const configuration = read({ env })
    const wanted = expected.replace('HOME', home).replace('PROJECT', project)
    expect(transports(configuration)).toEqual({ x: stdio('x', { env: { A: wanted } }) })
    expect(configuration.diagnostics.map(({ code, severity }) => [code, severity])).toEqual(
      Array.from({ length: warnings }, () => ['server-variable', 'warning']),
    )
  })

  it.each([
    ['.mcp.json', '${UNSET}'],
    ['.mcp.json', 'Bearer ${unset}'],
    ['.gemini/settings.json', 'Bearer $UNSET'],
    ['.qwen/settings.json', '${unset}'],
  ])('of %s without a value keep the server of %s from starting, and are named', (file, text) => {
    put(join(project, file), { mcpServers: { x: { command: 'x', env: { A: text } } } })
    const { servers, diagnostics } = read({ env })
    const message = /the variable unset is not set/i
    expect(servers).toMatchObject([
      { name: 'x', blocked: { reason: 'unresolved', message: expect.stringMatching(message) } },
    ])
    expect(diagnostics).toMatchObject([
      { code: 'server-variable', severity: 'error', hint: expect.stringContaining(':-VALUE}') },
    ])
  })

  it('of VS Code refer to inputs, which a variable or their default provides', () => {
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
    const configuration = read()
    expect(transports(configuration)['x']).toMatchObject({
      headers: { Authorization: 'Bearer secret' },
    })
    expect(configuration.servers[1]?.blocked?.reason).toBe('unresolved')
    expect(configuration.inputs).toContain(join(home, '.config/opencode/token'))
  })

  it('can come from the file that an editor names', () => {
    put(join(project, '.env'), '# ours\nexport A=1\nB="two words"\n')
    put(join(project, '.vscode/mcp.json'), {
      servers: { x: { command: 'x', envFile: '${workspaceFolder}/.env', env: { A: '2' } } },
    })
    expect(transports(read())['x']).toEqual(stdio('x', { env: { A: '2', B: 'two words' } }))
  })

  it('are not read from an envFile if they change what programs load', () => {
    const names = ['HTTPS_PROXY', 'LD_PRELOAD', 'NODE_OPTIONS', 'PATH', 'npm_config_registry']
    put(join(project, 'e.env'), `${names.map((name) => `${name}=x`).join('\n')}\nAPI_KEY=1\n`)
    put(join(project, '.vscode/mcp.json'), { servers: { x: { command: 'x', envFile: 'e.env' } } })
    const configuration = read()
    expect(transports(configuration)['x']).toEqual(stdio('x', { env: { API_KEY: '1' } }))
    expect(configuration.diagnostics.map(({ message }) => message).join()).toContain(
      names.join(', '),
    )
  })

  it('are not read from a file for a server that nobody trusts', () => {
    put(join(home, 'credentials'), 'SECRET=hidden\n')
    put(join(project, '.vscode/mcp.json'), {
      servers: {
        x: { command: 'x', envFile: '~/credentials' },
        y: { command: 'y', envFile: 'is-not-there' },
      },
    })
    const configuration = read({ trust: 'ask' })
    expect(transports(configuration)).toEqual({ x: stdio('x'), y: stdio('y') })
    expect(configuration.servers.map(({ blocked }) => blocked?.reason)).toEqual([
      'untrusted',
      'untrusted',
    ])
    expect(configuration.inputs).not.toContain(join(home, 'credentials'))
    expect(transports(read())['x']).toEqual(stdio('x', { env: { SECRET: 'hidden' } }))
  })

  it('keep the spaces inside a value of a file, and lose those around it', () => {
    // A megabyte of them is read in one pass; what looks at each start again never comes back.
    const spaces = ' '.repeat(300_000)
    put(join(project, 'e.env'), `A=x${spaces}x\nB = ${spaces} b ${spaces}\nC=\n`)
    put(join(project, '.vscode/mcp.json'), { servers: { x: { command: 'x', envFile: 'e.env' } } })
    const configuration = read()
    expect(configuration.servers[0]?.transport).toEqual(
      stdio('x', { env: { A: `x${spaces}x`, B: 'b', C: '' } }),
    )
  })

  it('do not change the digest of a server', () => {
    put(join(project, '.mcp.json'), { mcpServers: { x: { command: 'x', env: { A: '${TOKEN}' } } } })
    const [one, two] = ['a', 'b'].map((TOKEN) => read({ env: { TOKEN } }).servers[0]?.digest)
    expect(one).toBe(two)
    put(join(project, '.mcp.json'), { mcpServers: { x: { command: 'x', args: ['more'] } } })
    expect(read().servers[0]?.digest).not.toBe(one)
  })
})

describe('an invalid configuration', () => {
  it('is reported with its line, hides no other file, and is not changed', () => {
    put(join(project, '.mcp.json'), '{\n  "mcpServers": {\n    "a": { "command": "x" \n')
    put(join(project, '.codex/config.toml'), '[mcp_servers.a]\ncommand = \n')
    put(join(project, '.cursor/mcp.json'), '[]')
    put(join(home, '.cursor/mcp.json'), { mcpServers: { good: { command: 'x' } } })
    const before = readFileSync(join(project, '.mcp.json'), 'utf8')
    const configuration = read()
    expect(Object.keys(transports(configuration))).toEqual(['good'])
    expect(configuration.diagnostics).toMatchObject([
      { code: 'servers-syntax', severity: 'error', path: join(project, '.mcp.json'), line: 4 },
      { code: 'servers-syntax', path: join(project, '.cursor/mcp.json'), line: 1 },
      { code: 'servers-syntax', path: join(project, '.codex/config.toml'), line: 2 },
    ])
    expect(readFileSync(join(project, '.mcp.json'), 'utf8')).toBe(before)
  })

  it('in one entry hides no other entry', () => {
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
    const configuration = read()
    expect(transports(configuration)).toMatchObject({ good: stdio('y') })
    expect(configuration.servers.map(({ name }) => name)).toEqual(['ftp', 'good'])
    expect(configuration.diagnostics.map(({ code, line }) => [code, line])).toEqual([
      ['server-name-invalid', 2],
      ['server-name-invalid', 3],
      ['server-name-invalid', 4],
      ['server-invalid', 5],
      ['server-invalid', 6],
      ['server-invalid', 7],
      ['server-invalid', 8],
      ['server-variable', 9],
      ['server-invalid', 10],
    ])
  })

  it('never throws for any file', () => {
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

  it('is needed for the servers of the project, not for those that the user configured', () => {
    put(join(project, '.mcp.json'), content)
    put(join(home, '.claude.json'), { mcpServers: { mine: { command: 'y' } } })
    const configuration = read({ trust: 'ask', env: { TOKEN: 'secret' } })
    expect(configuration.servers).toMatchObject([
      { name: 'a', trusted: false, blocked: { reason: 'untrusted' } },
      { name: 'mine', trusted: true, blocked: undefined },
    ])
    expect(configuration.diagnostics).toMatchObject([
      { code: 'servers-untrusted', path: join(project, '.mcp.json') },
    ])
    expect(JSON.stringify(configuration)).not.toContain('secret')
  })

  it('prevents a project from using the name of the user’s server', () => {
    put(join(project, '.mcp.json'), { mcpServers: { github: { command: 'evil' } } })
    put(join(home, '.cursor/mcp.json'), { mcpServers: { github: { command: 'good' } } })
    const configuration = read({ trust: 'ask' })
    expect(transports(configuration)).toEqual({ github: stdio('good') })
    expect(configuration.shadowed).toMatchObject([
      { reason: 'untrusted', server: { transport: stdio('evil') } },
    ])
    expect(transports(read({ trust: 'trusted' }))).toEqual({ github: stdio('evil') })
  })

  it('applies to the files as they were accepted', async () => {
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
  it('stays disabled for this client, and starts from another client that has it', () => {
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
