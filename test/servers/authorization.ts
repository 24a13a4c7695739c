import { randomBytes } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { freePort, listenOnLoopback, type LoopbackServer } from './loopback.ts'
import { serverCacheDirectory } from './packages.ts'

/** What of `oidc-provider` is used here. */
interface Provider {
  callback(): RequestListener
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{ params: Record<string, string> }>
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
  ): Promise<void>
  AccessToken: {
    find(token: string): Promise<{ scope?: string; destroy(): Promise<void> } | undefined>
  }
  Grant: new (facts: object) => {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }
}

export interface ProtectedServer {
  /** The address of the MCP server. */
  url: string
  issuer: string
  /** Tokens that were shown to the MCP server. */
  shown: Set<string>
  /** Revokes all tokens so far, as a user does on the pages of a provider. */
  revokeAccess(): Promise<void>
  requests: string[]
  /** The issuer in its metadata; a wrong one simulates an impostor. */
  claimedIssuer: string | undefined
  stop(): Promise<void>
}

/** An MCP server that wants a token, and the authorization server that gives it: both on loopback. */
export async function startProtectedServer(): Promise<ProtectedServer> {
  const entry = join(serverCacheDirectory(), 'node_modules/oidc-provider/lib/index.js')
  const loaded: { default: new (issuer: string, options: object) => Provider } = await import(
    pathToFileURL(entry).href
  )
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const resources: LoopbackServer[] = []
  const provider = new loaded.default(
    issuer,
    optionsFor(() => `${resources[0]?.url ?? ''}/mcp`),
  )
  const requests: string[] = []
  const shown = new Set<string>()
  const facts: Pick<ProtectedServer, 'claimedIssuer'> = { claimedIssuer: undefined }
  const callback = provider.callback()
  const authorization = await listenOnLoopback((request, response) => {
    const path = request.url ?? ''
    requests.push(`${request.method ?? ''} ${path.split('?')[0] ?? ''}`)
    if (path.startsWith('/interaction/')) void grantAll(provider, request, response)
    else if (path.includes('/.well-known/') && facts.claimedIssuer !== undefined) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ...metadataOf(issuer), issuer: facts.claimedIssuer }))
    } else callback(request, response)
  }, port)
  const resource = await listenOnLoopback((request, response) => {
    const answer = async (): Promise<void> => {
      const { url } = resource
      if (request.url?.includes('oauth-protected-resource') === true) {
        sendJson(response, {
          resource: `${url}/mcp`,
          authorization_servers: [issuer],
          scopes_supported: ['read'],
        })
        return
      }
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
      if (token !== undefined) shown.add(token)
      const accessToken = token === undefined ? undefined : await provider.AccessToken.find(token)
      if (accessToken !== undefined) return await answerMcp(request, response)
      const metadata = `${url}/.well-known/oauth-protected-resource/mcp`
      const challenge = `Bearer error="invalid_token", resource_metadata="${metadata}", scope="read"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
    }
    void answer()
  })
  resources.push(resource)
  return Object.assign(facts, {
    url: `${resource.url}/mcp`,
    issuer,
    requests,
    shown,
    async revokeAccess() {
      for (const token of shown) await (await provider.AccessToken.find(token))?.destroy()
    },
    async stop() {
      await Promise.all([authorization.stop(), resource.stop()])
    },
  })
}

function metadataOf(issuer: string) {
  return {
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/reg`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }
}

function optionsFor(resource: () => string) {
  return {
    cookies: { keys: [randomBytes(8).toString('hex')] },
    clientAuthMethods: ['none', 'client_secret_basic'],
    scopes: ['read', 'offline_access'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, asked: string) => {
          if (asked !== resource()) throw new Error(`the resource is ${asked}`)
          return { scope: 'read', accessTokenFormat: 'opaque', accessTokenTTL: 3600 }
        },
        useGrantedResource: () => true,
      },
    },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId }),
    }),
  }
}

/** Signs in and consents, as the user would on the pages of the provider. */
async function grantAll(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response)
  const accountId = 'ada'
  const grant = new provider.Grant({ accountId, clientId: params['client_id'] })
  grant.addOIDCScope(params['scope'] ?? '')
  grant.addResourceScope(params['resource'] ?? '', params['scope'] ?? '')
  const consent = { grantId: await grant.save() }
  await provider.interactionFinished(request, response, { login: { accountId }, consent })
}

function sendJson(response: ServerResponse, value: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

async function answerMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(405).end()
    return
  }
  const message: unknown = JSON.parse(await text(request))
  const { id, method, params } = Object(message)
  if (id === undefined) {
    response.writeHead(202).end()
    return
  }
  const tool = { name: 'who', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'protected', version: '1' },
      capabilities: { tools: {} },
    },
    'tools/list': { tools: [tool] },
    'tools/call': { content: [{ type: 'text', text: 'you are ada' }] },
  }
  const result = results[String(method)]
  const error = { code: -32_601, message: `no method ${String(method)} ${String(params)}` }
  sendJson(response, { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) })
}

/** Follows an address with cookies until it leads back to the program that waits for it. */
export async function browse(address: string): Promise<string> {
  const cookies = new Map<string, string>()
  let at = address
  for (let hops = 0; hops < 20; hops++) {
    const header = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie: header } })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const next = answer.headers.get('location')
    if (next === null) return await answer.text()
    at = new URL(next, at).href
  }
  throw new Error('the sign-in has no end')
}
