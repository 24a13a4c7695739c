import { isSecretKey, redactValue } from '../../core/redact.ts'
import { tellsFailure } from '../call/attempts.ts'
import type { ServerTransport } from '../config/model.ts'
import type { ToolContent, ToolOutcome } from '../model.ts'

export type Mask = <T>(said: T) => T

/**
 * Takes out of what a server says whatever looks like a secret, and the secrets that its own
 * configuration hands to it, which look like nothing: values of variables and headers with the name
 * of a secret, and passwords of addresses.
 */
export function serverMask(transport: ServerTransport): Mask {
  const [named, urls] =
    transport.kind === 'stdio'
      ? [Object.entries(transport.env), []]
      : [Object.entries(transport.headers), [transport.url]]
  const secrets = [
    ...named.flatMap(([name, value]) => (isNameOfSecret(name) ? wordsOf(value) : [])),
    ...[...named.map(([, value]) => value), ...urls].flatMap(passwordsOf),
  ]
  const known = [...new Set(secrets.flatMap(spellings))].filter(isTelling)
  // A secret that is a part of another one comes after it.
  known.sort((a, b) => b.length - a.length)
  return (said) => redactValue(said, known)
}

/** The answer of a call that succeeded is what was asked for, and stays as it is. */
export function maskedError(outcome: ToolOutcome, mask: Mask): ToolOutcome {
  if (!outcome.isError && !tellsFailure(outcome)) return outcome
  const content = outcome.content.map((part) => maskedPart(part, mask))
  return { ...outcome, content, structured: mask(outcome.structured) }
}

function maskedPart(part: ToolContent, mask: Mask): ToolContent {
  switch (part.type) {
    case 'image':
    case 'audio':
      return part
    case 'resource':
      return { ...part, uri: mask(part.uri), text: mask(part.text) }
    case 'text':
    case 'link':
      return mask(part)
  }
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

function spellings(secret: string): string[] {
  return [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]
}
