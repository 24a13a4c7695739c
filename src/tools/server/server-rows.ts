import { redactText } from '#core/redact'
import type { Runtime } from '#core/runtime'
import { readRefreshRecord } from '#tools/cache/stored-tools'
import type { ServerDefinition } from '#tools/config/model'
import { type ProjectContext, toolProject } from '#tools/project-tools'
import { keptStatus } from './kept-client.ts'
import { type SignInState, signInState } from './sign-in.ts'

export interface ServerRow {
  name: string
  state: string
  signIn?: SignInState | undefined
  tools?: number | undefined
  durationMs?: number | undefined
  client: string
  path: string
  /** Its program or its URL, with secrets masked. */
  address: string
  message?: string | undefined
  stderrTail?: string | undefined
}

export async function serverRows(
  context: ProjectContext,
  definitions: readonly ServerDefinition[],
): Promise<ServerRow[]> {
  const { runtime } = context
  const status = await keptStatus({ project: runtime.cwd, runtime })
  const { record } = readRefreshRecord({ project: toolProject(context), runtime })
  return definitions.map((definition) => {
    const { name, blocked } = definition
    const row = rowOf(definition, runtime)
    const keptServer = status?.servers.find((server) => server.name === name)
    if (keptServer?.state === 'running' || keptServer?.state === 'failed') {
      return { ...row, state: keptServer.state, message: keptServer.message }
    }
    const state = standingOf(definition)
    if (state !== 'usable') return { ...row, state, message: blocked?.message }
    const failure = record?.servers.find((server) => server.name === name)?.failure
    if (!failure || failure.notTrusted === true) return { ...row, state }
    const message = `At the last refresh: ${failure.message}`
    return { ...row, state: 'failing', message, stderrTail: failure.stderrTail }
  })
}

export function rowOf(server: ServerDefinition, runtime: Runtime) {
  const { name, source, transport } = server
  const address = addressOf(maskedServer(server))
  const row = { name, client: source.client, path: source.path, address }
  return transport.kind === 'stdio' ? row : { ...row, signIn: signInState(transport, runtime) }
}

export function standingOf({
  disabled,
  blocked,
}: Pick<ServerDefinition, 'disabled' | 'blocked'>): string {
  if (disabled) return 'disabled'
  if (!blocked) return 'usable'
  return blocked.reason === 'unresolved' ? 'unusable' : 'not trusted'
}

export interface MaskedServer extends Omit<ServerDefinition, 'digest'> {
  /** Distinguishes the type from that of a definition with secrets. */
  digest?: undefined
}

export function maskedServer(server: ServerDefinition): MaskedServer {
  const { transport } = server
  const maskValues = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.keys(map).map((key) => [key, mask]))
  if (transport.kind === 'stdio') {
    const { kind, command, args, env, cwd } = transport
    const visible = { kind, command, args: maskedWords(args), env: maskValues(env), cwd }
    return { ...server, transport: visible, digest: undefined }
  }
  const { kind, url, headers } = transport
  const visible = { kind, url: maskedUrl(url), headers: maskValues(headers) }
  return { ...server, transport: visible, digest: undefined }
}

export function addressOf({ transport }: MaskedServer): string {
  if (transport.kind !== 'stdio') return `${transport.kind} ${transport.url}`
  return [transport.command, ...transport.args].join(' ')
}

/** Masks secrets in arguments, also the word after an option with the name of a secret. */
function maskedWords(words: readonly string[]) {
  return words.map((word, index) => {
    const option = words[index - 1] ?? ''
    const isSecret = /^--?[\w-]*(?:token|key|secret|password|passwd|credentials?)$/i.test(option)
    return isSecret && !word.startsWith('-') ? mask : redactText(word)
  })
}

function maskedUrl(text: string) {
  if (!URL.canParse(text)) return redactText(text)
  const url = new URL(text)
  const query = [...url.searchParams.keys()].map((key) => `${key}=${mask}`).join('&')
  const user = url.username === '' && url.password === '' ? '' : `${mask}@`
  const path = redactText(url.pathname)
  return `${url.protocol}//${user}${url.host}${path}${query === '' ? '' : `?${query}`}`
}

const mask = '[redacted]'
