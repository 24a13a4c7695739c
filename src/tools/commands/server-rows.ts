import { redactText } from '../../core/redact.ts'
import type { Runtime } from '../../core/runtime.ts'
import { safeLine, safeText } from '../../core/text.ts'
import { readRefreshRecord } from '../cache/stored-tools.ts'
import type { IndexedServer } from '../cache/tool-index.ts'
import type { ServerDefinition } from '../config/model.ts'
import { servedStatus } from '../server/served-process.ts'
import { type SignInState, signInState } from '../server/sign-in.ts'
import { type ProjectContext, toolProject } from './project-tools.ts'

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

export async function knownServers(
  context: ProjectContext,
  definitions: readonly ServerDefinition[],
): Promise<ServerRow[]> {
  const { runtime } = context
  const status = await servedStatus({ project: runtime.cwd, runtime })
  const { record } = readRefreshRecord({ project: toolProject(context), runtime })
  return definitions.map((definition) => {
    const { name, blocked } = definition
    const row = rowOf(definition, runtime)
    const kept = status?.servers.find((server) => server.name === name)
    if (kept?.state === 'running' || kept?.state === 'failed') {
      return { ...row, state: kept.state, message: kept.message }
    }
    const state = standingOf(definition)
    if (state !== 'usable') return { ...row, state, message: blocked?.message }
    const failure = record?.servers.find((server) => server.name === name)?.failure
    if (failure === undefined || failure.notTrusted === true) return { ...row, state }
    const message = `At the last refresh: ${failure.message}`
    return { ...row, state: 'failing', message, stderrTail: failure.stderrTail }
  })
}

export function rowOf(server: ServerDefinition, runtime: Runtime) {
  const { name, source, transport } = server
  const address = addressOf(shownServer(server))
  const row = { name, client: source.client, path: source.path, address }
  return transport.kind === 'stdio' ? row : { ...row, signIn: signInState(transport, runtime) }
}

export function standingOf({
  disabled,
  blocked,
}: Pick<ServerDefinition, 'disabled' | 'blocked'>): string {
  if (disabled) return 'disabled'
  if (blocked === undefined) return 'usable'
  return blocked.reason === 'unresolved' ? 'unusable' : 'not trusted'
}

export function unavailableNotes(servers: readonly IndexedServer[]): string[] {
  const notes = servers.flatMap(({ name, unavailable }) => {
    if (unavailable === undefined) return []
    return unavailable.notTrusted === true
      ? [`${name} was not trusted at the last refresh, and not asked`]
      : [`${name} is configured and failing: ${safeLine(unavailable.message)}`]
  })
  const isSaid = servers.some(({ unavailable }) => unavailable?.stderrTail)
  return isSaid ? [...notes, whereTheRestIs] : notes
}

export const whereTheRestIs = '`skillrail tools servers` shows all that they said.'

export function indented(text: string): string {
  return safeText(text)
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}

export interface ShownServer extends Omit<ServerDefinition, 'digest'> {
  /** Keeps a definition with secrets from being used as a shown one. */
  digest?: undefined
}

export function shownServer(server: ServerDefinition): ShownServer {
  const { transport } = server
  const masked = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.keys(map).map((key) => [key, mask]))
  if (transport.kind === 'stdio') {
    const { kind, command, args, env, cwd } = transport
    const shown = { kind, command, args: maskedWords(args), env: masked(env), cwd }
    return { ...server, transport: shown, digest: undefined }
  }
  const { kind, url, headers } = transport
  const shown = { kind, url: maskedUrl(url), headers: masked(headers) }
  return { ...server, transport: shown, digest: undefined }
}

export function addressOf({ transport }: ShownServer): string {
  if (transport.kind !== 'stdio') return `${transport.kind} ${transport.url}`
  return [transport.command, ...transport.args].join(' ')
}

/** The word after an option that is named like a secret is a secret, too. */
function maskedWords(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const option = words[index - 1] ?? ''
    const isSecret = /^--?[\w-]*(?:token|key|secret|password|passwd|credentials?)$/i.test(option)
    return isSecret && !word.startsWith('-') ? mask : redactText(word)
  })
}

function maskedUrl(text: string): string {
  if (!URL.canParse(text)) return redactText(text)
  const url = new URL(text)
  const query = [...url.searchParams.keys()].map((key) => `${key}=${mask}`).join('&')
  const user = url.username === '' && url.password === '' ? '' : `${mask}@`
  const path = redactText(url.pathname)
  return `${url.protocol}//${user}${url.host}${path}${query === '' ? '' : `?${query}`}`
}

const mask = '[redacted]'
