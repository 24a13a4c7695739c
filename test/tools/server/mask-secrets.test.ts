import { afterEach, describe, expect, it } from 'vitest'
import { systemRuntime } from '../../../src/base/index.ts'
import { openServers, type ServerPool } from '../../../src/tools/server/pool.ts'
import { serverMask } from '../../../src/tools/server/mask-secrets.ts'
import { definition } from './_servers.ts'

const key = ['correct', 'horse', 'battery'].join(' ')
const password = ['tr', 'oub4dor'].join('')

describe('the mask of a server', () => {
  it.each([
    [
      'a variable with the name of a secret',
      { MY_API_KEY: key },
      `with ${key}.`,
      'with [redacted].',
    ],
    ['a short name of one', { DB_PASS: password }, `no ${password}`, 'no [redacted]'],
    [
      'the password of an address',
      { DATABASE_URL: `postgresql://bob:${password}@db/prod` },
      `bob may not use ${password}`,
      'bob may not use [redacted]',
    ],
    ['no other variable', { LEVEL: 'debug level' }, 'debug level', 'debug level'],
    ['no word that is too short', { A_TOKEN: 'abc' }, 'abcdef', 'abcdef'],
    ['an empty one', { A_TOKEN: '' }, 'abc', 'abc'],
    ['as JSON writes it', { A_TOKEN: 'one"two\n' }, '{"at":"one\\"two"}', '{"at":"[redacted]"}'],
    ['what only looks like one', {}, `password=${password}`, 'password=[redacted]'],
    [
      'a secret that begins as another',
      { A_TOKEN: 'abcdef', B_TOKEN: 'abcdefghi' },
      'abcdefghi abcdef',
      '[redacted] [redacted]',
    ],
  ])('knows %s', (_, env, text, masked) => {
    expect(serverMask({ kind: 'stdio', command: 'x', args: [], env })(text)).toBe(masked)
  })

  it('knows headers, what stands behind their scheme, and the query of the address', () => {
    const headers = { Authorization: `Bearer ${key}`, 'X-Team': 'blue team' }
    const url = `https://mcp.example/?api_key=${password}`
    const mask = serverMask({ kind: 'http', url, headers })
    expect(mask(`blue team: ${key} or ${password}`)).toBe('blue team: [redacted] or [redacted]')
  })
})

describe('a server that says its secret', () => {
  let pool: ServerPool | undefined
  afterEach(async () => await pool?.close())

  const failing = async (script: string): Promise<string> => {
    const env = { MY_API_KEY: key }
    const events: string[] = []
    pool = openServers(
      [definition('a', { kind: 'stdio', command: 'sh', args: ['-c', script], env })],
      { runtime: systemRuntime(), onLog: ({ message }) => events.push(message) },
    )
    const { failures } = await pool.list()
    const states = JSON.stringify(failures)
    const error: unknown = await pool.get('a').catch((thrown: unknown) => thrown)
    return `${states} ${JSON.stringify(error)} ${String(error)} ${events.join(' ')}`
  }

  it.each([
    ['on standard error', 'echo "connecting with $MY_API_KEY" >&2; exit 3'],
    ['on standard output', 'echo "connecting with $MY_API_KEY"; exit 3'],
    [
      'where the part that is kept begins',
      'i=0; while [ $i -lt 1500 ]; do printf "%s" "$MY_API_KEY"; i=$((i+1)); done >&2; exit 3',
    ],
    [
      'as the error of its protocol',
      'read line; printf \'{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"no: %s"}}\\n\' "$MY_API_KEY"; sleep 1',
    ],
  ])('has it masked %s', async (_, script) => {
    const said = await failing(script)
    expect(said).toContain('[redacted]')
    for (const word of [key, 'horse']) expect(said).not.toContain(word)
  })
})
