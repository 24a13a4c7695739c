import { describe, expect, it } from 'vitest'
import {
  isPythonLower,
  isPythonName,
  pythonLength,
  pythonNfkc,
  pythonStrip,
} from '../../src/skill/reference/validate-reference.ts'

describe('strings as Python sees them', () => {
  it.each([
    ['\u001ca\u001f', 'a'],
    ['\u0085\u00a0a\u2028\u3000', 'a'],
    ['\ufeffa\ufeff', '\ufeffa\ufeff'],
    ['\u200ba', '\u200ba'],
    [' a b ', 'a b'],
  ])('strips %j to %j', (text, stripped) => {
    expect(pythonStrip(text)).toBe(stripped)
  })

  it.each([
    ['', 0],
    ['abc', 3],
    ['😀a😀', 3],
    ['\ud800', 1],
    ['\ud800\ud800', 2],
    ['\uffff', 1],
  ])('counts %j as %i', (text, length) => {
    expect(pythonLength(text)).toBe(length)
  })

  // U+1C89 (Unicode 16) is a capital letter, U+1CCF0 (Unicode 16) a digit whose NFKC form is 0.
  it('uses the tables of Unicode 14', () => {
    expect(isPythonName('\u1c89')).toBe(false)
    expect(isPythonLower('\u1c89')).toBe(true)
    expect(pythonNfkc('ａ\u{1ccf0}ｂ')).toBe('a\u{1ccf0}b')
  })

  it.each(['技能', 'naïve', '٣', 'ß', 'ª', 'ⅷ', '²'])('classifies %s as alphanumeric', (text) => {
    expect(isPythonName(text)).toBe(true)
  })

  it.each(['ทักษะ', 'कौशल', 'a_b', 'a b', '😀', 'a\u00adb', '⁄'])(
    'classifies %s as not alphanumeric',
    (text) => {
      expect(isPythonName(text)).toBe(false)
    },
  )

  it.each(['A', 'İ', 'ǅ', 'Σ', 'Ⓐ', '𐐀'])('classifies %s as not lower case', (text) => {
    expect(isPythonLower(text)).toBe(false)
  })
})
