import { afterEach, describe, expect, it } from 'vitest'
import type { ToolOutcome, ToolProgress } from '../../../src/tools/model.ts'
import { openServers, type ServerPool } from '../../../src/tools/server/pool.ts'
import { serverMask } from '../../../src/tools/server/read-answers.ts'
import { definition, emptyRuntime } from './_servers.ts'

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
  ])('contains %s', (_, env, text, masked) => {
    expect(serverMask({ kind: 'stdio', command: 'x', args: [], env })(text)).toBe(masked)
  })

  it('contains headers, the value after their scheme, and the query of the address', () => {
    const headers = { Authorization: `Bearer ${key}`, 'X-Team': 'blue team' }
    const url = `https://mcp.example/?api_key=${password}`
    const mask = serverMask({ kind: 'http', url, headers })
    expect(mask(`blue team: ${key} or ${password}`)).toBe('blue team: [redacted] or [redacted]')
  })
})

describe('a server that prints its secret', () => {
  let pool: ServerPool | undefined
  afterEach(async () => await pool?.close())

  const failing = async (script: string): Promise<string> => {
    const env = { MY_API_KEY: key }
    const events: string[] = []
    pool = openServers(
      [definition('a', { kind: 'stdio', command: 'sh', args: ['-c', script], env })],
      { runtime: emptyRuntime(), onLog: (message) => events.push(message) },
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
      'at the beginning of the kept part',
      'i=0; while [ $i -lt 1500 ]; do printf "%s" "$MY_API_KEY"; i=$((i+1)); done >&2; exit 3',
    ],
    [
      'as the error of its protocol',
      'read line; printf \'{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"no: %s"}}\\n\' "$MY_API_KEY"; sleep 1',
    ],
  ])('has its secret masked %s', async (_, script) => {
    const errorText = await failing(script)
    expect(errorText).toContain('[redacted]')
    for (const word of [key, 'horse']) expect(errorText).not.toContain(word)
  })
})

/** Answers as each word says, with its variable in every text; a call brings progress first. */
const program = `
const { MY_API_KEY: key } = process.env
const text = (text) => [{ type: 'text', text }]
const said = 'not with ' + key
const deep = { why: { list: [said], [key]: 1 }, token: 'anything', code: 7 }
const parts = [
  { type: 'resource', resource: { uri: 'x://' + key, text: said } },
  { type: 'resource_link', uri: 'x://' + key, name: said },
]
const results = {
  text: { content: text(said), isError: true },
  value: { content: [], structuredContent: deep, isError: true },
  both: { content: text('no'), structuredContent: deep, isError: true },
  parts: { content: parts, isError: true },
  odd: { content: [{ type: 'odd', said }], isError: true },
  good: { content: text(said), structuredContent: deep },
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const write = (value) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...value }) + '\\n')
  if (id === undefined) return
  if (method === 'initialize') {
    const serverInfo = { name: 's', version: '1' }
    const { protocolVersion } = params
    return write({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } })
  }
  const progressToken = params._meta?.progressToken
  if (progressToken !== undefined) {
    const step = { progressToken, progress: 1, message: said }
    write({ method: 'notifications/progress', params: step })
  }
  write({ id, result: results[params.name] })
})
`

describe('an answer of a server that contains its secret', () => {
  let pool: ServerPool | undefined
  afterEach(async () => await pool?.close())

  async function called(
    tool: string,
    onProgress?: (step: ToolProgress) => void,
  ): Promise<ToolOutcome> {
    const args = ['-e', program]
    const env = { MY_API_KEY: key }
    pool = openServers([definition('a', { kind: 'stdio', command: process.execPath, args, env })], {
      runtime: emptyRuntime(),
    })
    return await (await pool.get('a')).call(tool, {}, { onProgress })
  }

  it.each(['text', 'value', 'both', 'parts', 'odd'])(
    'is masked in every part if it is a failure: %s',
    async (tool) => {
      const outcome = JSON.stringify(await called(tool))
      expect(outcome).toContain('[redacted]')
      for (const word of [key, encodeURIComponent(key), 'horse', 'anything']) {
        expect(outcome).not.toContain(word)
      }
    },
  )

  it('keeps the text beside the secret', async () => {
    const { structured } = await called('both')
    expect(structured).toEqual({
      why: { list: ['not with [redacted]'], '[redacted]': 1 },
      token: '[redacted]',
      code: 7,
    })
  })

  it('is masked in progress messages', async () => {
    const steps: ToolProgress[] = []
    await called('good', (step) => steps.push(step))
    expect(steps).toEqual([{ progress: 1, message: 'not with [redacted]' }])
  })

  it('does not change if it is the requested result', async () => {
    expect(await called('good')).toMatchObject({
      content: [{ text: `not with ${key}` }],
      structured: { token: 'anything', code: 7 },
    })
  })
})
