import { type Context, defineCommand, option, type Screen } from '#core/command'
import { contradiction, messageOf, pointless, SkillrailError, wrongUse } from '#core/errors'
import { openAddress } from '#core/open-address'
import { safeLine } from '#core/text'
import type { ServerDefinition } from '#tools/config/model'
import { ToolError } from '#tools/errors'
import { definitionOf, refuse } from '#tools/server/pool'
import {
  hasAuthorization,
  SignInFile,
  type SignInRecord,
  type SignInState,
  signInState,
} from '#tools/server/sign-in'
import { revoke, signInAt } from '#tools/server/sign-in-browser'
import { serverConfiguration, toolProject } from '#tools/project-tools'

interface Row {
  server: string
  url: string
  state: SignInState | 'not needed'
  issuer?: string | undefined
  scope?: string | undefined
  /**
   * When the token expires, as an ISO date; the token is renewed automatically if its server allows
   * that.
   */
  expiresAt?: string | undefined
  /** After `--logout`: whether the authorization server withdrew the tokens. */
  revoked?: boolean | undefined
}

export const command = defineCommand<{ servers: readonly Row[] }>()({
  arguments: { '[server]': 'a server with an address' },
  options: {
    status: option.flag('--status', 'show who is signed in, of all servers or of one'),
    logout: option.flag('--logout', 'revoke and forget the sign-in'),
    scope: option.text(
      '--scope <scopes>',
      'the rights to ask for (default: those the server names)',
    ),
    port: option.integer('--port <port>', 'of the redirect to 127.0.0.1 (default: a free port)', {
      least: 1,
      most: 65_535,
    }),
    clientId: option.text(
      '--client-id <id>',
      'a client that you registered yourself (default: registers one)',
    ),
    clientSecretEnv: option.text('--client-secret-env <name>', 'the variable with its secret'),
  },
  details: `Opens your browser at the server's sign-in, prints the address too, and waits up to five minutes for the answer on 127.0.0.1. Tokens are stored in your state directory (0600) and are renewed when they end.`,
  examples: ['tools auth linear'],
  async run(context, { arguments: [name], status, logout, ...options }) {
    if (status && logout) throw contradiction('--status', '--logout', 'Give one of them.')
    const { servers } = serverConfiguration(context)
    if (name === undefined && status)
      return { servers: servers.filter(isRemote).map((one) => rowOf(one, context)) }
    if (name === undefined)
      throw wrongUse('The server is missing', 'tools auth --status lists them.')
    const definition = definitionOf(servers, name)
    if (!isRemote(definition)) {
      throw wrongUse(
        `The server ${name} is a program on this machine, which has no sign-in`,
        'Give it its credentials in `env` of its configuration.',
      )
    }
    if (status) return { servers: [rowOf(definition, context)] }
    if (logout) return { servers: [await signOut(definition, context)] }
    if (options.clientSecretEnv !== undefined && options.clientId === undefined)
      throw pointless('--client-secret-env', '--client-id', 'Add --client-id.')
    return { servers: [await signIn(definition, context, options)] }
  },
  render: rowsText,
  notes: ({ servers }) =>
    servers.length > 0 ? [] : ['No server with an address is configured here.'],
})

type RemoteServer = ServerDefinition & {
  transport: Exclude<ServerDefinition['transport'], { kind: 'stdio' }>
}

function isRemote(server: ServerDefinition): server is RemoteServer {
  return server.transport.kind !== 'stdio'
}

function rowOf({ name, transport }: RemoteServer, { runtime }: Context): Row {
  const { url } = transport
  const record = new SignInFile(url, runtime).read()
  const row = { server: name, url, state: signInState(transport, runtime) }
  return record?.tokens ? { ...row, ...factsOf(record) } : row
}

function factsOf({ tokens, discovery, savedAt }: SignInRecord): Partial<Row> {
  const seconds = tokens?.expires_in
  const ends = seconds === undefined ? undefined : Date.parse(savedAt) + seconds * 1000
  return {
    issuer: tokens?.issuer ?? discovery.authorizationServerUrl,
    scope: tokens?.scope,
    expiresAt: ends === undefined ? undefined : new Date(ends).toISOString(),
  }
}

async function signOut({ name, transport }: RemoteServer, { runtime }: Context): Promise<Row> {
  const { url } = transport
  const file = new SignInFile(url, runtime)
  const record = file.read()
  const revoked = record?.tokens && (await revoke(record))
  file.remove()
  return { server: name, url, state: signInState(transport, runtime), revoked }
}

async function signIn(
  definition: RemoteServer,
  context: Context,
  options: Record<'scope' | 'clientId' | 'clientSecretEnv', string | undefined> & {
    port: number | undefined
  },
): Promise<Row> {
  const { name: server, transport, source } = definition
  refuse(definition, false)
  if (hasAuthorization(transport.headers)) {
    const hint = 'Take the header out to sign in instead.'
    throw wrongUse(`${source.path} gives ${server} an Authorization header`, hint)
  }
  const { runtime, signal, note, interactive } = context
  const { clientSecretEnv: variable, ...given } = options
  const clientSecret = variable === undefined ? undefined : runtime.env[variable]
  if (variable !== undefined && !clientSecret) throw wrongUse(`The variable ${variable} is not set`)
  const open = (address: string): void => {
    note(`To sign in at ${server}, open:\n${safeLine(address)}`, 'failure')
    if (interactive) void openAddress(address, runtime)
  }
  const place = { runtime, project: toolProject(context), signal, open }
  const row = { server, url: transport.url }
  try {
    const record = await signInAt(definition, transport, { ...place, ...given, clientSecret })
    if (!record) return { ...row, state: 'not needed' }
    return { ...row, state: signInState(transport, runtime), ...factsOf(record) }
  } catch (error) {
    if (error instanceof SkillrailError || signal.aborted) throw error
    const message = `The sign-in at ${server} failed: ${safeLine(messageOf(error))}`
    throw new ToolError({ code: 'sign-in-failed', message, cause: error })
  }
}

function rowsText({ servers }: { servers: readonly Row[] }, screen: Screen) {
  const rows = servers.map(({ server, state, issuer = '', scope = '', expiresAt, revoked }) => {
    const standing = revoked === false ? `${state} (not revoked at its server)` : state
    return [server, standing, issuer, scope, expiresAt ? `until ${expiresAt}` : ''].map(safeLine)
  })
  return screen.table(rows)
}
