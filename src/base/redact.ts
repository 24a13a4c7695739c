const mask = '[redacted]'

/** Names of keys whose values are secrets, whatever they look like. */
const secretKey =
  /(?:^|[_.-]|(?<=[a-z]))(?:passwords?|passwd|passphrase|secrets?|tokens?|api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|credentials?|authorization|cookies?|session[_-]?id)$/i

/** A key that only counts tokens (`inputTokens`, `max_tokens`) is no secret: its value is a number. */
const secretPatterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk)-(?:[a-z]+-)*[A-Za-z0-9_-]{16,}/g, // model providers
  /\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g, // Stripe
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g, // GitHub
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g, // GitLab
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g, // Slack
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, // AWS
  /\bAIza[0-9A-Za-z_-]{35}/g, // Google
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g, // Hugging Face
  /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, // JSON Web Token
  /(?<=\b(?:Bearer|Basic)\s{1,4})[A-Za-z0-9+/._~-]{12,}=*/g,
  /(?<=[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,200}(?=@)/gi, // user:password@host
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
  for (const pattern of secretPatterns) redacted = redacted.replace(pattern, mask)
  return redacted.replace(assignment, maskAssignment)
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
