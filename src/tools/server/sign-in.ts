import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type {
  AuthProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { withFileLock } from '#core/file-lock'
import { hexDigest, isObject, parseJson } from '#core/json'
import { readRegularFile, sharedStore } from '#core/read-files'
import { type Runtime, userDirectories } from '#core/runtime'
import { writeFileAtomic } from '#core/write-files'
import type { HttpServer } from '#tools/config/model'

/** The result of a sign-in at one address, so that no other server ever gets its tokens. */
export interface SignInRecord {
  version: 1
  url: string
  /** The source of the tokens; they are renewed only there. */
  discovery: OAuthDiscoveryState
  client: StoredOAuthClientInformation
  /** Undefined after the tokens were revoked. */
  tokens?: StoredOAuthTokens | undefined
  /** When the tokens were issued, as an ISO date. */
  savedAt: string
  /** Missing rights of an earlier call; the next sign-in requests them. */
  wantedScope?: string | undefined
}

/** The sign-in at one address, in the user's state directory; only the user can read its file. */
export class SignInFile {
  readonly path: string
  readonly #url: string

  constructor(url: string, runtime: Pick<Runtime, 'cwd' | 'env' | 'home'>) {
    this.path = join(userDirectories(runtime).state, 'sign-in', `${hexDigest(url, 32)}.json`)
    this.#url = url
  }

  /** @throws {StateFileError} if another account can write the file, or it is a link */
  read(): SignInRecord | undefined {
    const { path } = this
    const file = readRegularFile(path, { maxBytes: 1_048_576, followSymlinks: false, own: true })
    if (!file.ok && file.code === 'file-missing') return undefined
    if (!file.ok) throw sharedStore(file.message)
    const record = parseJson(file.text)
    // Only Skillrail writes this file. A record of another version is not used.
    return isRecord(record) && record.url === this.#url ? record : undefined
  }

  async write(record: Omit<SignInRecord, 'version' | 'url'>): Promise<void> {
    const text = JSON.stringify({ version: 1, url: this.#url, ...record })
    await writeFileAtomic(this.path, `${text}\n`, { mode: 0o600 })
  }

  remove(): void {
    rmSync(this.path, { force: true })
  }

  /** Runs work under a lock: two processes that renew one token at once would lose it. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    return await withFileLock(this.path, work, { waitMs: 60_000 })
  }
}

function isRecord(value: unknown): value is SignInRecord {
  if (!isObject(value) || value['version'] !== 1 || typeof value['savedAt'] !== 'string')
    return false
  const { discovery, client, tokens } = value
  const hasTokens =
    tokens === undefined || (isObject(tokens) && typeof tokens['access_token'] === 'string')
  return isObject(discovery) && isObject(client) && hasTokens
}

/** `given`: the server's configuration contains a token. */
export type SignInState = 'signed in' | 'expired' | 'signed out' | 'given'

export function signInState(
  { url, headers }: HttpServer,
  runtime: Pick<Runtime, 'cwd' | 'env' | 'home' | 'now'>,
): SignInState {
  if (hasAuthorization(headers)) return 'given'
  const { tokens, savedAt = '' } = new SignInFile(url, runtime).read() ?? {}
  if (!tokens) return 'signed out'
  const { expires_in: seconds, refresh_token: refresh } = tokens
  const isOver = seconds !== undefined && runtime.now() > Date.parse(savedAt) + seconds * 1000
  return isOver && refresh === undefined ? 'expired' : 'signed in'
}

export function hasAuthorization(headers: HttpServer['headers']): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}

/** The server requires a sign-in, which is missing or has expired. */
export class SignInNeeded extends Error {
  readonly status = 401
}

export interface HttpSignIn {
  authProvider?: AuthProvider
  /** Checks each answer for missing rights. */
  inspect(response: Response): Promise<void>
  /** Tokens that must not appear in messages. */
  secrets(): readonly string[]
}

export const noSignIn: HttpSignIn = { inspect: async () => undefined, secrets: () => [] }

/** Returns a connection's sign-in. The token is read again for each request, and renewed once. */
export function httpSignIn(
  { url, headers }: HttpServer,
  runtime: Pick<Runtime, 'cwd' | 'env' | 'home' | 'now'>,
): HttpSignIn {
  const file = new SignInFile(url, runtime)
  if (hasAuthorization(headers)) return noSignIn
  const sentTokens = new Set<string>()
  let last: string | undefined
  const authProvider: AuthProvider = {
    async token() {
      last = file.read()?.tokens?.access_token
      if (last !== undefined) sentTokens.add(last)
      return last
    },
    async onUnauthorized() {
      await file.alone(async () => {
        const record = file.read()
        if (!record?.tokens) throw new SignInNeeded()
        // Otherwise another process has renewed the token.
        if (record.tokens.access_token === last) await renew(record, record.tokens, file, runtime)
      })
    },
  }
  return {
    authProvider,
    async inspect(response) {
      if (response.status !== 403) return
      const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client')
      const { error, scope } = extractWWWAuthenticateParams(response)
      const record = error === 'insufficient_scope' ? file.read() : undefined
      if (record && scope !== record.wantedScope)
        await file.write({ ...record, wantedScope: scope })
    },
    secrets: () => [...sentTokens],
  }
}

async function renew(
  record: SignInRecord,
  { refresh_token: refreshToken, issuer }: StoredOAuthTokens,
  file: SignInFile,
  runtime: Pick<Runtime, 'now'>,
): Promise<void> {
  const sdk = await import('@modelcontextprotocol/client')
  const { discovery, client: clientInformation } = record
  const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } = discovery
  if (refreshToken === undefined) throw new SignInNeeded()
  try {
    const tokens = await sdk.refreshAuthorization(authorizationServerUrl, {
      ...(authorizationServerMetadata && { metadata: authorizationServerMetadata }),
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
      clientInformation,
      refreshToken,
    })
    const savedAt = new Date(runtime.now()).toISOString()
    await file.write({ ...record, tokens: { ...tokens, ...(issuer && { issuer }) }, savedAt })
  } catch (error) {
    if (!(error instanceof sdk.OAuthError)) throw error
    // The token was revoked or has expired, or its client is gone.
    await file.write({ ...record, tokens: undefined })
    throw new SignInNeeded(undefined, { cause: error })
  }
}
