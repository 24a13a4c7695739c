import { shellWords, type ShellWord } from './shell-command.ts'

/**
 * Whether a command line fits patterns such as `git:*`, `npm run test:*`, `git diff *` or
 * `npm test`: every command in it must fit one of them, and all of it must be plain enough to be
 * understood; see `shellCommands`. On Windows, where the shell is another one, only a single command
 * of plain words is understood.
 */
export function commandFits(
  line: string,
  patterns: readonly string[],
  platform: NodeJS.Platform,
): boolean {
  const wanted = patterns.flatMap(readPattern)
  if (wanted.some((pattern) => pattern === 'all')) return true
  const commands = understood(line, platform)
  return (
    commands !== undefined &&
    commands.every((words) =>
      wanted.some((pattern) => pattern !== 'all' && fits(textsOf(words), pattern)),
    )
  )
}

/** The commands of a line; undefined for one that is not plain enough. */
export function understood(line: string, platform: NodeJS.Platform): ShellWord[][] | undefined {
  if (platform === 'win32' && !/^[A-Za-z0-9 _./:=@,+-]*$/.test(line)) return undefined
  return shellWords(line)
}

export interface WordPattern {
  words: readonly string[]
  /** Whether further words may follow. */
  open: boolean
  /** Whether the last word may go on after a colon, as in `npm run test:unit`. */
  colon: boolean
}

/** One entry may hold several patterns, separated by commas. */
export function readPattern(text: string): (WordPattern | 'all')[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      if (part === '*' || part === ':*') return 'all'
      const colon = part.endsWith(':*')
      const open = colon || part.endsWith(' *')
      const rest = open ? part.slice(0, -2).trim() : part
      return { words: rest.split(/\s+/), open, colon }
    })
}

/** Word by word; a word `*` of the pattern stands for any number of words. */
export function fits(words: readonly string[], pattern: WordPattern): boolean {
  const { open, colon } = pattern
  // The places in the pattern that the words until now can have come to.
  let places = skipStars(new Set([0]), pattern.words)
  for (const [index, word] of words.entries()) {
    if (open && places.has(pattern.words.length)) return true
    const next = new Set<number>()
    for (const place of places) {
      const wanted = pattern.words[place]
      if (wanted === undefined) continue
      if (wanted === '*') next.add(place)
      else if (wordFits(word, wanted)) next.add(place + 1)
      else if (colon && index > 0 && isLast(place, pattern) && word.startsWith(`${wanted}:`)) {
        next.add(place + 1)
      }
    }
    if (next.size === 0) return false
    places = skipStars(next, pattern.words)
  }
  return places.has(pattern.words.length)
}

function textsOf(words: readonly ShellWord[]): string[] {
  return words.map(({ text }) => text)
}

function isLast(place: number, { words }: WordPattern): boolean {
  return place === words.length - 1
}

function skipStars(places: ReadonlySet<number>, words: readonly string[]): Set<number> {
  const all = new Set(places)
  for (const place of all) if (words[place] === '*') all.add(place + 1)
  return all
}

/** `*` within a word of the pattern stands for any characters. */
export function wordFits(word: string, wanted: string): boolean {
  if (!wanted.includes('*')) return word === wanted
  const parts = wanted.split('*')
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (!word.startsWith(first)) return false
  let from = first.length
  for (const part of parts.slice(1, -1)) {
    const found = word.indexOf(part, from)
    if (found === -1) return false
    from = found + part.length
  }
  return word.length - last.length >= from && word.endsWith(last)
}
