import { findSecrets, safeLine } from '../base/index.ts'
import type { AuditedText } from './check-characters.ts'
import type { Findings } from './_findings.ts'

/** Where secrets stand. What is shown is the kind of a secret, and never the secret. */
export function checkSecrets({ file, text, placeOf }: AuditedText, findings: Findings): void {
  for (const { offset, length, kind } of findSecrets(text)) {
    const value = text.slice(offset, offset + length)
    if (kind === 'private key' ? !hasKeyMaterial(value) : isPlaceholder(value)) continue
    const isValue = kind.startsWith('value of ')
    // `schema-pk-…` is the name of a rule, and no key.
    if (kind === modelKey && /[\w-]/.test(text.charAt(offset - 1))) continue
    if ((isValue || loose.has(kind)) && !looksRandom(value)) continue
    const place = { file, ...placeOf(offset) }
    const subject = safeLine(kind)
    if (isValue) findings.add('secret-value', place, `${subject}, written out`, { subject })
    else {
      const code = kind === modelKey || !loose.has(kind) ? 'secret-token' : 'secret-form'
      findings.add(code, place, `has the form of a secret: ${subject}`, { subject })
    }
  }
}

const modelKey = 'key of a model provider'

/** Forms that other text has too. */
const loose: ReadonlySet<string> = new Set([
  'authorization header',
  'password in an address',
  'JSON Web Token',
  modelKey,
])

/** What examples in documentation say instead of a secret. */
function isPlaceholder(value: string): boolean {
  return /example|sample|dummy|placeholder|your|change|redacted|insert|replace|secret|password|<|\$|\{|\*{3}|\.{3}|…|(?:x|X|0|1234){4}|abcd|abc-?123|12345|a1b2c3|_here|_aqui/i.test(
    value,
  )
}

/** Prose names the first line of a key; a key has lines of base64 behind it. */
function hasKeyMaterial(value: string): boolean {
  return /[A-Za-z0-9+/=]{40}/.test(value.slice(0, 1000))
}

/** Letters and digits mixed, long enough for a key, and no call or path. */
function looksRandom(value: string): boolean {
  const bare = value.replaceAll(/^["']|["']$/g, '')
  return (
    bare.length >= 12 &&
    /^[\w+/=.~!@#%^&-]*$/.test(bare) &&
    /\d/.test(bare) &&
    /[A-Za-z]/.test(bare) &&
    !/^(?:[a-z]+[._/-])+[a-z]+$/i.test(bare)
  )
}
