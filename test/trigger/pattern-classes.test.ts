import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../src/trigger/pattern.ts'

/** Latin letters with accents, the Kelvin sign that looks like a K, and both ends of what there is. */
const characters = [
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)),
  '\u2028',
  '\u212a',
  '\uffff',
  '😀',
  '😁',
  '😂',
  '\u{10ffff}',
]

/** The characters that a class holds, in order. */
function members(source: string): string {
  const reading = compilePattern(`^${source}$`)
  if (!reading.ok) throw new Error(reading.problem.message)
  const { pattern } = reading
  return characters.filter((character) => pattern.test(character)).join('')
}

const digits = '0123456789'
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lower = 'abcdefghijklmnopqrstuvwxyz'
const ascii = characters.slice(0, 0x80).join('')
const others = (left: string): string =>
  characters.filter((character) => !left.includes(character)).join('')

const classes: [source: string, members: string][] = [
  ['\\d', digits],
  ['\\w', `${digits}${upper}_${lower}`],
  ['\\s', '\t\n\f\r '],
  ['\\D', others(digits)],
  ['\\W', others(`${digits}${upper}_${lower}`)],
  ['\\S', others('\t\n\f\r ')],
  ['[[:alnum:]]', `${digits}${upper}${lower}`],
  ['[[:alpha:]]', `${upper}${lower}`],
  ['[[:ascii:]]', ascii],
  ['[[:blank:]]', '\t '],
  ['[[:cntrl:]]', `${ascii.slice(0, 0x20)}\u007f`],
  ['[[:digit:]]', digits],
  ['[[:graph:]]', ascii.slice(0x21, 0x7f)],
  ['[[:lower:]]', lower],
  ['[[:print:]]', ascii.slice(0x20, 0x7f)],
  ['[[:punct:]]', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
  ['[[:space:]]', '\t\n\u000b\f\r '],
  ['[[:upper:]]', upper],
  ['[[:word:]]', `${digits}${upper}_${lower}`],
  ['[[:xdigit:]]', `${digits}ABCDEFabcdef`],
  ['[[:^alpha:]]', others(`${upper}${lower}`)],
  ['[^[:alpha:]]', others(`${upper}${lower}`)],
  ['[^[:^alpha:]]', `${upper}${lower}`],
  ['[[:^ascii:]_]', `_${others(ascii)}`],
  ['[\\d_]', `${digits}_`],
  ['[\\D5]', others(digits.replace('5', ''))],
  ['[^\\D]', digits],
  ['[\\w-]', `-${digits}${upper}_${lower}`],
  ['[[:digit:][:upper:]x]', `${digits}${upper}x`],
  ['[abc]', 'abc'],
  ['[cba]', 'abc'],
  ['[aa]', 'a'],
  ['[a-cb-e]', 'abcde'],
  ['[a-eb-c]', 'abcde'],
  ['[a-cd-f]', 'abcdef'],
  ['[a-c-e]', '-abce'],
  ['[a-a]', 'a'],
  ['[]]', ']'],
  ['[]a]', ']a'],
  ['[^]a]', others(']a')],
  ['[a\\]]', ']a'],
  ['[-a]', '-a'],
  ['[a-]', '-a'],
  ['[a\\-c]', '-ac'],
  ['[+--]', '+,-'],
  ['[a^]', '^a'],
  ['[\\^a]', '^a'],
  ['[.$*]', '$*.'],
  ['[[]', '['],
  ['[[:a]', ':[a'],
  ['[\\\\]', '\\'],
  ['[\\t\\x41-\\x43]', '\tABC'],
  ['[\\x{1F600}-😁]', '😀😁'],
  ['[é-ë]', 'éêë'],
  ['[😀-😂]', '😀😁😂'],
  ['[😀a]', 'a😀'],
  ['[\u{10ffff}]', '\u{10ffff}'],
  ['[^\u{10ffff}]', others('\u{10ffff}')],
  ['.', others('\n')],
]

describe('a class', () => {
  it.each(classes)('contains the same characters as in RE2: %s', (source, expected) => {
    expect(members(source)).toBe(Array.from(expected).toSorted(byCodePoint).join(''))
    const reference = RE2JS.compile(`^${source}$`)
    const read = characters.filter((character) => reference.matcher(character).find())
    expect(read.join('')).toBe(members(source))
  })

  it.each(['[[:nope:]]', '[a-\\d]', '[z-a]', '[a', '[', '[]', '[^]', '[a-', '[\\', '[\\y]'])(
    'is refused, as in RE2: %s',
    (source) => {
      expect(compilePattern(`x${source}`).ok).toBe(false)
      expect(() => RE2JS.compile(`x${source}`)).toThrow('error parsing regexp')
    },
  )
})

function byCodePoint(a: string, b: string): number {
  return (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0)
}
