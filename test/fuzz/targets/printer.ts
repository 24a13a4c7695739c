import { stripVTControlCharacters } from 'node:util'
import { findSecrets, redactText, redactValue } from '../../../src/core/redact.ts'
import { safeLine, safeText } from '../../../src/core/text.ts'
import { createOutput } from '../../../src/cli/terminal.ts'
import { demand, obeyedByTerminals, textOf } from '../target.ts'

export const name = 'printer'
const token = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_')
export const seeds: readonly string[] = [
  'plain\ttext\r\nwith \u001b[31mcolour\u001b[0m and \u202eoverride',
  'family 👨‍👩‍👧 ❤️ a\u200db \\ud800 \u{e0041}',
  `TOKEN=${token} password: "x y" Authorization: Bearer abcdefghijklmnop`,
  '\u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u009b2J\u0085\u2028',
  `https://user:pass@host/ {"api_key":"value","n":"${token}"}`,
  'a\\udc00\\ud83d\\ude00\\u0000',
]
export const words: readonly string[] = [
  '\u001b[',
  '\u001b]0;',
  '\u0007',
  '\u009b',
  '\u200d',
  '\ufe0f',
  '👩',
  '\\ud83d',
  '\\udc00',
  token,
  'password=',
  'Bearer ',
  '://a:b@',
  'eyJ',
  '-----BEGIN PRIVATE KEY-----',
]

/** No control sequence is printed; safe text does not change; a masked secret stays masked. */
export function fuzz(data: Uint8Array): void {
  const text = unescaped(textOf(data))
  const safe = safeText(text)
  demand(!obeyedByTerminals.test(safe), 'a character that is obeyed', safe)
  demand(!/\p{Surrogate}/u.test(safe), 'a lone surrogate', safe)
  demand(safeText(safe) === safe, 'not the same the second time', safe, safeText(safe))
  demand(!/[\n\t]/.test(safeLine(text)), 'more than a line', safeLine(text))
  if (/^[ -~\n\t]*$/.test(text)) demand(safe === text, 'a change of plain text', text)
  checkOutput(text)
  checkSecrets(text)
}

function checkOutput(text: string): void {
  let printed = ''
  const sink = { isTerminal: true, columns: 80, write: (part: string) => void (printed += part) }
  const env = { NO_COLOR: '1' }
  const output = createOutput({ stdout: sink, stderr: sink, env, quiet: false, verbose: true })
  const diagnostic = {
    code: 'a',
    severity: 'error',
    message: text,
    path: text,
    hint: text,
  } as const
  output.note(text)
  output.failure(text)
  output.detail(text)
  output.diagnostics([diagnostic])
  output.table([
    [safeLine(text), 'b'],
    ['c', safeLine(text)],
  ])
  demand(!obeyedByTerminals.test(printed), 'a character that is obeyed is printed', printed)
  let plain = ''
  const pipe = { ...sink, isTerminal: false, write: (part: string) => void (plain += part) }
  createOutput({ stdout: pipe, stderr: pipe, env, quiet: false, verbose: true }).styled(
    safeText(text),
  )
  demand(
    plain === `${stripVTControlCharacters(safeText(text))}\n`,
    'styles without a terminal',
    plain,
  )
}

function checkSecrets(text: string): void {
  const redacted = redactText(text)
  if (!text.includes(token)) {
    demand(!redactText(`${text}\n${token}\n`).includes(token), 'a token that stays', text)
  }
  demand(redactText(redacted) === redacted, 'not the same the second time', text, redacted)
  demand(redactValue({ text }).text === redacted, 'another text in a value', redacted)
  let last = 0
  for (const { offset, length } of findSecrets(text)) {
    demand(offset >= 0 && offset + length <= text.length && offset >= last, 'a place', offset)
    last = offset
  }
}

/** Lone surrogates have no UTF-8; here they are written `\ud800`. */
function unescaped(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
