import { describe, expect, it } from 'vitest'
import { stem } from '../../../src/tools/route/stem.ts'
import { scoredWords } from '../../../src/tools/route/words.ts'

describe('words', () => {
  it.each([
    ['list_pullRequests', ['list', 'pull', 'request']],
    ['HTTPRequest v2Api', ['http', 'request', 'v2', 'api']],
    ['the user’s files', ['user', 'fil']],
    ['Café Zürich', ['caf', 'zurich']],
    ['截图', ['截', '图']],
    ['скриншот страницы', ['скриншот', 'страницы']],
    ['한국어 검색', ['한국어', '검색']],
    ['abc截图def', ['abc', '截', '图', 'def']],
    ['to be or not', []],
    ['', []],
  ])('of %s are %j', (text, words) => {
    expect(scoredWords(text)).toEqual(words)
  })
})

describe('a stem', () => {
  it.each([
    ['calculate', 'calculates', 'calculated', 'calculating', 'calculation', 'calculator'],
    ['query', 'queries'],
    ['movie', 'movies'],
    ['search', 'searches', 'searching', 'searched'],
    ['plan', 'plans', 'planning', 'planned'],
    ['call', 'calls', 'calling', 'called'],
    ['invest', 'investment', 'investments', 'investing'],
    ['class', 'classes'],
  ])('is shared by the forms of %s', (...forms) => {
    expect(new Set(forms.map(stem)).size).toBe(1)
  })

  it.each(['api', 'status', 'analysis', 'x1', 'naïve', 'sql'])('of %s is itself', (word) => {
    expect(stem(word)).toBe(word)
  })
})
