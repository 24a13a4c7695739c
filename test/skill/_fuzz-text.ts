import { keys, loneLines, words as shortWords } from './_fuzz-words.ts'

/** Random frontmatter for the differential tests: from a grammar, and by mutating real files. */

const usual = [
  'a',
  'some words here',
  '1.10',
  '"a: b"',
  "'it''s'",
  'a # c',
  'a#b',
  '[a, "b c"]',
  'x:y',
  '',
  'é',
]
const words = [...shortWords, 'x'.repeat(70), 'x'.repeat(1100), '😀'.repeat(30)]

export interface Random {
  /** A whole number from 0, below `count`. */
  below: (count: number) => number
  chance: (probability: number) => boolean
  pick: <T>(list: readonly T[]) => T
}

/** A small generator of random numbers, the same on every run for one seed. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (count: number): number => Math.floor(next() * count)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (list) => {
      const item = list[below(list.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}

export function grammarText(random: Random): string {
  const lines: string[] = []
  const count = 1 + random.below(9)
  const indents = [
    '',
    '',
    '',
    '',
    '  ',
    '  ',
    '    ',
    ' ',
    '   ',
    '      ',
    '  - ',
    '- ',
    '-   ',
    '\t',
  ]
  for (let index = 0; index < count; index++) {
    if (random.chance(0.28)) {
      lines.push(random.pick(loneLines))
      continue
    }
    const indent = random.pick(indents)
    const gap = random.pick([' ', ' ', ' ', ' ', ' ', '  ', '', '\t'])
    const colon = random.pick([':', ':', ':', ':', ':', ':', ' :'])
    lines.push(`${indent}${random.pick(keys)}${colon}${gap}${random.pick(words)}`)
  }
  return document(random, ensureFields(random, lines))
}

const simpleWords = words.filter((text) => !/^\s|[\t\u0085\u2028\ufeff\u0007]/.test(text))

/** Mostly well-formed, so that the rules behind the YAML are reached and the fast reader answers. */
export function ordinaryText(random: Random): string {
  const lines: string[] = []
  const value = (): string => {
    const word = random.pick(random.chance(0.9) ? usual : simpleWords)
    return word === '' ? '' : ` ${word}`
  }
  const names = random.pick([
    ['name', 'description'],
    ['name', 'description', 'license', 'metadata'],
    ['name', 'description', 'metadata', 'allowed-tools', 'compatibility', 'triggers'],
  ])
  for (const name of names) {
    const form = random.below(8)
    const pad = random.pick(['  ', '  ', '    ', ' '])
    if (form < 3) lines.push(`${name}:${value()}`)
    else if (form === 3)
      lines.push(
        `${name}: ${random.pick(['|', '>', '|-', '>-', '>+', '|+'])}`,
        ...block(random, pad),
      )
    else if (form === 4)
      lines.push(
        `${name}:`,
        ...Array.from({ length: 1 + random.below(3) }, (_, at) => `${pad}k${at}:${value()}`),
      )
    else if (form === 5)
      lines.push(
        `${name}:`,
        ...Array.from(
          { length: 1 + random.below(3) },
          () => `${random.pick([pad, pad, ''])}-${value()}`,
        ),
      )
    else if (form === 6)
      lines.push(
        `${name}:`,
        `${pad}- match:${value()}`,
        `${pad}  inject:${value()}`,
        `${pad}- match:${value()}`,
      )
    else
      lines.push(
        `${name}: first words`,
        `${pad}more words`,
        ...(random.chance(0.3) ? ['', `${pad}last`] : []),
      )
    if (random.chance(0.15)) lines.push(random.pick(['', '# comment', '  # comment', ' ']))
  }
  return document(random, lines)
}

function block(random: Random, pad: string): string[] {
  const lines: string[] = []
  const count = random.below(5)
  for (let index = 0; index < count; index++) {
    lines.push(
      random.pick([
        `${pad}words`,
        `${pad}words `,
        '',
        `${pad}  more`,
        `${pad}# no comment`,
        pad,
        `${pad}- item`,
        ' ',
        `${pad}a: b`,
      ]),
    )
  }
  return lines
}

const inserted = [
  ...Array.from(' \n:#-\'"[]{}|>?&*!%@`,.\t\u0085\u2028\ufeff\u00a0\u0000\u0007é😀aA0~=<'),
  ...'\n  ¦\n- ¦: ¦ #¦\r\n¦\r¦\n\n¦---¦\n...\n'.split('¦'),
]

export function mutatedText(random: Random, text: string): string {
  const limit = text.indexOf('---', 3) + 6
  const head = Array.from(text.slice(0, limit === 5 ? 400 : limit))
  const count = 1 + random.below(4)
  for (let index = 0; index < count; index++) {
    const at = random.below(head.length)
    const kind = random.below(4)
    if (kind === 0) head.splice(at, 1)
    else if (kind === 1) head.splice(at, 0, random.pick(inserted))
    else if (kind === 2) head.splice(at, 1, random.pick(inserted))
    else {
      const lines = head.join('').split('\n')
      const line = random.below(lines.length)
      if (random.chance(0.5))
        lines[line] = `${random.pick(['  ', ' ', '    ', '- '])}${lines[line]}`
      else lines.splice(line, 0, random.pick([...loneLines, ...lines]))
      head.splice(0, head.length, ...Array.from(lines.join('\n')))
    }
  }
  return `${head.join('')}\nbody\n`
}

function ensureFields(random: Random, lines: string[]): string[] {
  if (random.chance(0.6)) lines.splice(random.below(lines.length + 1), 0, 'name: a')
  if (random.chance(0.6)) lines.splice(random.below(lines.length + 1), 0, 'description: b')
  return lines
}

function document(random: Random, lines: readonly string[]): string {
  const end = random.chance(0.05) ? random.pick(['', '  ', 'x']) : ''
  const start = random.chance(0.03) ? random.pick([' ', '-', ' name: a', '\ufeff', '\t']) : ''
  const newline = random.chance(0.03) ? '\r\n' : '\n'
  return `---${start}${newline}${lines.join(newline)}${newline}${end}---${newline}body${newline}`
}
