import type { Parameter } from './parameter.ts'
import {
  type Finding,
  type MappingRule,
  mayHave,
  phrase,
  type RequestReading,
  spokenPart,
} from './request.ts'
import { spokenFlags } from './synonym-table.ts'

/** The request says what a flag is called, or a word that stands for it; `without …` switches it off. */
export const flagRule: MappingRule = { name: 'said as a flag', find: findFlag }

/** Words of a flag's name that say nothing of what it is about. */
const emptyWords = new Set([
  'is',
  'should',
  'use',
  'with',
  'enable',
  'enabled',
  'include',
  'includes',
  'show',
  'do',
  'the',
  'only',
])

function findFlag(parameter: Parameter, reading: RequestReading): Finding | undefined {
  if (parameter.kind !== 'boolean') return undefined
  const text = spokenPart(reading)
  const row = spokenFlags.find((entry) => entry.parameter.test(parameter.name))
  const off = row?.off?.exec(text)
  if (off !== null && off !== undefined) return { value: false, text: off[0] }
  const on = row?.on.exec(text)
  if (on !== null && on !== undefined) return { value: true, text: on[0] }
  const words = parameter.words.filter((word) => !emptyWords.has(word))
  if (words.length === 0 || (words.length === 1 && (words[0]?.length ?? 0) < 4)) return undefined
  if (!mayHave(words, reading.lower)) return undefined
  const said = new RegExp(
    `(?:\\b(without|no|not|exclud\\w+)\\s+(?:the\\s+)?)?\\b${phrase(words)}s?\\b`,
    'i',
  ).exec(text)
  return said === null ? undefined : { value: said[1] === undefined, text: said[0] }
}
