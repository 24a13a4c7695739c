import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { call as toolCall, says, scripted } from '../agent/mock-replies.ts'
import { overPipes } from './over-pipes.ts'
import { browse, type ProtectedServer, startProtectedServer } from './authorization.ts'
import { makeServerProject, program, type ServerProject } from './project.ts'

/** `tools auth`, with a browser that opens the address it prints. */
async function signIn({ directory, environment }: ServerProject, ...more: string[]) {
  const args = [program, 'tools', 'auth', 'remote', '--json', ...more]
  const child = spawn(process.execPath, args, { cwd: directory, env: environment })
  const output = { stdout: '', stderr: '', page: '' }
  let browsing: Promise<void> | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
    const [address] = /http:\S+\/auth\?\S+/.exec(output.stderr) ?? []
    if (address !== undefined)
      browsing ??= browse(address).then((page) => void (output.page = page))
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  await browsing
  return { code, ...output }
}

describe('signing in at a remote server', () => {
  let server: ProtectedServer
  let project: ServerProject
  const files = () => join(project.environment.HOME, '.local/state/skillrail/sign-in')
  const call = async () => await project.cli(['tools', 'call', 'remote__who'])

  beforeAll(async () => void (server = await startProtectedServer()))
  afterAll(async () => await server.stop())
  beforeEach(async () => {
    project = await makeServerProject(() => ({ remote: { type: 'http', url: server.url } }))
  })
  afterEach(async () => {
    server.claimedIssuer = undefined
    await project.close()
  })

  it('names the command to run, then signs in with PKCE and a client that it registers', async () => {
    const before = await call()
    expect(before.stdout + before.stderr).toContain('skillrail tools auth remote')
    const { code, stdout, page } = await signIn(project)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ server: 'remote', state: 'signed in', issuer: server.issuer, scope: 'read' }],
    })
    expect(page).toContain('close this page')
    expect(server.requests).toContain('POST /reg')
    const [file = ''] = readdirSync(files())
    expect(statSync(join(files(), file)).mode & 0o777).toBe(0o600)
    expect((await call()).stdout).toContain('you are ada')
    const { client, text } = await overPipes(project)
    expect(await text('call_tool', { tool: 'remote__who' })).toContain('you are ada')
    await client.close()
    const rows = await project.json(['tools', 'servers'])
    expect(rows.answer).toMatchObject({ servers: [{ name: 'remote', signIn: 'signed in' }] })
  })

  it('renews an expired token, and asks the user to sign in again after all were revoked', async () => {
    await signIn(project)
    await server.revokeAccess()
    expect((await call()).stdout).toContain('you are ada')
    await server.revokeAccess()
    const [name = ''] = readdirSync(files())
    const path = join(files(), name)
    const kept: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const tokens = { ...Object(kept).tokens, refresh_token: 'withdrawn' }
    writeFileSync(path, JSON.stringify({ ...Object(kept), tokens }))
    const { code, stdout, stderr } = await call()
    expect(code).toBe(3)
    expect(stdout + stderr).toContain('skillrail tools auth remote')
    const status = await project.json(['tools', 'auth', '--status'])
    expect(status.answer).toMatchObject({ servers: [{ state: 'signed out' }] })
  })

  it('rejects metadata of another issuer, and then stores nothing', async () => {
    server.claimedIssuer = 'http://127.0.0.1:9/impostor'
    const { code, stdout } = await signIn(project)
    expect(code).toBe(1)
    expect(stdout).toMatch(/issuer/i)
    const status = await project.json(['tools', 'auth', '--status'])
    expect(status.answer).toMatchObject({ servers: [{ state: 'signed out' }] })
  })

  it('is required for an agent, which first names the command to run', async () => {
    const { directory: cwd, environment: env } = project
    const runtime = systemRuntime({ cwd, home: env.HOME, env })
    const ask = async (): Promise<string> => {
      const model = scripted([toolCall('remote__who'), says('Done.')])
      const options = { model, runtime, workspaceTrust: 'trusted', mcp: ['remote'] } as const
      const agent = new Agent({ ...options, approver: async () => ({ approved: true }) })
      const notices: string[] = []
      const onEvent = (event: object): void => void notices.push(JSON.stringify(event))
      await agent.generate('Who am I?', { onEvent })
      await agent.close()
      return [...agent.messages.map((message) => JSON.stringify(message)), ...notices].join('\n')
    }
    expect(await ask()).toContain('skillrail tools auth remote')
    await signIn(project)
    expect(await ask()).toContain('you are ada')
  })

  it('revokes and deletes the token with --logout', async () => {
    await signIn(project)
    const out = await project.json(['tools', 'auth', 'remote', '--logout'])
    expect(out.answer).toMatchObject({ servers: [{ state: 'signed out', revoked: true }] })
    expect(readdirSync(files())).toEqual([])
    expect((await call()).code).toBe(3)
  })

  it('sends no token to an address that only an untrusted project names', async () => {
    await signIn(project)
    await project.cli(['trust', '--revoke', '--yes'])
    server.shown.clear()
    expect((await call()).code).toBe(4)
    expect(server.shown.size).toBe(0)
    expect((await signIn(project)).code).toBe(4)
  })
})
