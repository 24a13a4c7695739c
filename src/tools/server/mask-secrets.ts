import { isSecretKey, redactText } from '../../base/index.ts'
import type { ServerTransport } from '../config/model.ts'
import type { ToolOutcome } from '../model.ts'

/** Takes secrets out of a text. */
export type Mask = (text: string) => string

/**
 * Takes out of what a server says whatever looks like a secret, and the secrets that its own
 * configuration hands to it, which look like nothing: values of variables and headers with the name
 * of a secret, and passwords of addresses.
 */
export function serverMask(transport: ServerTransport): Mask {
  const named = Object.entries(transport.kind === 'stdio' ? transport.env : transport.headers)
  const urls = [
    ...named.map(([, value]) => value),
    ...(transport.kind === 'stdio' ? [] : [transport.url]),
  ]
  const secrets = [
    ...named.flatMap(([name, value]) => (isNameOfSecret(name) ? wordsOf(value) : [])),
    ...urls.flatMap(passwordsOf),
  ]
  const known = [...new Set(secrets.flatMap(spellings))].filter(isTelling)
  // A secret that is a part of another one comes after it.
  known.sort((a, b) => b.length - a.length)
  return (text) => redactText(text, known)
}

/** What a tool says of its failure; an answer that is none stays as it is. */
export function maskedError(outcome: ToolOutcome, mask: Mask): ToolOutcome {
  if (!outcome.isError) return outcome
  const content = outcome.content.map((part) =>
    part.type === 'text' ? { ...part, text: mask(part.text) } : part,
  )
  return { ...outcome, content }
}

function isNameOfSecret(name: string): boolean {
  return isSecretKey(name) || /(?:^|[_.-])(?:auth|dsn|key|pass|pat|pin|pwd)$/i.test(name)
}

/** Words that a server says anyway would make its sentences unreadable. */
function isTelling(secret: string): boolean {
  return secret.length > 3 && !/^(?:true|false|none|null|basic|bearer)$/i.test(secret)
}

/** With what stands behind the scheme of a header. */
function wordsOf(value: string): string[] {
  const trimmed = value.trim()
  const [, credentials] = /^(?:basic|bearer|token)\s+(\S.*)$/i.exec(trimmed) ?? []
  return credentials === undefined ? [trimmed] : [trimmed, credentials]
}

/** Of an address: its password, and what its query calls a secret. */
function passwordsOf(value: string): string[] {
  if (!value.includes('://') || !URL.canParse(value)) return []
  const { password, searchParams } = new URL(value)
  const queried = [...searchParams].flatMap(([key, text]) => (isNameOfSecret(key) ? text : []))
  return password === '' ? queried : [password, decoded(password), ...queried]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** As it is, as it stands in an address, and as it stands in JSON. */
function spellings(secret: string): string[] {
  return [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]
}
