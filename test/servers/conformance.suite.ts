import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { until } from '../patience.ts'
import { freePort, listenOnLoopback } from './loopback.ts'
import { serverCacheDirectory } from './packages.ts'
import { makeServerProject, program } from './project.ts'

const conformance = join(serverCacheDirectory(), 'node_modules/.bin/conformance')
const client = fileURLToPath(new URL('conformance-client.ts', import.meta.url))
const page = readFileSync(new URL('../../docs/internals/conformance.md', import.meta.url), 'utf8')

/** The scenarios of a table of the page, with the text after the first bar. */
function scenariosOf(heading: string): Map<string, string> {
  const [, section = ''] = page.split(`## ${heading}\n`)
  const rows = (section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)` +\| (passes)?/gm)
  return new Map(Array.from(rows, ([, name = '', verdict = 'does not']) => [name, verdict]))
}

describe('the conformance tests of the protocol', () => {
  it.each([...scenariosOf('As a client')])('pass as a client: %s %s', (scenario, verdict) => {
    const command = `${process.execPath} ${client}`
    const args = ['client', '--command', command, '--scenario', scenario, '--timeout', '50000']
    const { status } = spawnSync(conformance, args, { encoding: 'utf8' })
    expect(status === 0 ? 'passes' : 'does not').toBe(verdict)
  })

  it('pass as a server without the tools of a test server', async () => {
    const project = await makeServerProject(() => ({}))
    const port = await freePort()
    const args = [program, 'mcp', 'serve', '--http', '--port', String(port), '--json']
    const child = spawn(process.execPath, args, {
      cwd: project.directory,
      env: project.environment,
    })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    await until(() => /Bearer [\w-]{20,}/.test(output))
    const token = /Bearer ([\w-]+)/.exec(output)?.[1] ?? ''
    // The tests know no token, and the address of the stand-in before the server is that of the server.
    const proxy = await listenOnLoopback((asked, answer) => {
      const address = new RegExp(`(?:127\\.0\\.0\\.1|localhost):${new URL(proxy.url).port}$`)
      const headers = { ...asked.headers, authorization: `Bearer ${token}` }
      for (const name of ['host', 'origin'] as const) {
        const value = headers[name]
        if (value !== undefined) headers[name] = value.replace(address, `127.0.0.1:${port}`)
      }
      const { method, url: path } = asked
      const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(answer)
      })
      sent.on('error', () => answer.destroy())
      answer.on('close', () => sent.destroy())
      asked.pipe(sent)
    })
    const tests = spawn(conformance, ['server', '--url', `${proxy.url}/mcp`])
    let report = ''
    tests.stdout.setEncoding('utf8').on('data', (text: string) => (report += text))
    await new Promise((resolve) => tests.on('close', resolve))
    child.kill()
    await proxy.stop()
    await project.close()
    const verdicts = Array.from(report.matchAll(/^([✓✗]) (\S+): /gm), ([, mark, name = '']) => [
      name,
      mark === '✓' ? 'passes' : 'does not',
    ])
    expect(Object.fromEntries(verdicts)).toEqual(Object.fromEntries(scenariosOf('As a server')))
  })
})
