import {
  applyArguments,
  splitArguments,
  substituteArguments,
} from '../../../src/skill/arguments.ts'
import { skillVariables } from '../../../src/skill/variables.ts'
import { demand, partsOf, same } from '../target.ts'

export const name = 'arguments'
export const seeds: readonly string[] = [
  'Fix $0 and $1; all: $ARGUMENTS.\n%%\nissue,branch\n%%\n"a b" c',
  'Say \\$0 and \\\\$0, $issue, $issues, $ARGUMENTS[1], $10, $5.00\n%%\nissue,issues\n%%\n$0 $1',
  'nothing here but $1 and $HOME\n%%\n\n%%\n',
  '$a-b $a\n%%\na,a-b\n%%\n\'x\\y\' "q\\"r" z\\ w',
]
export const words: readonly string[] = [
  '$ARGUMENTS',
  '$ARGUMENTS[0]',
  '$0',
  '$12',
  '${CLAUDE_SKILL_DIR}',
  '$name',
  '\\$',
  '\\\\$',
  '\n%%\n',
  "''",
  '""',
  '$$',
]

/** The same as a reading from left to right; text from an argument is never looked at again. */
export function fuzz(data: Uint8Array): void {
  const [body = '', names = '', argumentText = ''] = partsOf(data, 3)
  const argumentNames = names.split(',').filter((each) => each !== '')
  const input = { argumentText, argumentNames }
  const { text, used } = substituteArguments(body, input)
  const expected = substituted(body, argumentText, argumentNames)
  demand(text === expected.text, 'another text', body, input, text, expected.text)
  demand(used === expected.used, 'whether it was used', body, input)
  const applied = applyArguments(body, input)
  const isShown =
    used || argumentText.trim() === '' || applied.text.endsWith(`ARGUMENTS: ${argumentText}`)
  demand(isShown, 'arguments that nobody sees', body, input)
  const split = splitArguments(argumentText)
  const quoted = split.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  demand(same(splitArguments(quoted), split), 'words that change when quoted', split)
}

function substituted(
  body: string,
  argumentText: string,
  names: readonly string[],
): { text: string; used: boolean } {
  const values = splitArguments(argumentText)
  const declared = names.filter((each) => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(each))
  const argumentValues = new Map<string, string>()
  for (const each of declared) {
    if (each !== 'ARGUMENTS') argumentValues.set(each, values[names.indexOf(each)] ?? '')
  }
  const reads = (positions: boolean): { text: string; used: boolean; whole: boolean } => {
    let text = ''
    let slashes = 0
    const all = { whole: false }
    const placed = new Set<number>()
    let isComplete = false
    for (let at = 0; at < body.length;) {
      const written = '${'.includes(body.charAt(at))
        ? placeholderAt(body, at, argumentValues)
        : undefined
      const sign = body.charAt(at)
      if (written !== undefined && slashes % 2 === 1) text = text.slice(0, -1) + written.text
      else if (written?.kind === 'whole') {
        isComplete = true
        all.whole = true
        text += argumentText
      } else if (written?.kind === 'name') {
        placed.add(names.indexOf(written.value))
        text += argumentValues.get(written.value) ?? ''
      } else if (
        written !== undefined &&
        written.kind !== 'variable' &&
        (positions || written.kind === 'item')
      ) {
        placed.add(Number(written.value))
        all.whole ||= written.kind === 'item'
        text += values[Number(written.value)] ?? ''
      } else text += written?.text ?? sign
      at += written?.text.length ?? 1
      slashes = written === undefined && sign === '\\' ? slashes + 1 : 0
    }
    const indexes = [...placed].filter((index) => index < values.length)
    const isInOrder = indexes.length > 0 && Math.max(...indexes) === indexes.length - 1
    return { text, ...all, used: isComplete || isInOrder }
  }
  const counted = argumentText.trim() !== '' || names.length > 0 || reads(false).whole
  const { text, used } = reads(counted)
  return { text, used }
}

interface Placeholder {
  kind: 'whole' | 'item' | 'position' | 'name' | 'variable'
  text: string
  value: string
}

function placeholderAt(
  body: string,
  at: number,
  known: ReadonlyMap<string, string>,
): Placeholder | undefined {
  const variable =
    body[at - 1] === '$'
      ? undefined
      : skillVariables.find(({ placeholder: written }) => body.startsWith(written, at))?.placeholder
  if (variable !== undefined) return { kind: 'variable', text: variable, value: variable }
  if (body[at] === '{') return undefined
  const indexed = /ARGUMENTS\[(\d+)\]/y
  indexed.lastIndex = at + 1
  const item = indexed.exec(body)
  if (item !== null) return { kind: 'item', text: `$${item[0]}`, value: item[1] ?? '' }
  const rest = body.slice(at + 1, at + 16)
  if (/^ARGUMENTS(?![A-Za-z0-9_])/.test(rest)) {
    return { kind: 'whole', text: '$ARGUMENTS', value: '' }
  }
  const position = /^(\d{1,2})(?![A-Za-z0-9_]|[.,]\d)/.exec(rest)?.[1]
  if (position !== undefined) return { kind: 'position', text: `$${position}`, value: position }
  const fitting = [...known.keys()].filter(
    (each) =>
      body.startsWith(each, at + 1) && !/[A-Za-z0-9_]/.test(body.charAt(at + 1 + each.length)),
  )
  const [value] = fitting.toSorted((a, b) => b.length - a.length)
  return value === undefined ? undefined : { kind: 'name', text: `$${value}`, value }
}
