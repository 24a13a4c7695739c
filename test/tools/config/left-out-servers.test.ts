import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { collectActingParts } from '../../../src/trust/acting-parts.ts'
import { TrustStore } from '../../../src/trust/store.ts'
import { readServerConfiguration } from '../../../src/tools/config/read-configuration.ts'
import { allowsTool } from '../../../src/tools/config/tool-rules.ts'
import type { ServerConfiguration } from '../../../src/tools/config/model.ts'

let root: string
let home: string
let project: string
let managed: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-left-out-')))
  home = join(root, 'home')
  project = join(root, 'project')
  managed = join(root, 'managed')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
})
afterEach(() => rmSync(root, { recursive: true }))

function put(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
}

function runtime() {
  return systemRuntime({ home, env: {}, platform: 'linux', cwd: project })
}

function read(trust: 'ask' | 'trusted' = 'trusted'): ServerConfiguration {
  return readServerConfiguration({ project, runtime: runtime(), trust, managedFolder: managed })
}

function startable({ servers }: ServerConfiguration): string[] {
  return servers
    .filter(({ disabled, blocked }) => !disabled && !blocked)
    .map(({ name }) => name)
    .toSorted()
}

describe('an entry that cannot be used', () => {
  const files = ['.mcp.json', '.cursor/mcp.json', '.gemini/settings.json']
  const good = { command: 'run' }
  const brokenEntries: unknown[] = [
    3,
    [],
    'run',
    {},
    { command: 'run', excludeTools: 'delete' },
    { command: 'run', disabled: 'yes' },
    { command: 'run', args: 1 },
    { command: 'run', type: 'pigeon' },
  ]

  it('stops every later entry with its name and no other server', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: files.length - 1 }),
        fc.constantFrom(...brokenEntries),
        (at, broken) => {
          for (const [index, file] of files.entries()) {
            const mcpServers = { one: index === at ? broken : good, two: good }
            put(join(project, file), { mcpServers })
          }
          // The first entry of a name takes precedence, whatever follows it.
          expect(startable(read())).toEqual(at === 0 ? ['two'] : ['one', 'two'])
        },
      ),
      { numRuns: 40 },
    )
  })

  it('stops a server of the user as well, and names the file to correct', () => {
    put(join(project, '.mcp.json'), { mcpServers: { one: { ...good, excludeTools: 1 } } })
    put(join(home, '.cursor/mcp.json'), { mcpServers: { one: good } })
    const [server] = read().servers
    expect(server?.blocked?.reason).toBe('unresolved')
    expect(server?.blocked?.hint).toContain(join(project, '.mcp.json'))
  })

  it('of a project that nobody trusted stops no server', () => {
    put(join(project, '.mcp.json'), { mcpServers: { one: 3 } })
    put(join(home, '.cursor/mcp.json'), { mcpServers: { one: good } })
    expect(startable(read('ask'))).toEqual(['one'])
  })
})

describe('a file that cannot be read', () => {
  const files = [
    [() => project, '.mcp.json'],
    [() => project, '.cursor/mcp.json'],
    [() => project, '.codex/config.toml'],
    [() => project, 'opencode.json'],
    [() => home, '.claude.json'],
    [() => home, '.cursor/mcp.json'],
    [() => home, '.qwen/settings.json'],
    [() => home, '.copilot/mcp-config.json'],
  ] as const
  const last = '.config/opencode/opencode.json'
  const texts = [
    '{"mcpServers": {"late": {"command": "run", "excludeTools": ["delete"]}',
    '[',
    '= =',
    '\0',
  ]

  it.each(files)('stops the servers of every file after it (%#)', (root, path) => {
    put(join(home, last), { mcp: { late: { type: 'local', command: ['run'] } } })
    expect(startable(read())).toEqual(['late'])
    for (const text of texts) {
      put(join(root(), path), text)
      const configuration = read()
      expect({ text, names: startable(configuration) }).toEqual({ text, names: [] })
      expect(configuration.servers.find(({ name }) => name === 'late')?.blocked).toMatchObject({
        reason: 'unresolved',
        hint: expect.stringContaining(join(root(), path)),
      })
      expect(configuration.diagnostics.map((one) => one.path)).toContain(join(root(), path))
    }
  })

  it('stops no server of a file that takes precedence over it', () => {
    put(join(project, '.mcp.json'), { mcpServers: { early: { command: 'run' } } })
    put(join(home, '.cursor/mcp.json'), '{')
    expect(startable(read())).toEqual(['early'])
  })

  it('of a project that nobody trusted stops no server', () => {
    put(join(project, '.cursor/mcp.json'), '{')
    put(join(home, last), { mcp: { late: { type: 'local', command: ['run'] } } })
    expect(startable(read('ask'))).toEqual(['late'])
  })
})

describe('the lists of the other clients', () => {
  const two = { kelp: { command: 'run' }, reef: { command: 'run' } }
  const local = { type: 'local', command: ['run'] }
  const code = '.config/Code/User'

  it.each<[string, Record<string, unknown>, string[]]>([
    ['Qwen Code', { '.qwen/settings.json': { mcpServers: two } }, ['kelp', 'reef']],
    [
      'Qwen Code',
      { '.qwen/settings.json': { mcpServers: two, mcp: { excluded: ['kelp'] } } },
      ['reef'],
    ],
    [
      'Qwen Code',
      { '.qwen/settings.json': { mcpServers: two, mcp: { allowed: ['KELP', 'reef'] } } },
      ['reef'],
    ],
    ['Copilot CLI', { '.copilot/mcp-config.json': { mcpServers: two } }, ['kelp', 'reef']],
    [
      'Copilot CLI',
      {
        '.copilot/mcp-config.json': { mcpServers: two },
        '.copilot/settings.json': { disabledMcpServers: ['kelp'] },
      },
      ['reef'],
    ],
    [
      'Copilot CLI',
      { '.copilot/mcp-config.json': { mcpServers: two }, '.copilot/settings.json': '{' },
      [],
    ],
    ['VS Code', { [`${code}/mcp.json`]: { servers: two } }, ['kelp', 'reef']],
    ...['none', 'registry', 'other', 3].map(
      (access): [string, Record<string, unknown>, string[]] => [
        'VS Code',
        {
          [`${code}/mcp.json`]: { servers: two },
          [`${code}/settings.json`]: { 'chat.mcp.access': access },
        },
        [],
      ],
    ),
  ])('select the servers of %s that start, with %j', (_, files, names) => {
    for (const [path, content] of Object.entries(files)) put(join(home, path), content)
    expect(startable(read())).toEqual(names)
  })

  it('of a project apply only to its own servers', () => {
    put(join(project, '.github/mcp.json'), { mcpServers: { kelp: { command: 'run' } } })
    put(join(home, '.copilot/mcp-config.json'), { mcpServers: { reef: { command: 'run' } } })
    put(join(project, '.github/copilot/settings.json'), { disabledMcpServers: ['kelp', 'reef'] })
    expect(startable(read())).toEqual(['reef'])
  })

  const tools = ['delete_all', 'delete_one', 'read']
  const allowed = (name: string): string[] => {
    const server = read().servers.find((one) => one.name === name)
    return server === undefined ? [] : tools.filter((tool) => allowsTool(server, tool))
  }
  it.each<[object, string[]]>([
    [{}, tools],
    [{ tools: { 'kelp_*': false } }, []],
    [{ tools: { 'kelp*': false, kelp_read: true } }, ['read']],
    [{ tools: { kelp_read: true, 'kelp*': false } }, []],
    [{ tools: { 'reef*': false } }, tools],
    [{ permission: { kelp_read: 'deny' } }, ['delete_all', 'delete_one']],
    [{ permission: 'deny' }, []],
    [
      { permission: { 'kelp_*': 'allow' }, tools: { kelp_read: false } },
      ['delete_all', 'delete_one'],
    ],
    [{ permission: { bash: { '*': 'deny' } } }, tools],
  ])('select the tools of OpenCode, with %j', (settings, names) => {
    put(join(home, '.config/opencode/opencode.json'), { mcp: { kelp: local }, ...settings })
    expect(allowed('kelp')).toEqual(names)
  })

  it.each([{ tools: { kelp_read: 'no' } }, { tools: [] }, { permission: { kelp_read: 'denied' } }])(
    'start no server of OpenCode if %j cannot be used',
    (settings) => {
      put(join(home, '.config/opencode/opencode.json'), { mcp: { kelp: local }, ...settings })
      expect(startable(read())).toEqual([])
    },
  )

  it.each<[string[], string[]]>([
    [['mcp__kelp'], []],
    [['mcp__kelp__*'], []],
    [['mcp__kel*'], []],
    [['mcp__*'], []],
    [['*'], []],
    [['mcp__kelp__read'], ['delete_all', 'delete_one']],
    [['mcp__kelp__delete_*'], ['read']],
    [['mcp__*__read'], ['delete_all', 'delete_one']],
    [['mcp__kelp__read(path:*)'], ['delete_all', 'delete_one']],
    [['MCP__KELP', 'mcp__kel', 'mcp__reef', 'Bash(rm *)'], tools],
  ])('select the tools of Claude Code and Qwen Code, with the rules %j', (deny, names) => {
    put(join(home, '.claude.json'), { mcpServers: { kelp: { command: 'run' } } })
    put(join(home, '.claude/settings.json'), { permissions: { deny } })
    expect(allowed('kelp')).toEqual(names)
    rmSync(join(home, '.claude.json'))
    put(join(home, '.qwen/settings.json'), { mcpServers: two, permissions: { deny } })
    expect(allowed('kelp')).toEqual(names)
  })

  it.each<[unknown, string[]]>([
    [undefined, tools],
    [['*'], tools],
    [['read'], ['read']],
    [[], []],
  ])('select the tools of Copilot CLI, with the list %j', (list, names) => {
    const kelp = { command: 'run', tools: list }
    put(join(home, '.copilot/mcp-config.json'), { mcpServers: { kelp } })
    expect(allowed('kelp')).toEqual(names)
  })
})

describe('restrictions that an entry has under several names', () => {
  it('all count', () => {
    const entry = {
      command: 'run',
      excludeTools: ['a'],
      disabledTools: ['b'],
      disabled_tools: ['c'],
    }
    put(join(home, '.cursor/mcp.json'), { mcpServers: { one: entry } })
    expect(read().servers[0]?.deny).toEqual(['a', 'b', 'c'])
  })

  it('disable a server if one of them does', () => {
    const entry = { command: 'run', disabled: false, enabled: false }
    put(join(home, '.cursor/mcp.json'), { mcpServers: { one: entry } })
    expect(startable(read())).toEqual([])
  })

  it.each([
    ['.codex/config.toml', '[mcp_servers.one]\ncommand = "run"\nenabled = false\n'],
    ['opencode.json', { mcp: { one: { type: 'local', command: ['run'], enabled: false } } }],
    ['opencode.json', { mcp: { servers: { one: { command: ['run'], disabled: true } } } }],
    ['.cursor/mcp.json', { mcpServers: { one: { command: 'run', disabled: true } } }],
  ])('are read in %s', (path, content) => {
    put(join(project, path), content)
    expect(startable(read())).toEqual([])
  })
})

describe('the servers that Claude Code leaves out', () => {
  const shared = '.claude/settings.json'
  const local = '.claude/settings.local.json'

  beforeEach(() => {
    put(join(project, '.mcp.json'), {
      mcpServers: { shared: { command: 'run', args: ['x'] }, web: { url: 'https://a.test/mcp' } },
    })
    put(join(home, '.claude.json'), { mcpServers: { mine: { command: 'own' } } })
    put(join(home, '.cursor/mcp.json'), { mcpServers: { other: { command: 'other' } } })
  })

  const every = ['mine', 'other', 'shared', 'web']
  const without = (...names: string[]) => every.filter((name) => !names.includes(name))

  it.each<[string, object, string[]]>([
    [shared, {}, every],
    [shared, { disabledMcpjsonServers: ['shared', 'mine', 'other'] }, without('shared')],
    [local, { disabledMcpjsonServers: ['web'] }, without('web')],
    [local, { enableAllProjectMcpServers: true, disabledMcpjsonServers: ['web'] }, without('web')],
    [local, { enabledMcpjsonServers: ['web'] }, every],
    [local, { deniedMcpServers: [{ serverName: 'mine' }] }, without('mine')],
    [shared, { deniedMcpServers: [{ serverName: 'mine' }, { serverName: 'web' }] }, without('web')],
    [local, { deniedMcpServers: [{ serverCommand: ['run', 'x'] }] }, without('shared')],
    [local, { deniedMcpServers: [{ serverCommand: ['run'] }] }, every],
    [local, { deniedMcpServers: [{ serverUrl: 'https://*.test/*' }] }, without('web')],
    [local, { allowedMcpServers: [] }, ['other']],
    [local, { allowedMcpServers: [{ serverName: 'web' }] }, ['other', 'web']],
    [
      local,
      { allowedMcpServers: [{ serverName: 'shared' }, { serverCommand: ['own'] }] },
      ['mine', 'other'],
    ],
    [local, { deniedMcpServers: 'mine' }, ['other']],
    [local, { deniedMcpServers: [{ name: 'mine' }] }, ['other']],
    [shared, { deniedMcpServers: 3 }, ['mine', 'other']],
  ])('are those of %s with %j', (path, settings, names) => {
    put(join(project, path), settings)
    expect(startable(read())).toEqual(names)
  })

  it('are all of its servers if the settings of the user are not JSON', () => {
    put(join(home, shared), '{"deniedMcpServers": [')
    const configuration = read()
    expect(startable(configuration)).toEqual(['other'])
    expect(configuration.diagnostics.map(({ code }) => code)).toContain('servers-invalid')
  })

  it('are those that its own file disables for this project', () => {
    const projects = { [project]: { disabledMcpServers: ['mine', 'web'] } }
    put(join(home, '.claude.json'), { mcpServers: { mine: { command: 'own' } }, projects })
    expect(startable(read())).toEqual(['other', 'shared'])
  })

  it('are those that administrators deny, or that their allowlist does not name', () => {
    put(join(managed, 'managed-settings.json'), { deniedMcpServers: [{ serverName: 'web' }] })
    expect(startable(read())).toEqual(without('web'))
    put(join(managed, 'managed-settings.d/a.json'), {
      allowManagedMcpServersOnly: true,
      allowedMcpServers: [{ serverName: 'mine' }],
    })
    put(join(project, local), { allowedMcpServers: [{ serverName: 'shared' }] })
    expect(startable(read())).toEqual(['mine', 'other'])
  })

  it('are all others if administrators deploy a fixed set', () => {
    put(join(managed, 'managed-mcp.json'), { mcpServers: {} })
    expect(startable(read())).toEqual(['other'])
  })
})

describe('lists of servers in a trusted project', () => {
  const accept = async (): Promise<void> => {
    const parts = collectActingParts(project, [])
    await new TrustStore(runtime()).accept(project, parts, { pinned: false })
  }

  it.each([
    ['.gemini/settings.json', { mcp: { excluded: ['one'] } }],
    ['.gemini/settings.json', { mcp: { allowed: [] } }],
    ['.gemini/settings.json', { excludeMCPServers: ['one'] }],
    ['.claude/settings.json', { disabledMcpjsonServers: ['one'] }],
    ['.claude/settings.local.json', { deniedMcpServers: [{ serverName: 'one' }] }],
    ['.claude/settings.json', { allowedMcpServers: [] }],
  ])('start no additional server when they are removed from %s: %j', async (path, lists) => {
    const isClaude = path.startsWith('.claude')
    const mcpServers = { one: { command: 'run' } }
    put(join(project, isClaude ? '.mcp.json' : path), { mcpServers, ...(isClaude ? {} : lists) })
    if (isClaude) put(join(project, path), lists)
    await accept()
    expect(startable(read('ask'))).toEqual([])
    put(join(project, path), isClaude ? {} : { mcpServers })
    const configuration = read('ask')
    expect(configuration.servers[0]?.blocked?.reason).toBe('changed')
    await accept()
    expect(startable(read('ask'))).toEqual(['one'])
  })
})
