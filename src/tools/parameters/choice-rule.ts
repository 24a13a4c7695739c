import type { JsonValue } from '../../skill/model.ts'
import type { ToolDefinition } from '../model.ts'
import { type Parameter, wordsOf } from './parameter.ts'
import {
  type Finding,
  type MappingRule,
  mayHave,
  phrase,
  type RequestReading,
  spokenPart,
} from './request.ts'
import { spokenChoices } from './synonym-table.ts'

/** The request names a member of the parameter's enumeration, or several for a list. */
export const choiceRule: MappingRule = { name: 'one of its choices', find: findChoice }

function findChoice(
  parameter: Parameter,
  reading: RequestReading,
  tool: ToolDefinition,
): Finding | undefined {
  const text = withoutQuoted(spokenPart(reading), reading)
  if (parameter.kind === 'array') {
    const choices = parameter.items?.choices ?? []
    const named = choices.flatMap((choice) => mention(choice, text) ?? [])
    if (named.length === 0) return undefined
    return {
      value: named.map(({ value }) => value),
      text: named.map(({ text }) => text).join(', '),
    }
  }
  if (isOrder.test(parameter.name) && !/\b(?:sort|order|by)/i.test(text)) return undefined
  // `merge PR 7` asks for the tool of that name and not for one of its methods.
  const verbs = new Set<JsonValue>(wordsOf(tool.name))
  const mentions = parameter.choices
    .filter((choice) => !verbs.has(choice))
    .flatMap((choice) => mention(choice, text) ?? [])
  const [first] = mentions.toSorted((one, other) => one.rank - other.rank || one.at - other.at)
  return first === undefined ? undefined : { value: first.value, text: first.text }
}

/** `with their sizes` asks for no order. */
const isOrder = /^(?:sort|order)(?:_?by)?$/i

interface Mention {
  value: JsonValue
  text: string
  at: number
  /** 0 for the member's own name, 1 for a word that stands for it. */
  rank: number
}

function mention(choice: JsonValue, text: string): Mention | undefined {
  if (typeof choice !== 'string' || choice === '') return undefined
  const words = choice.split(/[_\s-]+/).filter((word) => word !== '')
  const own = !mayHave(words, text.toLowerCase())
    ? null
    : new RegExp(`(?<![\\w./-])${phrase(words)}s?(?![\\w/-]|\\.\\w)`, 'i').exec(text)
  if (own !== null) return { value: choice, text: own[0], at: own.index, rank: 0 }
  const spoken = spokenChoices.find((entry) => entry.choice.test(choice))?.words.exec(text)
  if (spoken === null || spoken === undefined) return undefined
  return { value: choice, text: spoken[0], at: spoken.index, rank: 1 }
}

/** A word inside quotes, a URL or a path names nothing: those are values of something else. */
function withoutQuoted(text: string, { slots }: RequestReading): string {
  let rest = text
  for (const { kind, start, end } of slots) {
    if (kind === 'number' || kind === 'identifier') continue
    rest =
      rest.slice(0, start) +
      ' '.repeat(Math.max(0, Math.min(end, rest.length) - start)) +
      rest.slice(end)
  }
  return rest
}
