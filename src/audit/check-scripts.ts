import { findSecrets } from '#core/redact'
import { safeLine, withoutEnd } from '#core/text'
import { codeExtensions, extensionOf, interpreterOf, sourceExtensions } from '#trust/file-kinds'
import type { AuditedText, Findings } from './findings.ts'
import { wordRules } from './word-rules.ts'

/** @param candidate `head`: the beginning of the text; empty for a file that is not text. */
export function checkScript(
  candidate: { file: string; head: string; executable: boolean },
  findings: Findings,
): void {
  const { file, head, executable } = candidate
  const extension = extensionOf(file)
  const shebang = /^#![ \t]{0,8}([^\n\r]{1,200})/.exec(head)?.[1]?.trim()
  const isScript = shebang !== undefined || isNamedLikeScript(file)
  if (!isScript && (!executable || prose.has(extension))) return
  const subject = interpreterOf(file, head) ?? (extension || 'unknown language')
  const byBit = 'it is executable, without a first line that names its interpreter'
  const withoutShebang = executable ? byBit : 'the file does not name an interpreter'
  const start = shebang === undefined ? withoutShebang : `its first line starts it with ${shebang}`
  findings.add('script', { file, line: 1 }, `${subject}: ${start}`, { subject })
}

export function isNamedLikeScript(file: string): boolean {
  const extension = extensionOf(file)
  return codeExtensions.includes(extension) || sourceExtensions.includes(extension)
}

/** Some file systems set the run bit of every file. */
const prose: ReadonlySet<string> = new Set(
  'csv gif html jpeg jpg json jsonc lock md pdf png svg toml txt webp xml yaml yml'.split(' '),
)

/** Reports what a text asks for or can do, by its words. One fact per line and subject. */
export function checkCapabilities({ text, placeOf, report, countsOnly }: AuditedText): void {
  for (const { code, says, subject, patterns, near, unless } of wordRules) {
    for (const pattern of patterns) {
      let last = ''
      for (const match of text.matchAll(pattern)) {
        const end = match.index + match[0].length
        const textBefore = text.slice(Math.max(0, match.index - nearby), match.index)
        const textAfter = text.slice(end, end + nearby)
        if (near && !near.test(textBefore + match[0] + textAfter)) continue
        // Line ends are searched only in these characters: one line can be the whole file.
        const [restOfLine = ''] = textAfter.split('\n', 1)
        const line = textBefore.slice(textBefore.lastIndexOf('\n') + 1) + match[0] + restOfLine
        if (unless?.test(line)) continue
        if (countsOnly(code)) continue
        const about = safeLine(subject ?? match[1] ?? match[0]).slice(0, 80)
        const key = `${placeOf(match.index).line} ${about}`
        if (key !== last) report(code, match.index, `${says}: ${about}`, about)
        last = key
      }
    }
  }
  // A host is reported where it first occurs: its other addresses add no fact.
  const hosts = new Set<string>()
  for (const match of text.matchAll(addressPattern)) {
    const host = withoutEnd((match[1] ?? '').toLowerCase(), '.:')
    if (host === '' || hosts.has(host)) continue
    hosts.add(host)
    report('network-address', match.index, `names ${host}`, host)
  }
  for (const { offset, words } of encodedSentences(text)) {
    report('encoded-instructions', offset, `is encoded, and says: ${words}`)
  }
}

const nearby = 600

/** Matches the host of an address, without the name and password before an `@`. */
const addressPattern: RegExp =
  /\b(?:https?|wss?|ftp|git|ssh):\/\/(?:[^\s/@"'`<>]{0,200}@)?([A-Za-z0-9[\]:._${}<>*-]{1,253})/g

export function checkSecrets({ text, report }: AuditedText): void {
  for (const { offset, length, kind } of findSecrets(text)) {
    const value = text.slice(offset, offset + length)
    // Prose may quote the first line of a key; a real key continues with lines of base64.
    const isKey = /[A-Za-z0-9+/=]{40}/.test(value.slice(0, 1000))
    if (kind === 'private key' ? !isKey : isPlaceholder(value)) continue
    const isValue = kind.startsWith('value of ')
    // `schema-pk-…` is the name of a rule, not a key.
    if (kind === modelKey && /[\w-]/.test(text.charAt(offset - 1))) continue
    if ((isValue || loose.has(kind)) && !looksRandom(value)) continue
    const isToken = kind === modelKey || !loose.has(kind)
    const code = isValue ? 'secret-value' : isToken ? 'secret-token' : 'secret-form'
    const message = isValue ? `${kind}, written out` : `has the form of a secret: ${kind}`
    report(code, offset, message, kind)
  }
}

const modelKey = 'key of a model provider'

const loose: ReadonlySet<string> = new Set([
  'authorization header',
  'password in an address',
  'JSON Web Token',
  modelKey,
])

/** Whether a value is one that documentation writes in place of a secret. */
function isPlaceholder(value: string): boolean {
  return /example|sample|dummy|placeholder|your|change|redacted|insert|replace|secret|password|<|\$|\{|\*{3}|\.{3}|…|(?:x|X|0|1234){4}|abcd|abc-?123|12345|a1b2c3|_here|_aqui/i.test(
    value,
  )
}

/**
 * Whether a value mixes letters and digits, is long enough for a key, and is not a call or a path.
 */
function looksRandom(value: string): boolean {
  const content = value.replaceAll(/^["']|["']$/g, '')
  return (
    content.length >= 12 &&
    /^[\w+/=.~!@#%^&-]*$/.test(content) &&
    /\d/.test(content) &&
    /[A-Za-z]/.test(content) &&
    !/^(?:[a-z]+[._/-])+[a-z]+$/i.test(content)
  )
}

const shortRuns = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/]{40,20000}={0,2}(?![A-Za-z0-9+/=_-])/g

/** Finds base64 or hexadecimal runs that decode to sentences. */
function encodedSentences(text: string) {
  return Array.from(text.matchAll(shortRuns)).flatMap(({ index, 0: run }) => {
    const isHex = /^(?:[0-9a-f]{2})+$/i.test(run)
    const plainText = Buffer.from(run, isHex ? 'hex' : 'base64').toString('latin1')
    const isSentence =
      /^[\t\n\r -~]+$/.test(plainText) && /(?:\b[A-Za-z']{2,30}[ ,.]{1,5}){4}/.test(plainText)
    return isSentence ? [{ offset: index, words: safeLine(plainText).slice(0, 80) }] : []
  })
}
