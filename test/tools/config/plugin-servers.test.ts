import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { collectActingParts } from '../../../src/trust/acting-parts.ts'
import { TrustStore } from '../../../src/trust/store.ts'
import {
  checkPlugin,
  readServerConfiguration,
} from '../../../src/tools/config/read-configuration.ts'
import { type Fixture, fixture } from '../../library/_fixture.ts'
import { openServers } from '../../../src/tools/server/pool.ts'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { newMarker, serverProgram } from '../server/_servers.ts'

const schemaOf = (name: string): string =>
  `https://agent-plugins.org/schemas/1.0.0/${name}.schema.json`
const officialSchema = new URL('../../fixtures/agent-plugins/mcp.schema.json', import.meta.url)
const official = new Ajv2020({ strict: false }).compile(
  JSON.parse(readFileSync(fileURLToPath(officialSchema), 'utf8')),
)
const place = 'home/.agents/plugins/one'

function plugin(mcpServers: object, more: object = {}, at = fixture()): Fixture {
  const servers = { $schema: schemaOf('mcp'), mcpServers, ...more }
  at.write({
    [`${place}/plugin.json`]: JSON.stringify({ $schema: schemaOf('plugin'), name: 'one' }),
    [`${place}/mcp.json`]: JSON.stringify(servers, undefined, 1),
  })
  return at
}

function read({ project, runtime }: Fixture) {
  return readServerConfiguration({ project, runtime })
}

const program = { type: 'stdio', command: 'node' }

describe('servers of a plugin', () => {
  it('are accepted one by one, exactly where the official schema accepts them', () => {
    const at = fixture()
    const text = fc.constantFrom('node', '', './server', 1, null)
    const entry = fc.record(
      {
        type: fc.constantFrom('stdio', 'streamable-http', 'sse', 'http', 1),
        command: text,
        args: fc.oneof(fc.array(text, { maxLength: 2 }), text),
        env: fc.oneof(fc.dictionary(fc.constantFrom('A', 'PLUGIN_ROOT'), text), text),
        cwd: fc.constantFrom('./', './x', '${PLUGIN_ROOT}', '${PLUGIN_DATA}/x', '/', 'x', 1),
        url: fc.constantFrom('https://example.org/mcp', '', 1),
        headers: fc.oneof(fc.dictionary(fc.constantFrom('A', 'B'), text), text),
        other: text,
      },
      { requiredKeys: ['type'], noNullPrototype: true },
    )
    fc.assert(
      fc.property(entry, (value) => {
        plugin({ good: program, value }, {}, at)
        const isValid = official({ $schema: schemaOf('mcp'), mcpServers: { value } })
        const names = read(at).servers.map(({ name }) => name)
        expect(names).toEqual(isValid ? ['good', 'value'] : ['good'])
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    [{ $schema: schemaOf('mcp').replace('1.0.0', '1.1.0') }, '$schema'],
    [{ other: 1 }, '"other" is not a field'],
    [{ mcpServers: [] }, 'mcpServers must be an object'],
  ])('do not exist if the file has %j, and the skills stay', (more, message) => {
    const at = plugin({ good: program }, more)
    at.skill(`${place}/skills/deploy`)
    const { servers, diagnostics } = read(at)
    expect(servers).toEqual([])
    expect(diagnostics).toMatchObject([
      { code: 'servers-invalid', message: expect.stringContaining(message) },
    ])
  })

  it.each(['{ "a": 1, }', '// x\n{}', ''])('do not exist if the file is not JSON: %j', (text) => {
    const at = plugin({})
    at.write({ [`${place}/mcp.json`]: text })
    expect(read(at).diagnostics.map(({ code }) => code)).toEqual(['servers-syntax'])
  })

  it('do not exist if the file is a folder or a link to the outside', () => {
    const at = plugin({})
    at.write({
      'home/.agents/plugins/two/plugin.json': JSON.stringify({
        $schema: schemaOf('plugin'),
        name: 'two',
      }),
    })
    mkdirSync(join(at.root, 'home/.agents/plugins/two/mcp.json'))
    at.write({
      'home/.agents/plugins/three/plugin.json': JSON.stringify({
        $schema: schemaOf('plugin'),
        name: 'three',
      }),
    })
    symlinkSync(join(at.root, place, 'mcp.json'), join(at.home, '.agents/plugins/three/mcp.json'))
    expect(read(at).diagnostics.map(({ code }) => code)).toEqual(
      Array(2).fill('plugin-component-invalid'),
    )
  })

  it.each([
    [{ command: '../server' }, 'command'],
    [{ command: 'tools/server' }, 'command'],
    [{ command: '/bin/server' }, 'command'],
    [{ command: 'node server.js' }, 'command'],
    [{ command: './outside/server' }, 'command'],
    [{ command: '${PLUGIN_ROOT}/server' }, 'command'],
    [{ cwd: '../' }, 'cwd'],
    [{ cwd: './outside' }, 'cwd'],
    [{ cwd: '${PLUGIN_DATA}/../x' }, 'cwd'],
    [{ env: { plugin_root: 'x' } }, 'env'],
  ])('are left out with %j', (fields, key) => {
    const at = plugin({ bad: { ...program, ...fields }, good: program })
    mkdirSync(join(at.root, 'away'))
    symlinkSync(join(at.root, 'away'), join(at.root, place, 'outside'))
    const { servers, diagnostics } = read(at)
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    expect(diagnostics).toMatchObject([
      { code: 'server-invalid', message: expect.stringContaining(`its ${key}`) },
    ])
  })

  it.each([
    ['http://example.org/mcp', {}, false],
    ['https://user:word@example.org/', {}, false],
    ['https://example.org/#x', {}, false],
    ['ftp://example.org/', {}, false],
    ['/mcp', {}, false],
    ['https://example.org/', { A: '1', a: '2' }, false],
    ['https://example.org/', { 'not a name': '1' }, false],
    ['https://example.org/', { A: 'two\nlines' }, false],
    ['http://127.0.0.2:80/mcp', {}, true],
    ['http://localhost/mcp', {}, true],
    ['http://[::1]/mcp', {}, true],
    ['https://example.org/${PLUGIN_ROOT}', { A: '${PLUGIN_DATA}' }, true],
  ])('at %s with %j may be used: %s', (url, headers, isValid) => {
    const [server] = read(plugin({ one: { type: 'sse', url, headers } })).servers
    expect(server?.transport).toEqual(isValid ? { kind: 'sse', url, headers } : undefined)
  })

  it('start in the plugin, with its folders, in an environment that contains both', async () => {
    const marker = newMarker()
    const words = ['--disable-warning=ExperimentalWarning', serverProgram, marker]
    const env = { A: '${PLUGIN_ROOT}/a ${HOME}', B: '${PLUGIN_DATA}' }
    const cwd = '${PLUGIN_DATA}/work'
    const at = plugin({
      plain: { type: 'stdio', command: './server', args: words, env },
      other: { type: 'stdio', command: './server', args: words, cwd },
    })
    const start = `#!/bin/sh\nexec ${process.execPath} "$@"\n`
    writeFileSync(join(at.root, place, 'server'), start, { mode: 0o755 })
    const { servers } = read(at)
    const runtime = systemRuntime({ ...at.runtime, env: { PATH: process.env['PATH'] } })
    const pool = openServers(servers, { runtime })
    const environmentOf = async (name: string): Promise<string> => {
      const server = await pool.get(name)
      return JSON.stringify(await server.call('environment', {}))
    }
    try {
      const [plain, other] = [await environmentOf('plain'), await environmentOf('other')]
      const root = join(at.root, place)
      const data = /PLUGIN_DATA\\*":\\*"([^"\\]+)/.exec(plain)?.[1] ?? ''
      expect(data).toContain(join(at.home, '.local/share/skillrail/plugins/one-'))
      expect(plain).toContain(`${root}/a \${HOME}`)
      for (const [text, directory] of [
        [plain, root],
        [other, `${data}/work`],
      ] as const) {
        expect(text).toMatch(new RegExp(`cwd\\\\*":\\\\*"${directory}\\\\*"`))
        expect(text).toMatch(new RegExp(`PLUGIN_ROOT\\\\*":\\\\*"${root}\\\\*"`))
      }
    } finally {
      await pool.close()
    }
  })

  it('send their headers to no other address', async () => {
    const reached: string[] = []
    const listen = async (answer: (address: string) => string | undefined) => {
      const server = createServer((request, response) => {
        reached.push([request.headers.host, request.headers['x-key']].join(' '))
        const location = answer(request.url ?? '')
        response
          .writeHead(location === undefined ? 404 : 307, location === undefined ? {} : { location })
          .end()
      })
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
      onTestFinished(() => void server.close())
      const address = server.address()
      return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    }
    const other = await listen(() => undefined)
    const first = await listen(() => `http://${other}/mcp`)
    const entry = { url: `http://${first}/mcp`, headers: { 'X-Key': 'mine' } }
    const at = plugin({ one: { type: 'streamable-http', ...entry } })
    const pool = openServers(read(at).servers, { runtime: at.runtime })
    await expect(pool.get('one')).rejects.toThrow('cannot be used')
    await pool.close()
    expect(reached).toContain(`${first} mine`)
    expect(reached.filter((one) => one.startsWith(other))).toEqual([])
  })

  it('of a project start once it is trusted, until their program changes', async () => {
    const at = fixture()
    const pluginPath = 'project/.agents/plugins/one'
    at.write({
      [`${pluginPath}/plugin.json`]: JSON.stringify({ $schema: schemaOf('plugin'), name: 'one' }),
      [`${pluginPath}/mcp.json`]: JSON.stringify({
        $schema: schemaOf('mcp'),
        mcpServers: { a: { ...program, args: ['${PLUGIN_ROOT}/server.js'] } },
      }),
      [`${pluginPath}/server.js`]: '1',
    })
    expect(read(at).servers[0]?.blocked?.reason).toBe('untrusted')
    const { runtime, project } = at
    await new TrustStore(runtime).accept(project, collectActingParts(project, []))
    expect(read(at).servers[0]?.blocked).toBeUndefined()
    at.write({ [`${pluginPath}/server.js`]: '2' })
    expect(read(at).servers[0]?.blocked?.reason).toBe('changed')
  })
})

describe('the check of a plugin', () => {
  const checkCodes = (at: Fixture) =>
    checkPlugin(join(at.root, place), at.runtime).diagnostics.map(({ code, line }) => [code, line])

  it('reports no problem in a valid plugin', () => {
    const at = plugin({ a: program })
    at.skill(`${place}/skills/deploy`)
    expect(checkCodes(at)).toEqual([])
  })

  it('names the line of an invalid server, and reports a secret', () => {
    const headers = { Key: ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_') }
    const at = plugin({
      a: { type: 'stdio' },
      b: { type: 'sse', url: 'https://example.org/', headers },
    })
    expect(checkCodes(at)).toEqual([
      ['server-invalid', 4],
      ['plugin-secret', undefined],
    ])
  })

  it('reports a field that clients ignore as an error', () => {
    const at = plugin({})
    at.write({
      [`${place}/plugin.json`]: JSON.stringify({ $schema: schemaOf('plugin'), name: 'one', x: 1 }),
    })
    expect(checkCodes(at)).toEqual([['plugin-field-ignored', undefined]])
  })
})
