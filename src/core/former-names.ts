import { fitsText } from './fits-text.ts'

/**
 * Former names of commands, each with its present name. They work for one version. A name with an option, as
 * in `show --activate`, is a command with options of its own.
 */
export const formerNames: Readonly<Record<string, string>> = {
  activate: 'show --activate',
  agents: 'agent subagents',
  delegate: 'agent delegate',
  'hook log': 'hooks log',
  hook: 'hooks run',
  index: 'triggers index',
  inject: 'triggers inject',
  match: 'triggers match',
  overview: '',
  'plugin pack': 'hooks pack',
  prompt: 'list --prompt',
  properties: 'show --properties',
  schema: 'new --schema',
  session: 'tools session',
  worker: 'runs worker',
  workflow: 'tools workflow',
}

/** Returns the former name with which the words of a command line begin; undefined for present names. */
export function formerNameOf(words: readonly string[]): string | undefined {
  const isStart = (name: string): boolean => name.split(' ').every((word, at) => word === words[at])
  const names = Object.keys(formerNames).filter(isStart)
  return names.toSorted((one, other) => other.length - one.length)[0]
}

/** `overview` is `skillrail` alone, which every pattern of our commands contains. */
const renamed = Object.entries(formerNames)
  .filter(([, present]) => present !== '')
  .map(([former, present]) => ({ former: former.split(' '), present: present.split(' ') }))

/**
 * Returns a pattern of commands, such as `skillrail match:*`, with what it is under the other names of the
 * same commands. So a guard and a list of tools mean a command, however it is written. An open pattern of a
 * group, such as `skillrail tools:*`, includes the former names of the commands that the group has now.
 * `isOpen`: by default whether it ends so.
 */
export function patternSpellings(pattern: string, isOpen?: boolean): string[] {
  const end = /(?::| )\*$/.exec(pattern)?.[0] ?? ''
  const words = pattern
    .slice(0, pattern.length - end.length)
    .trim()
    .split(/\s+/)
  const isOurs = (word: string): boolean => fitsText('skillrail', programOf(word))
  const others = spellingsOf(words, isOurs, (name, rest) =>
    restAfter(name, rest, isOpen ?? end !== ''),
  )
  return [pattern, ...others.map((other) => `${other.join(' ')}${end}`)]
}

/** Returns the words of a command, and the same command under its other name. */
export function commandSpellings(words: readonly string[]): readonly (readonly string[])[] {
  const isOurs = (word: string): boolean => programOf(word) === 'skillrail'
  return [words, ...spellingsOf(words, isOurs, restOf)]
}

type RestOf = (name: readonly string[], words: readonly string[]) => readonly string[] | undefined

function spellingsOf(
  words: readonly string[],
  isOurs: (word: string) => boolean,
  restAfterName: RestOf,
): string[][] {
  return words.flatMap((word, at) => {
    if (!isOurs(word)) return []
    const head = [...words.slice(0, at), word.includes('*') ? 'skillrail' : word]
    const rest = words.slice(at + 1)
    return renamed.flatMap(({ former, present }) =>
      [
        [former, present],
        [present, former],
      ].flatMap(([from = [], to = []]) => {
        const more = restAfterName(from, rest)
        return more === undefined ? [] : [[...head, ...to, ...more]]
      }),
    )
  })
}

function programOf(word: string): string {
  return word.replace(/^.*[\\/]/s, '').replace(/\.(?:exe|cmd|ps1)$/i, '')
}

/**
 * Returns what follows a name in the words of a pattern, which are patterns, too. The option of a name can be
 * anywhere, and an open pattern need not have it.
 */
function restAfter(
  name: readonly string[],
  words: readonly string[],
  isOpen: boolean,
): readonly string[] | undefined {
  const isOption = (word: string): boolean => word.startsWith('-')
  const options = name.filter(isOption)
  if (!isOpen && !options.every((option) => words.includes(option))) return undefined
  const plainName = name.filter((word) => !isOption(word))
  const rest = words.filter((word) => !options.includes(word))
  const count = Math.min(plainName.length, rest.length)
  if (count === 0 || (count < plainName.length && !isOpen)) return undefined
  const isSame = plainName.slice(0, count).every((word, at) => fitsText(word, rest[at] ?? ''))
  return isSame ? rest.slice(count) : undefined
}

/**
 * Returns what a command has beside its name. Global options can precede the name, and arguments the option of
 * a name.
 */
function restOf(name: readonly string[], words: readonly string[]): readonly string[] | undefined {
  const rest = [...words]
  for (const word of name) {
    const found = word.startsWith('-') ? rest.indexOf(word) : placeOfWord(rest)
    if (rest[found] !== word) return undefined
    rest.splice(found, 1)
  }
  return rest
}

/** The global options that take a value from the next word. */
export const valueOptions: ReadonlySet<string> = new Set(['-C', '--directory', '--config'])

function placeOfWord(words: readonly string[]): number {
  return words.findIndex(
    (word, at) => !word.startsWith('-') && !valueOptions.has(words[at - 1] ?? ''),
  )
}
