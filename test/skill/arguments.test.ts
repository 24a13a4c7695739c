import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyArguments,
  argumentText,
  doubtfulPositions,
  quoteArgument,
  splitArguments,
  substituteArguments,
} from '../../src/skill/arguments.ts'
import { formatAllowedTools, parseAllowedTools } from '../../src/skill/allowed-tools.ts'
import { insertVariables } from '../../src/skill/variables.ts'

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
  ])('are quoted where necessary: %j', (words, text) => {
    expect(argumentText(words)).toBe(text)
  })

  it('are read back unchanged', () => {
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
  ])('splits %j into %j', (text, words) => {
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
  it.each(cases)(
    'replaces in %j with %j and names %j: %j',
    (body, argumentText, argumentNames, text) => {
      expect(substituteArguments(body, { argumentText, argumentNames }).text).toBe(text)
    },
  )

  it.each([
    ['nothing', false],
    ['$0', true],
    ['$ARGUMENTS', true],
    ['\\$ARGUMENTS', false],
    ['$5.00', false],
  ])('reports for %j whether a placeholder was used: %j', (body, used) => {
    expect(substituteArguments(body, { argumentText: 'a', argumentNames: [] }).used).toBe(used)
  })

  it.each<[body: string, argumentText: string, names: string[], emptied: string[]]>([
    ['$0 $1 $1', 'a', [], ['$1']],
    ['$ARGUMENTS[2] \\\\$3', 'a b', [], ['$ARGUMENTS[2]', '$3']],
    ['$file $format-x', 'a', ['file', 'format'], ['$format']],
    ['$0 $ARGUMENTS', 'a', [], []],
    ['\\$4 $HOME', 'a', [], []],
  ])('names the placeholders of %j that %j leaves empty', (body, argumentText, names, emptied) => {
    const input = { argumentText, argumentNames: names }
    expect(substituteArguments(body, input).emptied).toEqual(emptied)
  })

  it.each<[body: string, unplaced: string[], used: boolean]>([
    ['$0', ['b', 'c'], true],
    ['$0 $1', ['c'], true],
    ['$1 $0', ['c'], true],
    ['$0 $2', ['b'], false],
    ['$1', ['a', 'c'], false],
    ['$1 and $ARGUMENTS', [], true],
    ['text', ['a', 'b', 'c'], false],
  ])('says for %j that it has no place for %j of a, b and c', (body, unplaced, used) => {
    const substituted = substituteArguments(body, { argumentText: 'a b c', argumentNames: [] })
    expect(substituted).toMatchObject({ unplaced, used })
  })

  it('takes names of at most 64 characters, and none with another character', () => {
    const [longest, longer] = ['n'.repeat(64), 'n'.repeat(65)]
    const substituted = (body: string, name: string) =>
      substituteArguments(body, { argumentText: 'x', argumentNames: [name] }).text
    expect(substituted(`$${longest}`, longest)).toBe('x')
    expect(substituted(`$${longest}-${longest}`, longest)).toBe(`x-${longest}`)
    expect(substituted(`$${longer}`, longer)).toBe(`$${longer}`)
    expect(substituted('$9lives $näme', '9lives')).toBe('$9lives $näme')
  })

  it('leaves text without a dollar sign unchanged, with any arguments', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (body, argumentText) => {
        fc.pre(!body.includes('$'))
        const substituted = substituteArguments(body, { argumentText, argumentNames: ['a'] })
        expect(substituted).toMatchObject({ text: body, used: false })
      }),
    )
  })

  it('takes time proportional to the body', () => {
    const body = '\\'.repeat(100_000) + '$x'
    const input = { argumentText: 'a', argumentNames: ['name'] }
    expect(substituteArguments(body, input).text).toBe(body)
  })
})

describe('arguments that the body has no place for', () => {
  it.each([
    ['Do it.\n', ''],
    ['Do it.\n', ' '],
  ])('are not mentioned if there are none', (body, argumentText) => {
    expect(applyArguments(body, { argumentText, argumentNames: [] }).text).toBe(body)
  })

  it('are not appended beside a placeholder', () => {
    expect(applyArguments('$0', { argumentText: 'a b', argumentNames: [] })).toMatchObject({
      text: 'a',
      unplaced: ['b'],
    })
  })

  it.each([
    ["awk '{print $1}' log; $10 or $5", 'x', "awk '{print }' log;  or\n\nARGUMENTS: x"],
    ["awk '{print $1}'", 'a b', "awk '{print b}'\n\nARGUMENTS: a b"],
    ['$1 $2', 'a', '\n\nARGUMENTS: a'],
    ['$ARGUMENTS[3]', 'a', '\n\nARGUMENTS: a'],
  ])('are appended to %j, which has no placeholder for the first of %j', (body, given, text) => {
    const input = { argumentText: given, argumentNames: [] }
    expect(applyArguments(body, input)).toMatchObject({ text, unplaced: [], used: false })
  })

  it('appear in the text or in a diagnostic, whatever the body is', () => {
    const piece = fc.constantFrom(
      '$0',
      '$1',
      '$2',
      '$12',
      '$ARGUMENTS',
      '$ARGUMENTS[1]',
      '\\$0',
      ' x ',
    )
    const body = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(' '))
    const words = fc
      .integer({ min: 1, max: 4 })
      .map((count) => ['w0', 'w1', 'w2', 'w3'].slice(0, count))
    fc.assert(
      fc.property(body, words, (text, given) => {
        const input = { argumentText: given.join(' '), argumentNames: [] }
        const applied = applyArguments(text, input)
        for (const word of given) {
          expect(applied.text.includes(word) || applied.unplaced.includes(word)).toBe(true)
        }
      }),
    )
  })
})

describe('variables of clients', () => {
  const variables = { skill: '/s/$0', project: '/p', session: undefined, plugin: '{baseDir}' }
  it.each([
    ['${CLAUDE_SKILL_DIR}/x {baseDir}/y ${CLAUDE_PROJECT_DIR}', '/s/$0/x /s/$0/y /p', []],
    ['${CLAUDE_PLUGIN_ROOT} $0', '{baseDir} ${CLAUDE_PROJECT_DIR}', []],
    ['\\${CLAUDE_SKILL_DIR} \\{baseDir}', '${CLAUDE_SKILL_DIR} {baseDir}', []],
    ['\\\\${CLAUDE_SKILL_DIR}', '\\\\/s/$0', []],
    [
      '${baseDir} $CLAUDE_SKILL_DIR ${HOME} {other}',
      '${baseDir} $CLAUDE_SKILL_DIR ${HOME} {other}',
      [],
    ],
    [
      '${CLAUDE_SESSION_ID} ${CLAUDE_EFFORT}',
      '${CLAUDE_SESSION_ID} ${CLAUDE_EFFORT}',
      ['${CLAUDE_SESSION_ID}', '${CLAUDE_EFFORT}'],
    ],
  ])('are replaced without expanding the inserted text: %j gives %j', (body, text, unknown) => {
    const input = { argumentText: "'${CLAUDE_PROJECT_DIR}'", argumentNames: [], variables }
    expect(substituteArguments(body, input)).toMatchObject({ text, unknown })
  })

  it('are replaced in the patterns of tools, but not by a pattern', () => {
    const tools = parseAllowedTools(
      'Read Bash(${CLAUDE_SKILL_DIR}/a.sh *) Bash(${CLAUDE_PROJECT_DIR}/b)',
    )
    const inserted = insertVariables(tools, { skill: '/s', project: '/p*' })
    expect(formatAllowedTools(inserted.tools)).toBe(
      'Read Bash(/s/a.sh *) Bash(${CLAUDE_PROJECT_DIR}/b)',
    )
    expect(inserted.unknown).toEqual(['${CLAUDE_PROJECT_DIR}'])
  })
})

describe('positions that are probably not placeholders', () => {
  it.each<[body: string, names: string[], hint: string | undefined, found: string[]]>([
    ["`awk '{print $1}'` costs $10 or $5, not $5.00 or $100", [], undefined, ['$1', '$5', '$10']],
    ['$0 of $1', ['a', 'b'], undefined, []],
    ['$0 of $1, $2', ['a', 'b'], undefined, ['$2']],
    ['$0 of $1, $2', [], '[a] [b]', ['$2']],
    ['$0 of $1', [], '<a> [--b c]', []],
    ['$ARGUMENTS: $0 of $1; $5', [], undefined, ['$5']],
    ['$ARGUMENTS; $1', [], undefined, ['$1']],
    ['\\$1 \\\\$1', [], undefined, ['$1']],
    ['$ARGUMENTS[4]', [], undefined, []],
  ])('are found in %j with the names %j and the hint %j: %j', (body, names, hint, found) => {
    const positions = doubtfulPositions(body, { names, hint })
    expect(positions.map(({ placeholder }) => placeholder)).toEqual(found)
  })

  it('have the line on which each appears first, in this order', () => {
    const body = 'one\n$2 \\\\$7\n$1 $2\n$7'
    expect(doubtfulPositions(body, { names: [], hint: ' ' })).toEqual([
      { placeholder: '$2', line: 2 },
      { placeholder: '$7', line: 2 },
      { placeholder: '$1', line: 3 },
    ])
  })

  it('are all positions unless $ARGUMENTS is in the body, however many follow each other', () => {
    const placeholdersOf = (body: string) =>
      doubtfulPositions(body, { names: [] }).map(({ placeholder }) => placeholder)
    expect(placeholdersOf('$0 $1')).toEqual(['$0', '$1'])
    expect(placeholdersOf('$0 $1 \\$ARGUMENTS')).toEqual(['$0', '$1'])
    expect(placeholdersOf('$0 $1 $ARGUMENTS')).toEqual([])
  })
})
