import { AgentUsageError } from '../agent-errors.ts'

/**
 * Passes for the address of a server.
 *
 * @throws {AgentUsageError} for one without a scheme, or with another one than http and https.
 */
export function requireAddress(text: string): void {
  if (isAddress(text)) return
  const completed = `http://${text}`
  throw new AgentUsageError({
    code: 'base-url',
    message: `The address ${JSON.stringify(text)} of the provider is none that can be asked.`,
    hint:
      !text.includes('://') && /^[\w.[]/.test(text) && isAddress(completed)
        ? `Without http:// or https:// it names no server: write ${completed}`
        : 'It looks like http://127.0.0.1:11434/v1.',
  })
}

function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}
