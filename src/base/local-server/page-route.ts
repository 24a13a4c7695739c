import type { LocalRoute } from './open-local-server.ts'

/**
 * A page that everybody may see and nobody else can use: it has nothing of the user in it and asks
 * this server for that, with the token from the fragment of its address. Only the scripts and styles
 * that stand in it run; it loads nothing, sends no form and is in no frame. No text becomes markup by
 * accident: what makes HTML of a text is refused (Trusted Types).
 */
export function pageRoute(html: string): LocalRoute {
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  return {
    method: 'GET',
    isPublic: true,
    answer(_body, response) {
      response.setHeader('content-security-policy', policy)
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
    },
  }
}

/** The sources of a policy for the elements of a kind that stand in a page as text. */
function hashesOf(html: string, element: 'script' | 'style'): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const texts = html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))
  const hashes = Array.from(texts, ([, text = '']) => createHash('sha256').update(text))
  if (hashes.length === 0) return "'none'"
  return hashes.map((hash) => `'sha256-${hash.digest('base64')}'`).join(' ')
}
