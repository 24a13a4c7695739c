import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { compilePattern, type Pattern } from '../../src/trigger/pattern.ts'
import { matchPrompt } from '../../src/trigger/match.ts'

function accepted(source: string): Pattern {
  const reading = compilePattern(source)
  if (!reading.ok) throw new Error(`${source}: ${reading.problem.message}`)
  return reading.pattern
}

/** A pattern, a line, and the text that is found in it; null where the line does not match. */
type Row = [pattern: string, line: string, found: string | null]

const text: Row[] = [
  ['deploy', 'please deploy it', 'deploy'],
  ['deploy', 'Deploy', null],
  ['^/deploy', '/deploy staging', '/deploy'],
  ['^/deploy', ' /deploy', null],
  ['now$', 'deploy now', 'now'],
  ['now$', 'now then', null],
  ['now$', 'now and now', 'now'],
  ['now$', 'no', null],
  ['^now$', 'now', 'now'],
  ['^now$', 'now ', null],
  ['^now$', ' now', null],
  ['^now$', 'no', null],
  ['', 'anything', ''],
  ['^', 'anything', ''],
  ['$', 'anything', ''],
  ['^$', '', ''],
  ['^$', 'x', null],
  ['-v', 'run -v', '-v'],
  ['café', 'un café noir', 'café'],
]

const signs: Row[] = [
  ['a.c', 'xabcx', 'abc'],
  ['a.c', 'ac', null],
  ['a.c', 'a\u2028c', 'a\u2028c'],
  ['a.c', 'a\rc', 'a\rc'],
  ['a.c', 'a\nc', null],
  ['^.$', '😀', '😀'],
  ['a.bc', 'a\uffffbc', 'a\uffffbc'],
  ['[ab]\\x00b', 'a\u0000b', 'a\u0000b'],
  ['^a.b[c]', 'a\u0000bc', 'a\u0000bc'],
  ['[xy]\\\\z', 'x\\z', 'x\\z'],
  ['[xy]\\^z', 'x^z', 'x^z'],
  ['[xy]\\$z', 'x$z', 'x$z'],
  ['[xy]\\.z', 'x.z', 'x.z'],
  ['[xy]\\.z', 'xxz', null],
  ['[xy]\\|z', 'x|z', 'x|z'],
  ['[xy]\\|z', 'x', null],
  ['[xy]\\?z', 'x?z', 'x?z'],
  ['[xy]\\*z', 'x*z', 'x*z'],
  ['[xy]\\+z', 'x+z', 'x+z'],
  ['[xy]\\(z', 'x(z', 'x(z'],
  ['[xy]\\)z', 'x)z', 'x)z'],
  ['[xy]\\[z', 'x[z', 'x[z'],
  ['[xy]\\]z', 'x]z', 'x]z'],
  ['[xy]]z', 'x]z', 'x]z'],
  ['[xy]\\{z', 'x{z', 'x{z'],
  ['[xy]{z', 'x{z', 'x{z'],
  ['[xy]\\}z', 'x}z', 'x}z'],
  ['[xy]}z', 'x}z', 'x}z'],
  ['[xy]\\/z', 'x/z', 'x/z'],
  ['[xy]/z', 'x/z', 'x/z'],
  ['[xy]\\-z', 'x-z', 'x-z'],
  ['[xy]\\`z', 'x`z', 'x`z'],
  ['a\\tb', 'a\tb', 'a\tb'],
  ['a\\ab', 'a\u0007b', 'a\u0007b'],
  ['a\\fb', 'a\fb', 'a\fb'],
  ['a\\vb', 'a\vb', 'a\vb'],
  ['a\\rb', 'a\rb', 'a\rb'],
  ['a\\nb', 'a\nb', 'a\nb'],
  ['\\x41b', 'Ab', 'Ab'],
  ['\\x414', 'A4', 'A4'],
  ['\\x{41}b', 'Ab', 'Ab'],
  ['\\x{1F600}!', '😀!', '😀!'],
  ['\\x{0010FFFF}', '\u{10ffff}', '\u{10ffff}'],
]

const repetitions: Row[] = [
  ['ab*c', 'ac', 'ac'],
  ['ab*c', 'abbbc', 'abbbc'],
  ['ab+c', 'ac', null],
  ['ab+c', 'abbc', 'abbc'],
  ['ab?c', 'ac', 'ac'],
  ['ab?c', 'abc', 'abc'],
  ['ab?c', 'abbc', null],
  ['^ab{2}$', 'abb', 'abb'],
  ['^ab{2}$', 'abab', null],
  ['^ab{2}$', 'abbb', null],
  ['^ab{2,}$', 'ab', null],
  ['^ab{2,}$', 'abbbb', 'abbbb'],
  ['^ab{1,3}$', 'abbb', 'abbb'],
  ['^ab{1,3}$', 'abbbb', null],
  ['^ab{1,3}$', 'a', null],
  ['^ab{0}c$', 'ac', 'ac'],
  ['^ab{0}c$', 'abc', null],
  ['^ab{0,1}c$', 'abc', 'abc'],
  ['^ab{0,2}c$', 'abbc', 'abbc'],
  ['^ab{0,}c$', 'abbbc', 'abbbc'],
  ['^ab{1,}c$', 'ac', null],
  ['^a{,3}$', 'a{,3}', 'a{,3}'],
  ['^a{01}$', 'a{01}', 'a{01}'],
  ['^a{b}$', 'a{b}', 'a{b}'],
  ['^a{2', 'a{2', 'a{2'],
  ['^(ab)+$', 'abab', 'abab'],
  ['^(ab)+$', 'abb', null],
  ['^(ab){2}c', 'ababc', 'ababc'],
  ['^(ab){2}c', 'abbc', null],
  ['^(?:ab)*c', 'ababc', 'ababc'],
  ['^😀+$', '😀😀', '😀😀'],
  ['^😀+$', '😀', '😀'],
  ['^x😀?y', 'xy', 'xy'],
  ['^(a|b)+c', 'abbac', 'abbac'],
  ['^[ab]{3}$', 'aba', 'aba'],
  ['^[ab]{3}$', 'ab', null],
  ['^.{3}$', 'a😀b', 'a😀b'],
  ['x*', 'aaa', ''],
  ['xa*', 'xaaa', 'xaaa'],
  ['xa*?', 'xaaa', 'x'],
  ['xa+?', 'xaaa', 'xa'],
  ['xa??', 'xaaa', 'x'],
  ['xa{1,3}?', 'xaaaa', 'xa'],
  ['x.*?y', 'xayby', 'xay'],
  ['x.*y', 'xayby', 'xayby'],
]

const choices: Row[] = [
  ['^/t (one|two)$', '/t two', '/t two'],
  ['^/t (one|two)$', '/t three', null],
  ['^(?:one|two) x', 'two x', 'two x'],
  ['^a|b$', 'ax', 'a'],
  ['^a|b$', 'xb', 'b'],
  ['^a|b$', 'xax', null],
  ['(^a|b$)c*', 'xb', 'b'],
  ['a(b|c)d', 'acd', 'acd'],
  ['a(b|c)d', 'ab', null],
  ['a|ab', 'ab', 'a'],
  ['ab|a', 'ab', 'ab'],
  ['[x]?(a|ab)(c|bcd)', 'abcd', 'abcd'],
  ['(a|)b', 'b', 'b'],
  ['^(a|)$', '', ''],
  ['alpha|', 'none', ''],
  ['x()y', 'xy', 'xy'],
  ['one|two|three', 'see three', 'three'],
  ['((a|b)|(c))d', 'cd', 'cd'],
  ['(?P<name>a)b', 'ab', 'ab'],
  ['(?<name>a)b', 'ab', 'ab'],
]

const places: Row[] = [
  ['\\Aab[cd]', 'abc', 'abc'],
  ['\\Aab[cd]', 'xabc', null],
  ['[ab]c\\z', 'ac', 'ac'],
  ['[ab]c\\z', 'acx', null],
  ['\\bfoo\\b', 'a foo b', 'foo'],
  ['\\bfoo\\b', 'foobar', null],
  ['\\bfoo\\b', 'xfoo', null],
  ['\\bfoo\\b', '_foo', null],
  ['\\bfoo\\b', '9foo', null],
  ['\\bfoo\\b', 'Zfoo', null],
  ['\\bfoo\\b', 'zfoo', null],
  ['\\bfoo\\b', '-foo-', 'foo'],
  ['\\bfoo\\b', '@foo[', 'foo'],
  ['\\bfoo\\b', '`foo{', 'foo'],
  ['\\bfoo\\b', '/foo:', 'foo'],
  ['\\bfoo\\b', 'éfooé', 'foo'],
  ['\\bfoo\\b', '😀foo😀', 'foo'],
  ['\\Bfoo', 'xfoo', 'foo'],
  ['\\Bfoo', 'foo', null],
  ['\\Bfoo\\B', 'xfoox', 'foo'],
  ['a^b', 'ab', null],
  ['a$b', 'ab', null],
  ['x*^a', 'a', 'a'],
  ['x*^a', 'xa', null],
  ['(^)*a', 'xa', 'a'],
  ['a(|$)', 'ab', 'a'],
  ['(\\b)*a', 'xa', 'a'],
  ['x(a|\\b)', 'xy', null],
  ['(a\\b)?b', 'ab', 'b'],
  ['(?i)DEPLOY', 'please deploy', 'deploy'],
  ['(?i:d)eploy', 'Deploy', 'Deploy'],
  ['(?i:d)eploy', 'DEPLOY', null],
  ['\\p{Lu}x', 'Éx', 'Éx'],
  ['\\P{Lu}x', 'Éx', null],
  ['\\pLx', 'éx', 'éx'],
  ['\\Qa.b\\Ec', 'a.bc', 'a.bc'],
  ['\\Qa.b\\Ec', 'axbc', null],
  ['\\07b', '\u0007b', '\u0007b'],
  ['\\12b', '\nb', '\nb'],
]

/** Optional parts at the edges decide nothing, but belong to the text that is found. */
const edges: Row[] = [
  ['.*deploy.*', 'please deploy now', 'please deploy now'],
  ['.*deploy.*', 'please', null],
  ['x?deploy( now)?', 'xdeploy now', 'xdeploy now'],
  ['x+deploy', 'xxdeploy', 'xxdeploy'],
  ['x+deploy', 'deploy', null],
  ['deployx{2,}', 'deployxxx', 'deployxxx'],
  ['deployx{2,}', 'deployx', null],
  ['deployx{2}', 'deployx', null],
  ['x{2,3}deploy', 'xxxdeploy', 'xxxdeploy'],
  ['x{2,3}deploy', 'xdeploy', null],
  ['(ab)+', 'abab', 'abab'],
  ['a*|b', 'xb', ''],
  ['a*b*', 'x', ''],
  ['(a?b?)c', 'abc', 'abc'],
  ['b*x+y*', 'axxyz', 'xxy'],
  ['b*x+y*', 'by', null],
  ['x*(y|z*)', 'a', ''],
  ['(a|b*)c', 'c', 'c'],
  ['.*a|b.*', 'cab', 'ca'],
  ['.*a|b.*', 'xb', 'b'],
  ['a(b|c)*', 'abcb', 'abcb'],
  ['(b|c)*a', 'cba', 'cba'],
  ['(\\b|x)*a(^|y)*', 'xay', 'xay'],
  ['(|a){0,2}', 'a', ''],
  ['(|a){2}', 'a', ''],
  ['x(|a)?', 'xa', 'x'],
  ['x(|a)?b', 'xab', 'xab'],
  ['(^|a)?', 'a', ''],
  ['x($|\\B|a)?', 'xa', 'x'],
  ['x(y|z(|a)?)', 'xza', 'xz'],
  ['x(b?|a){0,2}', 'xab', 'x'],
  ['x(()|a){0,2}', 'xa', 'x'],
  ['x((b?)+|a)?', 'xa', 'x'],
  ['foo.*bar', 'foo to bar!', 'foo to bar'],
  ['foo.*bar', 'bar foo', null],
  ['(a+)+$', 'xaaa', 'aaa'],
  ['(a*)*b', 'xaab', 'aab'],
  ['(|a)+b', 'aab', 'aab'],
  ['(a+)+$', 'aaab', null],
  ['(a|aa){10}b', 'aaaaaaaaaaaab', 'aaaaaaaaaaaab'],
  ['(a|aa){10}b', 'aaaaaaaaab', null],
  ['😀.*x.*y', 'a😀bxcy', '😀bxcy'],
]

describe.each([
  ['a text', text],
  ['a sign', signs],
  ['a repetition', repetitions],
  ['a choice', choices],
  ['a place or a flag', places],
  ['what is optional', edges],
])('%s in a pattern', (_what, rows) => {
  it.each(rows)('matches as in RE2: %j on %j finds %j', (source, line, found) => {
    expect(foundBy(accepted(source), line)).toBe(found)
    // Flags are read by the library alone, so that this pattern takes the other way through.
    expect(foundBy(accepted(`(?-i:${source})`), line)).toBe(found)
    const reference = RE2JS.compile(source).matcher(line)
    expect(reference.find() ? reference.group() : null).toBe(found)
  })

  it.each(rows.filter(([, line]) => line !== '' && !line.includes('\n')))(
    'fires by line: %j on a prompt with the line %j is %j',
    (source, line, found) => {
      const triggers = [{ match: source, inject: 'a.md', line: 1 }]
      const skill = { name: 's', directory: '/s', path: '/s/SKILL.md', triggers }
      const fired = matchPrompt(line, [skill]).matches.map(({ text: on }) => on)
      expect(fired).toEqual(found === null ? [] : [found])
    },
  )
})

/** What a pattern finds, if its tests agree that there is something. */
function foundBy(pattern: Pattern, line: string): string | null {
  const place = pattern.find(line)
  expect(pattern.test(line)).toBe(place !== undefined)
  return place === undefined ? null : line.slice(place.start, place.end)
}

describe('the line end of a YAML block', () => {
  it('does not become part of the pattern', () => {
    expect(accepted('deploy now\n').source).toBe('deploy now')
    expect(accepted('deploy now\n\n').source).toBe('deploy now')
    expect(accepted('[d]eploy\n').test('a deploy b')).toBe(true)
  })

  it('stays in the middle of a pattern, which then matches no line', () => {
    expect(accepted('a\nb\n').source).toBe('a\nb')
    expect(accepted('a\nb\n').test('ab')).toBe(false)
  })
})
