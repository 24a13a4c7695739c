import { redactText, safeLine, safeText } from '../base/index.ts'
import type { IndexedServer, ServerDefinition } from '../tools/index.ts'
import type { Output } from './output.ts'

/** How a server is reached, in one line, secrets masked. */
export function addressOf({ transport }: ServerDefinition): string {
  if (transport.kind !== 'stdio') return `${transport.kind} ${maskedUrl(transport.url)}`
  return [transport.command, ...maskedWords(transport.args)].join(' ')
}

export function standingOf({ disabled, blocked }: ServerDefinition): string {
  if (disabled) return 'disabled'
  if (blocked === undefined) return 'usable'
  return blocked.reason === 'unresolved' ? 'unusable' : 'not trusted'
}

/** One line for each server that the last refresh could not list; all they said with `--verbose`. */
export function printUnavailable(servers: readonly IndexedServer[], output: Output): void {
  const failing = servers.flatMap(({ name, unavailable }) =>
    unavailable === undefined ? [] : [{ name, ...unavailable }],
  )
  for (const { name, message, stderrTail, notTrusted } of failing) {
    output.note(
      notTrusted === true
        ? `${safeLine(name)} was not trusted at the last refresh, and not asked`
        : `${safeLine(name)} is configured and failing: ${safeLine(message)}`,
    )
    if (stderrTail !== '') output.detail(indented(stderrTail))
  }
  if (failing.some(({ stderrTail }) => stderrTail !== '')) output.note(whereTheRestIs)
}

/** Of what a listing leaves out. */
export const whereTheRestIs = '`skillrail tools servers` shows all that they said.'

/** What a server said, set off from our own words. */
export function indented(text: string): string {
  return safeText(text)
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}

/** A definition as it may be shown: no value of a variable or a header. */
export function shownServer(server: ServerDefinition): object {
  const { name, transport, source, disabled, trusted, blocked, allow, deny } = server
  const { startupTimeoutMs, callTimeoutMs } = server
  const masked = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.keys(map).map((key) => [key, mask]))
  const shown =
    transport.kind === 'stdio'
      ? {
          kind: transport.kind,
          command: transport.command,
          args: maskedWords(transport.args),
          env: masked(transport.env),
          cwd: transport.cwd,
        }
      : { kind: transport.kind, url: maskedUrl(transport.url), headers: masked(transport.headers) }
  return {
    name,
    transport: shown,
    source,
    disabled,
    trusted,
    blocked,
    allow,
    deny,
    startupTimeoutMs,
    callTimeoutMs,
  }
}

/** A word after an option with the name of a secret is one, too. */
function maskedWords(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const option = words[index - 1] ?? ''
    const isSecret = /^--?[\w-]*(?:token|key|secret|password|passwd|credentials?)$/i.test(option)
    return isSecret && !word.startsWith('-') ? mask : redactText(word)
  })
}

/** Without the values of its query and what stands before the host. */
function maskedUrl(text: string): string {
  if (!URL.canParse(text)) return redactText(text)
  const url = new URL(text)
  const query = [...url.searchParams.keys()].map((key) => `${key}=${mask}`).join('&')
  const user = url.username === '' && url.password === '' ? '' : `${mask}@`
  const path = redactText(url.pathname)
  return `${url.protocol}//${user}${url.host}${path}${query === '' ? '' : `?${query}`}`
}

const mask = '[redacted]'
