import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyArguments,
  argumentText,
  quoteArgument,
  splitArguments,
  substituteArguments,
} from '../../src/skill/arguments.ts'

describe('words of a command line as one text', () => {
  it.each([
    [['a', 'b'], 'a b'],
    [['a b', 'c'], '"a b" c'],
    [['', 'c'], '"" c'],
    [["it's", 'c'], '"it\'s" c'],
    [['say "hi"', '$1 `x`'], '"say \\"hi\\"" "\\$1 \\`x\\`"'],
    [['a\\b', 'c'], '"a\\\\b" c'],
    [['as it is "quoted'], 'as it is "quoted'],
    [[], ''],
  ])('%j', (words, text) => {
    expect(argumentText(words)).toBe(text)
  })

  it('are read back as they were', () => {
    const odd = fc.constantFrom('a', ' ', '"', "'", '\\', '$', '`', '\t')
    fc.assert(
      fc.property(fc.array(fc.string({ unit: odd })), (words) => {
        expect(splitArguments(words.map(quoteArgument).join(' '))).toEqual(words)
      }),
    )
  })
})

describe('splitting arguments', () => {
  it.each([
    ['', []],
    ['  a   b\tc\n', ['a', 'b', 'c']],
    ['"hello world"', ['hello world']],
    ["'it is' fine", ['it is', 'fine']],
    ['--name="two words" x', ['--name=two words', 'x']],
    ['a\\ b c', ['a b', 'c']],
    ['"say \\"hi\\"" z', ['say "hi"', 'z']],
    ["'\\n' z", ['\\n', 'z']],
    ['"\\n" z', ['\\n', 'z']],
    ['"" b', ['', 'b']],
    ['"open to the end', ['open to the end']],
    ['trailing\\', ['trailing\\']],
    ["'two words' and 'two more'", ['two words', 'and', 'two more']],
    ["'\\\\' '\\$'", ['\\\\', '\\$']],
    [`"it's" 'say "hi"'`, ["it's", 'say "hi"']],
    ['$HOME `date`', ['$HOME', '`date`']],
  ])('%j is %j', (text, words) => {
    expect(splitArguments(text)).toEqual(words)
  })
})

describe('substituting arguments', () => {
  const cases: [body: string, argumentText: string, names: string[], text: string][] = [
    // The tables of the product requirements.
    ['Do $ARGUMENTS now', '', [], 'Do  now'],
    ['Only $0', 'a b c', [], 'Only a'],
    ['$0 $1 $2', 'a', [], 'a  '],
    ['Say $0.', '"hello world"', [], 'Say hello world.'],
    ['All: $ARGUMENTS', '"hello world"', [], 'All: "hello world"'],
    ['$ARGUMENTS[1]-$ARGUMENTS[0]', 'a b', [], 'b-a'],
    ['$ARGUMENTS[7]|', 'a b', [], '|'],
    // Names.
    ['$file to $format', 'a.md pdf', ['file', 'format'], 'a.md to pdf'],
    ['$file-name $file', 'x y', ['file', 'file-name'], 'y x'],
    ['$file-copy', 'x', ['file'], 'x-copy'],
    ['$filename', 'x', ['file'], '$filename'],
    ['$format', 'x', ['file', 'format'], ''],
    // What is not a placeholder.
    ['$HOME costs $5.00 or $5,000', 'x', [], '$HOME costs $5.00 or $5,000'],
    ['$100 $10k $1st $0x', 'x', [], '$100 $10k $1st $0x'],
    ['$ARGUMENTS_FILE $ARGUMENTSX', 'x', [], '$ARGUMENTS_FILE $ARGUMENTSX'],
    ['${ARGUMENTS} $(0) $', 'x', [], '${ARGUMENTS} $(0) $'],
    // Punctuation after one that is.
    ['($0), $1. "$0"', 'a b', [], '(a), b. "a"'],
    ['$ARGUMENTS[x] $ARGUMENTS.', 'a', [], 'a[x] a.'],
    // Escapes.
    [
      '\\$0 \\$ARGUMENTS \\$ARGUMENTS[0] \\$name',
      'a',
      ['name'],
      '$0 $ARGUMENTS $ARGUMENTS[0] $name',
    ],
    ['\\\\$0 \\\\\\$0', 'a', [], '\\\\a \\\\$0'],
    ['\\$HOME', 'a', [], '\\$HOME'],
    // A skill without arguments keeps what looks like them.
    ["awk '{print $1}'", '', [], "awk '{print $1}'"],
    ["awk '{print $1}'", '  ', [], "awk '{print $1}'"],
    ["awk '{print $1}'", 'a b', [], "awk '{print b}'"],
    ["$ARGUMENTS awk '{print $1}'", '', [], " awk '{print }'"],
    ['$1', '', ['a', 'b'], ''],
    // Text from an argument is not looked at again.
    ['$ARGUMENTS', '$0 $1 $ARGUMENTS', [], '$0 $1 $ARGUMENTS'],
    ['$0', "'$ARGUMENTS' x", [], '$ARGUMENTS'],
    ['$a', "'$b' x", ['a', 'b'], '$b'],
    ['$0', '$& $1 $$', [], '$&'],
    // Names that would mean something to an object or in a pattern, and the one that is taken.
    ['$constructor', 'x', ['constructor'], 'x'],
    ['$abc $a.c', 'x', ['a.c'], '$abc $a.c'],
    ['$( $a', 'x y', ['(', 'a'], '$( y'],
    ['$ARGUMENTS|$file', 'x y', ['ARGUMENTS', 'file'], 'x y|y'],
    // Only an unescaped one makes positions count.
    ['\\$ARGUMENTS $1', '', [], '$ARGUMENTS $1'],
    ['\\\\$ARGUMENTS $1', '', [], '\\\\ '],
  ]
  it.each(cases)('%j with %j and names %j is %j', (body, argumentText, argumentNames, text) => {
    expect(substituteArguments(body, { argumentText, argumentNames }).text).toBe(text)
  })

  it.each([
    ['nothing', false],
    ['$0', true],
    ['$ARGUMENTS', true],
    ['\\$ARGUMENTS', false],
    ['$5.00', false],
  ])('says of %j whether a placeholder was used: %j', (body, used) => {
    expect(substituteArguments(body, { argumentText: 'a', argumentNames: [] }).used).toBe(used)
  })

  it('leaves text without a dollar sign unchanged, whatever is given', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (body, argumentText) => {
        fc.pre(!body.includes('$'))
        const substituted = substituteArguments(body, { argumentText, argumentNames: ['a'] })
        expect(substituted).toEqual({ text: body, used: false })
      }),
    )
  })

  it('takes time in proportion to the body', () => {
    const body = '\\'.repeat(100_000) + '$x'
    const input = { argumentText: 'a', argumentNames: ['name'] }
    expect(substituteArguments(body, input).text).toBe(body)
  })
})

describe('arguments that the body has no place for', () => {
  it.each([
    ['Do it.\n', ''],
    ['Do it.\n', ' '],
  ])('are not mentioned where there are none', (body, argumentText) => {
    expect(applyArguments(body, { argumentText, argumentNames: [] })).toBe(body)
  })

  it('are not appended beside a placeholder', () => {
    expect(applyArguments('$0', { argumentText: 'a b', argumentNames: [] })).toBe('a')
  })
})
