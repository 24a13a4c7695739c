const mask = '[redacted]'

const secretKey =
  /(?:^|[_.-]|(?<=[a-z]))(?:passwords?|passwd|passphrase|secrets?|tokens?|api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|credentials?|authorization|cookies?|session[_-]?id)$/i

/** Forms that are a secret in any place, each with its usual name. */
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
  // Only at the start of a run of token characters, or after its first word. So a run with many possible
  // beginnings is read at most twice, not once for each of them.
  ['JSON Web Token', /(?<=(?<![\w-])(?:\w{1,40}-)?)eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g],
  ['authorization header', /(?<=\b(?:Bearer|Basic)\s{1,4})[A-Za-z0-9+/._~-]{12,}=*/g],
  [
    'password in an address',
    /(?<=[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,200}(?=@)/gi,
  ],
]

/** Every pattern and every assignment needs one of these. Most texts have none, which is fast to check. */
const suspicious =
  /[:=]|[spr]k[-_]|gh[pousr]_|github_pat|glpat-|xox|AKIA|ASIA|AIza|npm_|hf_|eyJ|Bearer|Basic|BEGIN/

/** A key and the assignment sign. The value is read only if the key names a secret. */
const assignment = /(\\?["']|)([A-Za-z][A-Za-z0-9_.-]{0,80})\1[^\S\n]{0,3}[=:][^\S\n]{0,3}/g
const assignedValue =
  /(\\"|"|')((?:[^"'\\\n]|\\[^"]|(?!\1)\\?["']){1,2000})\1|()([^\s"',;&]{1,2000})/y
const harmlessValue = /^(?:\d+|true|false|null|\$.*|\[redacted\].*)$/

/** Replaces everything that looks like a secret, and the `secrets`, with `[redacted]`. */
export function redactText(text: string, secrets: readonly string[] = []): string {
  const result = redactSecrets(text, secrets)
  if (!suspicious.test(result)) return result
  // A masked value can complete the address around it.
  return redactSecrets(maskPlaces(result, assignedSecrets(result)), [])
}

/** Masks the `secrets` and every text with the form of a secret, but no value because of its key. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  let result = text
  for (const secret of secrets) result = result.replaceAll(secret, mask)
  if (!suspicious.test(result)) return result
  for (const [, pattern] of secretPatterns) result = result.replace(pattern, mask)
  return result
}

/** Returns the values of variables with the name of a secret, if they are long enough for one. */
export function secretVariables(environment: Readonly<Record<string, string | undefined>>) {
  return Object.entries(environment).flatMap(([name, value = '']) =>
    isSecretKey(name) && value.length >= 4 && !harmlessValue.test(value) ? [value] : [],
  )
}

/** The place of a secret: offset and length in UTF-16 units. */
export interface SecretPlace {
  offset: number
  length: number
  kind: string
}

/** Returns the places that {@link redactText} would mask, by offset, without the secrets themselves. */
export function findSecrets(text: string): SecretPlace[] {
  if (!suspicious.test(text)) return []
  let next = 0
  /** The end of the places before `next`. */
  let coveredEnd = 0
  const places = secretPatterns.flatMap(([kind, pattern]) =>
    Array.from(text.matchAll(pattern), ({ 0: { length }, index: offset }) => ({
      offset,
      length,
      kind,
    })),
  )
  places.sort(byOffset)
  const assignments = assignedSecrets(text).filter((place) => !overlapsAny(place))
  return [...places, ...assignments].toSorted(byOffset)

  /** Assignments come in order, so each place is visited only once. */
  function overlapsAny({ offset, length }: SecretPlace): boolean {
    while ((places[next]?.offset ?? Infinity) < offset + length) {
      const { offset: start = 0, length: size = 0 } = places[next++] ?? {}
      coveredEnd = Math.max(coveredEnd, start + size)
    }
    return coveredEnd > offset
  }
}

function byOffset(a: SecretPlace, b: SecretPlace): number {
  return a.offset - b.offset
}

/** Returns a copy of a JSON-like value with masked secrets, by key name and in every string. */
export function redactValue<T>(value: T, secrets?: readonly string[]): T
export function redactValue(value: unknown, secrets: readonly string[] = []): unknown {
  if (typeof value === 'string') return redactText(value, secrets)
  if (Array.isArray(value)) return value.map((item) => redactValue(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      redactText(key, secrets),
      isSecretKey(key) && typeof item === 'string' && item !== ''
        ? mask
        : redactValue(item, secrets),
    ]),
  )
}

export function isSecretKey(key: string): boolean {
  return secretKey.test(key)
}

/** Returns the values whose key names a secret, without their quotes. */
function assignedSecrets(text: string): SecretPlace[] {
  const places: SecretPlace[] = []
  assignment.lastIndex = 0
  for (let match = assignment.exec(text); match !== null; match = assignment.exec(text)) {
    const [, , key = ''] = match
    if (!isSecretKey(key)) continue
    assignedValue.lastIndex = assignment.lastIndex
    const [valueText = '', quote = '', quotedValue, , bare = ''] = assignedValue.exec(text) ?? []
    const value = quotedValue ?? bare
    if (value !== '' && !harmlessValue.test(value)) {
      const offset = assignment.lastIndex + quote.length
      places.push({ offset, length: value.length, kind: `value of ${key}` })
    }
    assignment.lastIndex += valueText.length
  }
  return places
}

function maskPlaces(text: string, places: readonly SecretPlace[]): string {
  let [result, end] = ['', 0]
  for (const { offset, length } of places) {
    result += text.slice(end, offset) + mask
    end = offset + length
  }
  return result + text.slice(end)
}
