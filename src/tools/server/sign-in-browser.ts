import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { OAuthClientProvider, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { exitCode } from '#core/errors'
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
  /** Of a client that was registered by hand; an https address is that of its metadata document. */
  clientId?: string | undefined
  clientSecret?: string | undefined
  scope?: string | undefined
  /** Of the redirect to 127.0.0.1; default: a free one. */
  port?: number | undefined
  open(address: string): void
}

type Challenge = { resourceMetadataUrl?: URL; scope?: string }

const patienceMs = 300_000

/**
 * Signs a user in at a server: authorization code with PKCE, over a redirect to 127.0.0.1. Returns
 * undefined where the server asks for no sign-in. Nothing is kept before the tokens are there.
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
  const found = await sdk.discoverOAuthServerInfo(server.url, challenge)
  const { resourceMetadataUrl: metadata } = challenge
  const discovery = { ...found, ...(metadata && { resourceMetadataUrl: metadata.href }) }
  const asked = sdk.computeScopeUnion(challenge.scope, file.read()?.wantedScope)
  const scope = options.scope ?? asked
  const redirect = await openRedirect(options.port ?? 0)
  try {
    const held: Partial<SignInRecord> = {}
    const provider = providerOf(options, redirect, discovery, held)
    const flow = { serverUrl: server.url, ...(scope && { scope }) }
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
    // Before anything else of the answer is read: it may be that of another server.
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: issuing?.issuer,
      issParameterSupported: issuing?.authorization_response_iss_parameter_supported === true,
    })
    const code = answer.get('code')
    if (code === null) throw refused(definition.name, answer)
    await sdk.auth(provider, { ...flow, authorizationCode: code, ...(iss && { iss }) })
    const { client, tokens } = held
    if (!client || !tokens)
      throw new ToolError({ code: 'sign-in-failed', message: 'No token came of the sign-in' })
    const savedAt = new Date(options.runtime.now()).toISOString()
    const record = { discovery, client, tokens, savedAt }
    await file.alone(async () => await file.write(record))
    return { version: 1, url: server.url, ...record }
  } finally {
    redirect.close()
  }
}

/** What a server answers that nobody signed in at; undefined: it lists its tools to everybody. */
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
      await connection.list(signal)
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
  held: Partial<SignInRecord>,
): OAuthClientProvider {
  const { clientId, clientSecret, open } = options
  const isDocument = clientId?.startsWith('https://') === true
  const known = discovery.authorizationServerMetadata?.token_endpoint_auth_methods_supported
  if (clientId !== undefined && !isDocument)
    held.client = { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) }
  let verifier = ''
  return {
    redirectUrl: address,
    ...(isDocument && { clientMetadataUrl: clientId }),
    clientMetadata: {
      client_name: 'Skillrail',
      redirect_uris: [address],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // A program on a user's machine keeps no secret of its own.
      ...(known?.includes('none') === false ? {} : { token_endpoint_auth_method: 'none' }),
    },
    state: () => state,
    clientInformation: () => held.client,
    saveClientInformation: (client) => void (held.client = client),
    tokens: (): StoredOAuthTokens | undefined => undefined,
    saveTokens: (tokens) => void (held.tokens = tokens),
    redirectToAuthorization: ({ href }) => open(href),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: () => undefined,
  }
}

type Redirect = Awaited<ReturnType<typeof openRedirect>>

/** Where the browser is sent back to: answers once, to whoever knows the state. */
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
  const opened = typeof place === 'object' && place !== null ? place.port : port
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { address: `http://127.0.0.1:${opened}/callback`, state, answer: promise, close }
}

function refused(server: string, answer: URLSearchParams): ToolError {
  const said = ['error', 'error_description'].flatMap((name) => answer.get(name) ?? [])
  const reason = safeLine(said.join(': ')).slice(0, 500) || 'it gave no code'
  const message = `The sign-in at ${server} was refused: ${reason}`
  return new ToolError({ code: 'sign-in-refused', message })
}

/** Tells the authorization server that the tokens are over, as far as it wants to know (RFC 7009). */
export async function revoke({ discovery, client, tokens }: SignInRecord): Promise<boolean> {
  const endpoint: unknown = Object(discovery.authorizationServerMetadata)['revocation_endpoint']
  const token = tokens?.refresh_token ?? tokens?.access_token
  if (typeof endpoint !== 'string' || token === undefined) return false
  const { protocol, hostname } = new URL(endpoint)
  if (protocol !== 'https:' && !['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) return false
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
