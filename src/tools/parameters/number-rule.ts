import type { Parameter } from './parameter.ts'
import { coerceText } from './coerce.ts'
import {
  type Finding,
  freeSlots,
  type MappingRule,
  mayHave,
  phrase,
  type RequestReading,
  slotFrom,
  spokenPart,
} from './request.ts'

interface NumberRole {
  parameter: RegExp
  phrases: readonly RegExp[]
}

/** What a number in a sentence is for. Each phrase has one group: the number. */
const numberRoles: readonly NumberRole[] = [
  {
    parameter:
      /^(?:pull_?(?:number|request_?(?:number|id))|issue_?(?:number|id)|number|pr_?(?:number|id)?)$/i,
    phrases: [
      /(?:\b(?:pr|pull request|pull|issue|ticket|bug|number|no\.?)\s*)#?(\d{1,15})\b/i,
      /(?<!\w)#(\d{1,15})\b/,
    ],
  },
  {
    parameter:
      /^(?:limit|count|max(?:_?(?:results|items|count|tokens))?|top(?:_?k)?|n|num(?:_?results)?|per_?page|page_?size|first|size|head)$/i,
    phrases: [
      /\b(?:first|top|last|latest|newest|limit(?:\s+of)?|up to|at most|max(?:imum)?(?:\s+of)?)\s+(\d{1,9})\b/i,
      /\b(\d{1,9})\s+(?:results|items|entries|rows|records|matches|most recent|latest|newest)\b/i,
    ],
  },
  { parameter: /^tail$/i, phrases: [/\blast\s+(\d{1,9})\b/i] },
  { parameter: /^page(?:_?(?:number|idx))?$/i, phrases: [/\bpage\s+(\d{1,9})\b/i] },
  {
    parameter: /^total_?thoughts$/i,
    phrases: [
      /\b(?:in|with|of)\s+(\d{1,3})\s+(?:steps|thoughts)\b/i,
      /\b(\d{1,3})[ -](?:steps?|thoughts?)\b/i,
    ],
  },
  { parameter: /^(?:width)$/i, phrases: [/\bwidth\s+(?:of\s+)?(\d{1,5})\b/i] },
  { parameter: /^(?:height)$/i, phrases: [/\bheight\s+(?:of\s+)?(\d{1,5})\b/i] },
]

/** The request gives a number a role: `PR 123`, `the first 5`, `for 2 seconds`. */
export const numberRule: MappingRule = {
  name: 'a number with a role',
  find: (parameter, reading) => {
    if (parameter.kind !== 'number' && parameter.kind !== 'integer') return undefined
    return role(parameter, reading) ?? duration(parameter, reading) ?? counted(parameter, reading)
  },
}

function role(parameter: Parameter, reading: RequestReading): Finding | undefined {
  const row = numberRoles.find((entry) => entry.parameter.test(parameter.name))
  for (const pattern of row?.phrases ?? []) {
    const match = pattern.exec(spokenPart(reading))
    const finding = match === null ? undefined : numberAt(match, match[1] ?? '', parameter, reading)
    if (finding !== undefined) return finding
  }
  return undefined
}

const millisecondsIn: Readonly<Record<string, number>> = {
  ms: 1,
  milliseconds: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  seconds: 1000,
  minute: 60_000,
  minutes: 60_000,
  min: 60_000,
  hours: 3_600_000,
  hour: 3_600_000,
}

/** `for 5 seconds`, in the unit that the schema's words name; milliseconds where they name none. */
function duration(parameter: Parameter, reading: RequestReading): Finding | undefined {
  if (!/timeout|duration|delay|wait|time|interval|seconds|ms$/i.test(parameter.name))
    return undefined
  const match =
    /\b(\d{1,9}(?:\.\d{1,3})?)\s?(ms|milliseconds|seconds?|sec|s|minutes?|min|hours?)\b/i.exec(
      spokenPart(reading),
    )
  const unit = match?.[2]?.toLowerCase() ?? ''
  const factor = millisecondsIn[unit]
  if (match === null || factor === undefined) return undefined
  const inMilliseconds = Number(match[1]) * factor
  const inSeconds =
    /second/i.test(`${parameter.name} ${parameter.description}`) &&
    !/millisecond|\bms\b/i.test(`${parameter.name} ${parameter.description}`)
  return numberAt(
    match,
    String(inSeconds ? inMilliseconds / 1000 : inMilliseconds),
    parameter,
    reading,
  )
}

/** `2 steps`: a number before the parameter's own name. */
function counted(parameter: Parameter, reading: RequestReading): Finding | undefined {
  const { words } = parameter
  if (words.join('').length < 4 || !mayHave(words, reading.lower)) return undefined
  const pattern = new RegExp(`(?<![\\w.-])(\\d{1,9})\\s+${phrase(words)}s?(?![\\w-])`, 'i')
  const match = pattern.exec(spokenPart(reading))
  return match === null ? undefined : numberAt(match, match[1] ?? '', parameter, reading)
}

function numberAt(
  match: RegExpExecArray,
  text: string,
  parameter: Parameter,
  reading: RequestReading,
): Finding | undefined {
  const value = coerceText(text, parameter)
  if (value === undefined) return undefined
  const slot = slotFrom(reading, match.index + match[0].lastIndexOf(match[1] ?? ''))
  if (slot === undefined) return { value, text: match[0] }
  return reading.spent.has(slot) ? undefined : { value, text: match[0], slots: [slot] }
}

/** Numbers without a role go to the required number parameters, one each and in their order. */
export const remainingNumberRule: MappingRule = {
  name: 'the number that is left',
  find: (parameter, reading) => {
    if (!parameter.required || (parameter.kind !== 'number' && parameter.kind !== 'integer'))
      return undefined
    const [slot] = freeSlots(reading, 'number')
    const value = slot === undefined ? undefined : coerceText(slot.value, parameter)
    return slot === undefined || value === undefined
      ? undefined
      : { value, text: slot.value, slots: [slot] }
  },
}
