/** As long as the tab is open; no other origin can read it. */
const key = 'skillrail-token'

export function knownToken(): string | undefined {
  return sessionStorage.getItem(key) ?? undefined
}

export function forgetToken(): void {
  sessionStorage.removeItem(key)
}

/**
 * Gets the token for the code in the address, which works once: what a browser keeps of an address in
 * its history stays there, even where another address takes its place at once.
 */
export async function takeToken(): Promise<void> {
  const code = /^#once-([0-9a-f]{64})$/.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, '', '#/skills')
  const response = await fetch('/enter', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  if (!response.ok) return
  const answer: { token: string } = await response.json()
  sessionStorage.setItem(key, answer.token)
}
