const mask = '[redacted]'

/** Names of keys whose values are secrets, whatever they look like. */
const secretKey =
  /(?:^|[_.-]|(?<=[a-z]))(?:passwords?|passwd|passphrase|secrets?|tokens?|api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|credentials?|authorization|cookies?|session[_-]?id)$/i

/** Shapes that are a secret wherever they stand, each with what a person calls it. */
const secretPatterns: readonly (readonly [kind: string, pattern: RegExp])[] = [
  [
    'private key',
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  ],
  ['key of a model provider', /\b(?:sk|pk|rk)-(?:[a-z]+-)*[A-Za-z0-9_-]{16,}/g],
  ['Stripe key', /\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g],
  ['GitHub token', /\bgh[pousr]_[A-Za-z0-9]{20,}/g],
  ['GitHub token', /\bgithub_pat_[A-Za-z0-9_]{20,}/g],
  ['GitLab token', /\bglpat-[A-Za-z0-9_-]{16,}/g],
  ['Slack token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g],
  ['AWS access key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ['Google API key', /\bAIza[0-9A-Za-z_-]{35}/g],
  ['npm token', /\bnpm_[A-Za-z0-9]{30,}/g],
  ['Hugging Face token', /\bhf_[A-Za-z0-9]{20,}/g],
  // The bound keeps a run of beginnings from being read once for each of them.
  ['JSON Web Token', /\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g],
  ['authorization header', /(?<=\b(?:Bearer|Basic)\s{1,4})[A-Za-z0-9+/._~-]{12,}=*/g],
  [
    'password in an address',
    /(?<=[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,200}(?=@)/gi,
  ],
]

/** Every pattern and every assignment needs one of these; most text has none and is done at once. */
const suspicious =
  /[:=]|[spr]k[-_]|gh[pousr]_|github_pat|glpat-|xox|AKIA|ASIA|AIza|npm_|hf_|eyJ|Bearer|Basic|BEGIN/

const assignment =
  /(["']?)([A-Za-z][A-Za-z0-9_.-]{0,80})\1(\s{0,3}[=:]\s{0,3})("[^"\n]{1,2000}"|'[^'\n]{1,2000}'|[^\s"',;&]{1,2000})/g

/** The text with everything that looks like a secret replaced by `[redacted]`. */
export function redactText(text: string): string {
  if (!suspicious.test(text)) return text
  let redacted = text
  for (const [, pattern] of secretPatterns) redacted = redacted.replace(pattern, mask)
  return redacted.replace(assignment, maskAssignment)
}

/** Where a secret stands: offset and length in UTF-16 units. */
export interface SecretPlace {
  offset: number
  length: number
  /** What it is, as in "a GitHub token"; `value of KEY` where only the name of its key tells. */
  kind: string
}

/** The places that {@link redactText} would mask, by offset; the text of a secret is not given. */
export function findSecrets(text: string): SecretPlace[] {
  if (!suspicious.test(text)) return []
  const places = secretPatterns.flatMap(([kind, pattern]) =>
    Array.from(text.matchAll(pattern), ({ 0: { length }, index: offset }) => ({
      offset,
      length,
      kind,
    })),
  )
  const assigned = Array.from(text.matchAll(assignment)).flatMap((match) => {
    const [whole, quote = '', key = '', separator = '', value = ''] = match
    if (maskAssignment(whole, quote, key, separator, value) === whole) return []
    const offset = match.index + whole.length - value.length
    return [{ offset, length: value.length, kind: `value of ${key}` }]
  })
  const isKnown = ({ offset, length }: SecretPlace): boolean =>
    places.some((place) => place.offset < offset + length && offset < place.offset + place.length)
  return [...places, ...assigned.filter((place) => !isKnown(place))].toSorted(
    (a, b) => a.offset - b.offset,
  )
}

/** A JSON-like value with secrets masked, by key name and in every string. Copies; never mutates. */
export function redactValue<T>(value: T): T
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return value.map((item) => redactValue(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactEntry(key, item)]),
  )
}

function redactEntry(key: string, value: unknown): unknown {
  return isSecretKey(key) && typeof value === 'string' && value !== '' ? mask : redactValue(value)
}

function isSecretKey(key: string): boolean {
  return secretKey.test(key)
}

function maskAssignment(
  whole: string,
  quote: string,
  key: string,
  separator: string,
  value: string,
): string {
  const harmless = /^["']?(?:\d+|true|false|null|\$.*|\[redacted\].*)["']?$/.test(value)
  if (!isSecretKey(key) || harmless || separator.includes('\n')) return whole
  const valueQuote = /^["']/.exec(value)?.[0] ?? ''
  return `${quote}${key}${quote}${separator}${valueQuote}${mask}${valueQuote}`
}
