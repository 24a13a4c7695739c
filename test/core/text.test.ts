import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findSecrets, redactText, redactValue } from '../../src/core/redact.ts'
import { nearest, safeLine, safeText } from '../../src/core/text.ts'

describe('safeText', () => {
  it.each([
    ['plain text\twith tab\nand newline', 'plain text\twith tab\nand newline'],
    ['one\r\ntwo', 'one\ntwo'],
    ['\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['\u001b]8;;http://x\u0007link', '\\x1b]8;;http://x\\x07link'],
    ['over\rwritten', 'over\\x0dwritten'],
    ['\u009b31m', '\\x9b31m'],
    ['a\u202egnp.exe', 'a\\u{202e}gnp.exe'],
    ['a\u2066b\u2069', 'a\\u{2066}b\\u{2069}'],
    ['tag\u{e0041}\u{e007f}', 'tag\\u{e0041}\\u{e007f}'],
    ['zero\u200bwidth\ufeff', 'zero\\u{200b}width\\u{feff}'],
    ['lone \ud800 surrogate', 'lone \\u{d800} surrogate'],
    ['a\u200db', 'a\\u{200d}b'],
    ['no \ufffe character \uffff', 'no \\u{fffe} character \\u{ffff}'],
    ['family 👨‍👩‍👧 ❤️', 'family 👨‍👩‍👧 ❤️'],
    ['Grüße, 世界, עברית', 'Grüße, 世界, עברית'],
  ])('changes %j to %j', (text, expected) => {
    expect(safeText(text)).toBe(expected)
  })

  it('leaves no control characters in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(safeText(text)).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        )
      }),
    )
  })

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(safeText(safeText(text))).toBe(safeText(text))
      }),
    )
  })
})

it('safeLine puts everything on one line', () => {
  expect(safeLine('a\n\n\tb\r\nc')).toBe('a b c')
})

const joined = (...parts: string[]): string => parts.join('')
const webToken = (more: string): string =>
  [joined('ey', 'JhbGciOiJI', more), joined('ey', 'JzdWIiOiIx'), 'q7R8t9'].join('.')

describe('redactText', () => {
  it.each([
    ['token ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'token [redacted]'],
    ['AKIAABCDEFGHIJKLMNOP', '[redacted]'],
    ['sk-ant-api03-abcdefghijklmnopqrst', '[redacted]'],
    ['Bearer abcdef0123456789', 'Bearer [redacted]'],
    ['postgres://user:hunter2@db/x', 'postgres://user:[redacted]@db/x'],
    ['PASSWORD=hunter2 next', 'PASSWORD=[redacted] next'],
    ['{"apiKey": "abc def"}', '{"apiKey": "[redacted]"}'],
    ["client_secret: 'x y'", "client_secret: '[redacted]'"],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', '[redacted]'],
    ['max_tokens: 5000', 'max_tokens: 5000'],
    ['tokens=12 and key: value', 'tokens=12 and key: value'],
    ['API_KEY=$API_KEY', 'API_KEY=$API_KEY'],
    [`{"text":"the PASSWORD=hunter2 of it"}`, `{"text":"the PASSWORD=[redacted] of it"}`],
    [`{"text":"{\\"password\\":\\"hunter2 x\\"}"}`, `{"text":"{\\"password\\":\\"[redacted]\\"}"}`],
    ['{"password":"ab\\"cd"}', '{"password":"[redacted]"}'],
    [`password='it"s'`, `password='[redacted]'`],
    ['a=b=password=hunter2', 'a=b=password=[redacted]'],
    ['the secret of success', 'the secret of success'],
    [`a ${webToken('')} b`, 'a [redacted] b'],
    [`session-${webToken('')}`, 'session-[redacted]'],
    [`with certificates ${webToken('x5c'.repeat(2000))}`, 'with certificates [redacted]'],
  ])('changes %j to %j', (text, expected) => {
    expect(redactText(text)).toBe(expected)
  })

  it('takes linear time on long hostile text', () => {
    for (const piece of [
      'a',
      'a:',
      'password=',
      '://a:',
      '-----BEGIN PRIVATE KEY-----',
      'eyJ',
      'eyJ-',
      '-eyJaaaaaaaa',
      'eyJaaaaaaaa-',
      '.eyJaaaaaaaa',
      'sk-a-',
      'Bearer ',
    ]) {
      const text = `:${piece.repeat(300_000 / piece.length)}`
      expect(redactText(text).length).toBeGreaterThan(0)
    }
  })
})

describe('findSecrets', () => {
  const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  it.each([
    ['nothing here', []],
    [`a ${token}`, [{ offset: 2, length: token.length, kind: 'GitHub token' }]],
    ['password=hunter2x', [{ offset: 9, length: 8, kind: 'value of password' }]],
    [`token=${token}`, [{ offset: 6, length: token.length, kind: 'GitHub token' }]],
    ['API_KEY=$API_KEY', []],
    ['https://u:pw@host', [{ offset: 10, length: 2, kind: 'password in an address' }]],
  ])('finds in %j: %j', (text, expected) => {
    expect(findSecrets(text)).toEqual(expected)
  })

  it('names exactly what redactText masks', () => {
    const text = `x ${token}\nAuthorization: Bearer abcdefghijkl1234\nkey: value\n`
    const rest = findSecrets(text)
      .toReversed()
      .reduce(
        (masked, { offset, length }) =>
          `${masked.slice(0, offset)}[redacted]${masked.slice(offset + length)}`,
        text,
      )
    expect(findSecrets(rest)).toEqual([])
  })
})

it('redactValue masks by key name at any depth and leaves numbers and other keys', () => {
  const value = {
    headers: { Authorization: 'x', accept: 'json' },
    list: [{ password: 'p' }, 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'],
    inputTokens: 12,
    token: '',
  }
  expect(redactValue(value)).toEqual({
    headers: { Authorization: '[redacted]', accept: 'json' },
    list: [{ password: '[redacted]' }, '[redacted]'],
    inputTokens: 12,
    token: '',
  })
  expect(value.list[0]).toEqual({ password: 'p' })
})

describe('nearest', () => {
  const fields = ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name']
  it.each([
    ['allowed_tools', 'allowed-tools'],
    ['Name', 'name'],
    ['descripton', 'description'],
    ['lisence', 'license'],
    ['naem', 'name'],
    ['version', undefined],
    ['x', undefined],
    ['', undefined],
  ])('chooses %j for %j', (word, expected) => {
    expect(nearest(word, fields)).toBe(expected)
  })
})
