import { AgentUsageError } from '../agent-errors.ts'

/**
 * Passes for the address of a server.
 *
 * @throws {AgentUsageError} for one without a scheme, with another one than http and https, or with a
 *   user or password in it.
 */
export function requireAddress(text: string): void {
  if (hasCredentials(text)) {
    throw new AgentUsageError({
      code: 'base-url',
      message: 'The address of the provider has a user or a password in it, which is never sent.',
      hint: 'Take it out, and give a key by the variable of the provider, such as SKILLRAIL_AGENT_API_KEY.',
    })
  }
  if (isAddress(text)) return
  const [shown = ''] = text.split(/[?#]/)
  const completed = `http://${shown}`
  throw new AgentUsageError({
    code: 'base-url',
    message: `The address ${JSON.stringify(shown)} of the provider is none that can be asked.`,
    hint:
      !shown.includes('://') && /^[\w.[]/.test(shown) && isAddress(completed)
        ? `Without http:// or https:// it names no server: write ${completed}`
        : 'It looks like http://127.0.0.1:11434/v1.',
  })
}

function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

/** Also where the scheme is missing, and `me:secret@host` is taken for a scheme and a path. */
function hasCredentials(text: string): boolean {
  return [text, `http://${text}`].some((address) => {
    const url = URL.parse(address)
    return url !== null && (url.username !== '' || url.password !== '')
  })
}
