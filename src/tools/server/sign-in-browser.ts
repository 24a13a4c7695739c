import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type {
  FetchLike,
  OAuthClientProvider,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { exitCode } from '#core/errors'
import { isPageAddress } from '#core/open-address'
import { type Runtime, untilAborted } from '#core/runtime'
import { safeLine } from '#core/text'
import type { HttpServer, ServerDefinition } from '#tools/config/model'
import { ToolError } from '#tools/errors'
import { connect } from './connection.ts'
import {
  type HttpSignIn,
  noSignIn,
  SignInFile,
  SignInNeeded,
  type SignInRecord,
} from './sign-in.ts'

export interface SignInOptions {
  runtime: Runtime
  project: string
  signal: AbortSignal
  /** The ID of a manually registered client; an https address is that of its metadata document. */
  clientId?: string | undefined
  clientSecret?: string | undefined
  scope?: string | undefined
  /** The port of the redirect to 127.0.0.1; default: a free port. */
  port?: number | undefined
  open(address: string): void
}

type Challenge = { resourceMetadataUrl?: URL; scope?: string }

const patienceMs = 300_000

/**
 * Signs a user in at a server: authorization code with PKCE, over a redirect to 127.0.0.1. Returns undefined
 * if the server requires no sign-in. Nothing is stored before the tokens arrive.
 */
export async function signInAt(
  definition: ServerDefinition,
  server: HttpServer,
  options: SignInOptions,
): Promise<SignInRecord | undefined> {
  const challenge = await challengeOf(definition, options)
  if (!challenge) return undefined
  const sdk = await import('@modelcontextprotocol/client')
  const file = new SignInFile(server.url, options.runtime)
  const { resourceMetadataUrl: metadata } = challenge
  requireOwnMetadata(definition.name, server, metadata)
  const fetchFn = fetchOf(definition.name, server)
  const info = await sdk.discoverOAuthServerInfo(server.url, { ...challenge, fetchFn })
  const discovery = { ...info, ...(metadata && { resourceMetadataUrl: metadata.href }) }
  const requiredScope = sdk.computeScopeUnion(challenge.scope, file.read()?.wantedScope)
  const scope = options.scope ?? requiredScope
  const redirect = await openRedirect(options.port ?? 0)
  try {
    const newRecord: Partial<SignInRecord> = {}
    const open = (address: string): void => {
      if (!isPageAddress(address)) throw notAPage(definition.name, address)
      options.open(address)
    }
    const provider = providerOf({ ...options, open }, redirect, discovery, newRecord)
    const flow = { serverUrl: server.url, fetchFn, ...(scope && { scope }) }
    await sdk.auth(provider, flow)
    const limit = AbortSignal.timeout(patienceMs)
    const ends = AbortSignal.any([options.signal, limit])
    const answer = await untilAborted(redirect.answer, ends).catch((error: unknown) => {
      if (!limit.aborted) throw error
      throw new ToolError({
        code: 'sign-in-timeout',
        message: `Nobody signed in at ${definition.name} within ${patienceMs / 60_000} minutes`,
        hint: `Try again: skillrail tools auth ${definition.name}`,
        exitCode: exitCode.budget,
      })
    })
    const iss = answer.get('iss') ?? undefined
    const { authorizationServerMetadata: issuing } = discovery
    // Checked before any other part of the answer, which may come from another server.
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: issuing?.issuer,
      issParameterSupported: issuing?.authorization_response_iss_parameter_supported === true,
    })
    const code = answer.get('code')
    if (code === null) throw refusal(definition.name, answer)
    await sdk.auth(provider, { ...flow, authorizationCode: code, ...(iss && { iss }) })
    const { client, tokens } = newRecord
    if (!client || !tokens)
      throw new ToolError({ code: 'sign-in-failed', message: 'The sign-in returned no token' })
    const savedAt = new Date(options.runtime.now()).toISOString()
    const record = { discovery, client, tokens, savedAt }
    await file.alone(async () => await file.write(record))
    return { version: 1, url: server.url, ...record }
  } finally {
    redirect.close()
  }
}

/** Refuses metadata of the server at another origin: they are not the server's own (RFC 9728, 3.1). */
function requireOwnMetadata(name: string, server: HttpServer, metadata: URL | undefined): void {
  const { origin } = new URL(server.url)
  if (metadata === undefined || metadata.origin === origin) return
  throw new ToolError({
    code: 'sign-in-refused',
    message: `The server ${name} names metadata of its sign-in at ${safeLine(metadata.origin)}; they must be at ${origin}`,
  })
}

/** Returns a `fetch` for the server itself, and otherwise only for addresses that a browser may open. */
function fetchOf(name: string, server: HttpServer): FetchLike {
  const { origin } = new URL(server.url)
  return async (url, init) => {
    const address = String(url)
    if (new URL(address).origin !== origin && !isPageAddress(address)) throw notAPage(name, address)
    return await fetch(address, init)
  }
}

function notAPage(name: string, address: string): ToolError {
  return new ToolError({
    code: 'sign-in-refused',
    message: `The sign-in of ${name} leads to ${safeLine(address).slice(0, 200)}, which is not opened`,
    hint: 'Only https addresses, and http addresses of this machine, are opened.',
  })
}

/** Returns the server's challenge without a sign-in; undefined if it lists its tools without one. */
async function challengeOf(
  definition: ServerDefinition,
  { runtime, project, signal }: SignInOptions,
): Promise<Challenge | undefined> {
  let challenge: Challenge | undefined
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client')
  const signIn: HttpSignIn = {
    ...noSignIn,
    authProvider: {
      token: async () => undefined,
      async onUnauthorized({ response }) {
        challenge = extractWWWAuthenticateParams(response)
        throw new SignInNeeded()
      },
    },
  }
  const options = {
    runtime,
    project,
    signal,
    signIn,
    answerLimit: 33_554_432,
    note: () => undefined,
  }
  try {
    const connection = await connect(definition, options)
    try {
      await connection.list({ signal })
    } finally {
      await connection.close()
    }
  } catch (error) {
    if (!challenge) throw error
  }
  return challenge
}

/** A client for one sign-in: a new one is registered each time, since its redirect has a new port. */
function providerOf(
  options: SignInOptions,
  { address, state }: Pick<Redirect, 'address' | 'state'>,
  discovery: SignInRecord['discovery'],
  record: Partial<SignInRecord>,
): OAuthClientProvider {
  const { clientId, clientSecret, open } = options
  const isDocument = clientId?.startsWith('https://') === true
  const methods = discovery.authorizationServerMetadata?.token_endpoint_auth_methods_supported
  if (clientId !== undefined && !isDocument)
    record.client = { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) }
  let verifier = ''
  return {
    redirectUrl: address,
    ...(isDocument && { clientMetadataUrl: clientId }),
    clientMetadata: {
      client_name: 'Skillrail',
      redirect_uris: [address],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // A program on a user's machine cannot keep a client secret.
      ...(methods?.includes('none') === false ? {} : { token_endpoint_auth_method: 'none' }),
    },
    state: () => state,
    clientInformation: () => record.client,
    saveClientInformation: (client) => void (record.client = client),
    tokens: (): StoredOAuthTokens | undefined => undefined,
    saveTokens: (tokens) => void (record.tokens = tokens),
    redirectToAuthorization: ({ href }) => open(href),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: () => undefined,
  }
}

type Redirect = Awaited<ReturnType<typeof openRedirect>>

/** Opens the browser's redirect address: it accepts the first request with the right state. */
async function openRedirect(port: number) {
  const { createServer } = await import('node:http')
  const state = randomBytes(24).toString('base64url')
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>()
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1')
    const isAnswer = url?.pathname === '/callback' && url.searchParams.get('state') === state
    response.writeHead(isAnswer ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' })
    response.end(isAnswer ? 'Skillrail has the answer. You can close this page.\n' : 'Not found.\n')
    if (isAnswer) resolve(url.searchParams)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const place = server.address()
  const openPort = typeof place === 'object' && place !== null ? place.port : port
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { address: `http://127.0.0.1:${openPort}/callback`, state, answer: promise, close }
}

function refusal(server: string, answer: URLSearchParams): ToolError {
  const parts = ['error', 'error_description'].flatMap((name) => answer.get(name) ?? [])
  const reason = safeLine(parts.join(': ')).slice(0, 500) || 'it gave no code'
  const message = `The sign-in at ${server} was refused: ${reason}`
  return new ToolError({ code: 'sign-in-refused', message })
}

/** Revokes the tokens, if the authorization server supports that (RFC 7009). */
export async function revoke({ discovery, client, tokens }: SignInRecord): Promise<boolean> {
  const endpoint: unknown = Object(discovery.authorizationServerMetadata)['revocation_endpoint']
  const token = tokens?.refresh_token ?? tokens?.access_token
  if (typeof endpoint !== 'string' || token === undefined) return false
  if (!isPageAddress(endpoint)) return false
  const { client_id: id, client_secret: secret } = client
  const body = new URLSearchParams({ token })
  const headers = new Headers()
  if (secret === undefined) body.set('client_id', id)
  else {
    const credentials = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
    headers.set('authorization', `Basic ${btoa(credentials)}`)
  }
  const signal = AbortSignal.timeout(10_000)
  try {
    return (await fetch(endpoint, { method: 'POST', headers, body, signal })).ok
  } catch {
    return false
  }
}
