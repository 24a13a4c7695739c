import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { systemRuntime } from '../../../src/core/runtime.ts'
import type { ServerDefinition } from '../../../src/tools/config/model.ts'
import { signInAt } from '../../../src/tools/server/sign-in-browser.ts'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const servers: ReturnType<typeof createServer>[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const place = server.address()
  return `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`
}

/** An MCP server with this OAuth metadata; `asked`: paths that were fetched. */
async function protectedServer(said: {
  metadataAt?: string
  endpoints?: Record<string, string>
  issuer?: string
}) {
  const requestedPaths: string[] = []
  let origin = ''
  const json = (response: ServerResponse, value: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value))
  }
  origin = await listen(({ url = '', method }, response) => {
    requestedPaths.push(`${method} ${url}`)
    if (url.startsWith('/.well-known/oauth-protected-resource')) {
      json(response, { resource: `${origin}/mcp`, authorization_servers: [said.issuer ?? origin] })
    } else if (url.startsWith('/.well-known/')) {
      json(response, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        ...said.endpoints,
      })
    } else if (url === '/register') {
      json(response, { client_id: 'c', redirect_uris: ['http://127.0.0.1/callback'] })
    } else {
      const at = said.metadataAt ?? `${origin}/.well-known/oauth-protected-resource/mcp`
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${at}"` })
      response.end()
    }
  })
  return { url: `${origin}/mcp`, asked: requestedPaths }
}

async function opened(url: string): Promise<{ addresses: string[]; error: unknown }> {
  const addresses: string[] = []
  const home = mkdtempSync(join(tmpdir(), 'sign-in-'))
  const transport = { kind: 'http' as const, url, headers: {} }
  const definition: ServerDefinition = {
    name: 'far',
    transport,
    source: { client: 'claude-code', path: '', scope: 'user' },
    startupTimeoutMs: 5000,
    callTimeoutMs: 5000,
    disabled: false,
    trusted: true,
    digest: '',
  }
  const over = new AbortController()
  const error = await signInAt(definition, transport, {
    runtime: systemRuntime({ cwd: home, home, env: {} }),
    project: home,
    signal: over.signal,
    open(address) {
      addresses.push(address)
      over.abort()
    },
  }).catch((problem: unknown) => problem)
  return { addresses, error }
}

describe('the address that a sign-in opens', () => {
  it('is the address in the metadata', async () => {
    const { url } = await protectedServer({})
    expect((await opened(url)).addresses).toEqual([expect.stringContaining('/authorize?')])
  })

  it.each([
    'file:///etc/passwd',
    'file://host/share/x.exe',
    'vscode://settings',
    'ms-msdt:/id',
    'ssh://host',
    'http://example.com/authorize',
  ])('is never %s', async (address) => {
    const { url } = await protectedServer({ endpoints: { authorization_endpoint: address } })
    const { addresses, error } = await opened(url)
    expect(addresses).toEqual([])
    expect(error).toMatchObject({ code: 'sign-in-refused' })
  })
})

it('asks for a token and a client only at addresses that a browser may open', async () => {
  const { url } = await protectedServer({
    endpoints: { registration_endpoint: 'http://169.254.169.254/register' },
  })
  expect(await opened(url)).toMatchObject({ addresses: [], error: { code: 'sign-in-refused' } })
})

it('does not ask an authorization server without https on another machine', async () => {
  const { url } = await protectedServer({ issuer: 'http://192.0.2.1/' })
  expect(await opened(url)).toMatchObject({ addresses: [], error: { code: 'sign-in-refused' } })
})

it('reads metadata of its sign-in only from the origin of the server', async () => {
  const requestedPaths: string[] = []
  const other = await listen(({ url = '' }, response) => {
    requestedPaths.push(url)
    response.end('{}')
  })
  const { url } = await protectedServer({ metadataAt: `${other}/metadata` })
  expect(await opened(url)).toMatchObject({ addresses: [], error: { code: 'sign-in-refused' } })
  expect(requestedPaths).toEqual([])
})
