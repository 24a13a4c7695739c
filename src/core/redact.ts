const mask = '[redacted]'

const secretKey =
  /(?:^|[_.-]|(?<=[a-z]))(?:passwords?|passwd|passphrase|secrets?|tokens?|api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|credentials?|authorization|cookies?|session[_-]?id)$/i

/** Shapes that are a secret wherever they stand, each with what a user calls it. */
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
  // Where a run of its characters begins, or after one word of it: a run of beginnings is read twice
  // at most, not once for each of them.
  ['JSON Web Token', /(?<=(?<![\w-])(?:\w{1,40}-)?)eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g],
  ['authorization header', /(?<=\b(?:Bearer|Basic)\s{1,4})[A-Za-z0-9+/._~-]{12,}=*/g],
  [
    'password in an address',
    /(?<=[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,200}(?=@)/gi,
  ],
]

/** Every pattern and every assignment needs one of these; most text has none and is done at once. */
const suspicious =
  /[:=]|[spr]k[-_]|gh[pousr]_|github_pat|glpat-|xox|AKIA|ASIA|AIza|npm_|hf_|eyJ|Bearer|Basic|BEGIN/

/** A key and what assigns; the value is looked at only where the key tells of a secret. */
const assignment = /(\\?["']|)([A-Za-z][A-Za-z0-9_.-]{0,80})\1[^\S\n]{0,3}[=:][^\S\n]{0,3}/g
const assignedValue =
  /(\\"|"|')((?:[^"'\\\n]|\\[^"]|(?!\1)\\?["']){1,2000})\1|()([^\s"',;&]{1,2000})/y
const harmlessValue = /^(?:\d+|true|false|null|\$.*|\[redacted\].*)$/

/** The text with `[redacted]` for what looks like a secret, and for what is known to be one. */
export function redactText(text: string, known: readonly string[] = []): string {
  const redacted = redactKnown(text, known)
  if (!suspicious.test(redacted)) return redacted
  // A value that is masked can complete the address around it.
  return redactKnown(maskPlaces(redacted, assignedSecrets(redacted)), [])
}

/** Masks what is known to be a secret or has the form of one; whatever its key says, nothing else. */
export function redactKnown(text: string, known: readonly string[]): string {
  let redacted = text
  for (const secret of known) redacted = redacted.replaceAll(secret, mask)
  if (!suspicious.test(redacted)) return redacted
  for (const [, pattern] of secretPatterns) redacted = redacted.replace(pattern, mask)
  return redacted
}

/** The values of variables whose names tell of a secret, where they are long enough for one. */
export function secretVariables(environment: Readonly<Record<string, string | undefined>>) {
  return Object.entries(environment).flatMap(([name, value = '']) =>
    isSecretKey(name) && value.length >= 4 && !harmlessValue.test(value) ? [value] : [],
  )
}

/** Where a secret stands: offset and length in UTF-16 units. */
export interface SecretPlace {
  offset: number
  length: number
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
  const assigned = assignedSecrets(text)
  const isKnown = ({ offset, length }: SecretPlace) =>
    places.some((place) => place.offset < offset + length && offset < place.offset + place.length)
  return [...places, ...assigned.filter((place) => !isKnown(place))].toSorted(
    (a, b) => a.offset - b.offset,
  )
}

/** A JSON-like value with secrets masked, by key name and in every string. Copies; never mutates. */
export function redactValue<T>(value: T, known?: readonly string[]): T
export function redactValue(value: unknown, known: readonly string[] = []): unknown {
  if (typeof value === 'string') return redactText(value, known)
  if (Array.isArray(value)) return value.map((item) => redactValue(item, known))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      redactText(key, known),
      isSecretKey(key) && typeof item === 'string' && item !== '' ? mask : redactValue(item, known),
    ]),
  )
}

export function isSecretKey(key: string): boolean {
  return secretKey.test(key)
}

/** Values whose key tells of a secret, without their quotes. */
function assignedSecrets(text: string): SecretPlace[] {
  const places: SecretPlace[] = []
  assignment.lastIndex = 0
  for (let found = assignment.exec(text); found !== null; found = assignment.exec(text)) {
    const [, , key = ''] = found
    if (!isSecretKey(key)) continue
    assignedValue.lastIndex = assignment.lastIndex
    const [whole = '', quote = '', quoted, , bare = ''] = assignedValue.exec(text) ?? []
    const value = quoted ?? bare
    if (value !== '' && !harmlessValue.test(value)) {
      const offset = assignment.lastIndex + quote.length
      places.push({ offset, length: value.length, kind: `value of ${key}` })
    }
    assignment.lastIndex += whole.length
  }
  return places
}

function maskPlaces(text: string, places: readonly SecretPlace[]): string {
  let [masked, end] = ['', 0]
  for (const { offset, length } of places) {
    masked += text.slice(end, offset) + mask
    end = offset + length
  }
  return masked + text.slice(end)
}
