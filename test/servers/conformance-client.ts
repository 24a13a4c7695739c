// The command line as a client that the conformance tests run: it signs in, lists and calls.
import { spawn } from 'node:child_process'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { browse } from './authorization.ts'
import { program } from './project.ts'

const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context: unknown = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}')
const { client_id: clientId, client_secret: secret } = Object(context)
const base = mkdtempSync(join(tmpdir(), 'skillrail-conformance-'))
for (const name of ['project', 'home']) mkdirSync(join(base, name))
const servers = { mcpServers: { remote: { type: 'http', url } } }
writeFileSync(join(base, 'project/.mcp.json'), JSON.stringify(servers))

function skillrail(...args: string[]): Promise<{ code: number | null; said: string }> {
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: join(base, 'home'),
    ...(typeof secret === 'string' && { CLIENT_SECRET: secret }),
  }
  const child = spawn(process.execPath, [program, ...args], { cwd: join(base, 'project'), env })
  let output = ''
  let browsing: Promise<string> | undefined
  const hear = (text: string): void => {
    output += text
    const [, address] = /^To sign in at .*\n(http\S+)\n/m.exec(output) ?? []
    if (address !== undefined) browsing ??= browse(address).catch(String)
  }
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', hear)
  return new Promise((resolve) => {
    child.on('close', (code) => {
      process.stderr.write(`$ skillrail ${args.join(' ')} (${String(code)})\n${output}\n`)
      resolve({ code, said: output })
    })
  })
}

async function signIn(): Promise<void> {
  const document =
    scenario === 'auth/basic-cimd'
      ? 'https://conformance-test.local/client-metadata.json'
      : undefined
  const id = typeof clientId === 'string' ? clientId : document
  await skillrail(
    'tools',
    'auth',
    'remote',
    ...(id ? ['--client-id', id] : []),
    ...(typeof secret === 'string' ? ['--client-secret-env', 'CLIENT_SECRET'] : []),
  )
}

await skillrail('trust', '--yes')
if (scenario.startsWith('auth/')) await signIn()
const { said } = await skillrail('tools', 'refresh')
const { said: listed } = await skillrail('tools', 'list', '--json')
const names = [...listed.matchAll(/"id": "remote__([^"]+)"/g)].map(([, name]) => name ?? '')
let failed = names.length === 0 && !/0 tools|Total tools: 0/.test(said) && scenario !== 'initialize'
for (const name of names) {
  const params = name === 'add_numbers' ? '{"a":5,"b":3}' : '{}'
  let answer = await skillrail('tools', 'call', `remote__${name}`, params)
  if (answer.said.includes('skillrail tools auth')) {
    await signIn()
    answer = await skillrail('tools', 'call', `remote__${name}`, params)
  }
  failed ||= answer.code !== 0
}
rmSync(base, { recursive: true, force: true })
process.exitCode = failed ? 1 : 0
