import { patternSpellings } from '#core/former-names'
import { withoutEnd } from '#core/text'
import { matchesName } from '#tools/workflow/match'

/** Whether every command of a line is understood and matches a pattern such as `git:*`. */
export function commandFits(
  line: string,
  patterns: readonly string[],
  platform: NodeJS.Platform,
): boolean {
  const allowedPatterns = patterns.flatMap(readPattern)
  if (allowedPatterns.includes(everything)) return true
  const commands = readCommands(line, platform)
  return (
    commands?.every((words) => allowedPatterns.some((one) => fits(textsOf(words), one))) === true
  )
}

/** Undefined for a line that is not plain enough. On Windows only one command is understood. */
function readCommands(line: string, platform: NodeJS.Platform): ShellWord[][] | undefined {
  if (platform === 'win32' && !/^[A-Za-z0-9 _./:=@,+-]*$/.test(line)) return undefined
  return shellCommands(line)
}

interface WordPattern {
  words: readonly string[]
  open: boolean
  /** Whether the last word may continue after a colon, as in `npm run test:unit`. */
  colon: boolean
}

const everything: WordPattern = { words: ['*'], open: true, colon: false }

/** An entry can contain several patterns, separated by commas. A command of ours has its former name, too. */
function readPattern(text: string): WordPattern[] {
  const parts = text.split(',').flatMap((part) => patternSpellings(part.trim()))
  return parts.filter(Boolean).map((part) => {
    if (part === '*' || part === ':*') return everything
    const colon = part.endsWith(':*')
    const open = colon || part.endsWith(' *')
    const commandText = open ? part.slice(0, -2).trim() : part
    return { words: commandText.split(/\s+/), open, colon }
  })
}

/** Compares word by word. A word `*` of the pattern matches any number of words. */
function fits(words: readonly string[], { words: parts, open, colon }: WordPattern): boolean {
  const patternWords = open ? [...parts, '*'] : parts
  const places = placesAfter(words, patternWords, '*', (word, part, index, place) => {
    if (wordFits(word, part)) return true
    return colon && index > 0 && place === parts.length - 1 && word.startsWith(`${part}:`)
  })
  return places.has(patternWords.length)
}

/** Returns the places in a pattern that the items can reach; `star` matches any number of items. */
export function placesAfter(
  items: readonly string[],
  pattern: readonly string[],
  star: string,
  fitsPart: (item: string, part: string, index: number, place: number) => boolean,
): ReadonlySet<number> {
  let places = skipStars([0], pattern, star)
  for (const [index, item] of items.entries()) {
    const next = [...places].flatMap((place) => {
      const part = pattern[place]
      if (part === undefined) return []
      if (part === star) return [place]
      return fitsPart(item, part, index, place) ? [place + 1] : []
    })
    places = skipStars(next, pattern, star)
  }
  return places
}

function skipStars(places: readonly number[], pattern: readonly string[], star: string) {
  const reachablePlaces = new Set(places)
  for (const place of reachablePlaces) if (pattern[place] === star) reachablePlaces.add(place + 1)
  return reachablePlaces
}

/** `*` within a word of the pattern matches any characters. */
export function wordFits(word: string, pattern: string): boolean {
  return matchesName(pattern, word)
}

type Denial = 'yes' | 'no' | 'unclear'

/**
 * Whether one of the commands in a line matches a denied pattern. `unclear` means that it may: the
 * shell replaces words, options are in between as in `git -C . push`, or a program runs others.
 * Directories before the name of a program make no difference.
 */
export function commandMayFit(
  line: string,
  patterns: readonly string[],
  platform: NodeJS.Platform,
): Denial {
  const deniedPatterns = patterns.flatMap(readPattern)
  if (deniedPatterns.includes(everything)) return 'yes'
  const commands = readCommands(line, platform)
  if (!commands) return 'unclear'
  const answers = commands.flatMap((words) =>
    deniedPatterns.map((one) => denialOf(words, one, platform)),
  )
  if (answers.includes('yes')) return 'yes'
  return answers.includes('unclear') ? 'unclear' : 'no'
}

/** Programs that run the commands in their arguments or in their input. */
const runners: ReadonlySet<string> = new Set(
  (
    'bash busybox chroot chrt cmd csh dash doas env expect fish flock ionice ksh nice nohup nsenter ' +
    'parallel pkexec powershell pwsh runuser script setpriv setsid sh ssh stdbuf strace su sudo ' +
    'systemd-run taskset tcsh time timeout toybox unbuffer unshare watch xargs zsh'
  ).split(' '),
)

/** Programs that do so, unless the first argument is the file to run. */
const interpreters: ReadonlySet<string> = new Set(
  'awk bun deno gawk lua mawk node osascript perl php python ruby tclsh'.split(' '),
)

function denialOf(command: readonly ShellWord[], pattern: WordPattern, platform: NodeJS.Platform) {
  const texts = textsOf(command)
  const [program = '', ...args] = texts
  if (fits(texts, pattern) || fits([baseName(program), ...args], pattern)) return 'yes'
  const [first = '', ...patternArgs] = pattern.words
  const deniedPattern = { ...pattern, words: [programName(first, platform), ...patternArgs] }
  const isUnclear = command.some(({ text }, at) => {
    const name = programName(text, platform)
    const following = command.slice(at + 1)
    return (
      runsOtherPrograms(name, following[0], at) ||
      mayMean([{ text: name, spread: false }, ...following], deniedPattern)
    )
  })
  return isUnclear ? 'unclear' : 'no'
}

/** An interpreter may be started by another program: `find . -exec sh -c …`. */
function runsOtherPrograms(name: string, next: ShellWord | undefined, at: number) {
  const plain = withoutEnd(name, '0123456789.')
  if (at === 0 && runners.has(plain)) return true
  const takesCode = next ? isOption(next) : at === 0
  return takesCode && (runners.has(plain) || interpreters.has(plain))
}

/** Whether the words may match a pattern once the shell has replaced words and options are skipped. */
function mayMean(words: readonly ShellWord[], pattern: WordPattern): boolean {
  if (fits(textsOf(words), pattern)) return true
  for (const [place, word] of words.entries()) {
    const part = pattern.words[place]
    const remainingWords = words.slice(place)
    if (part === undefined) return pattern.open
    if (part === '*') return remainingWords.some(({ spread }) => spread)
    if (word.spread) return true
    if (wordFits(word.text, part)) continue
    if (place === 0) return false
    // Options come in any order, may be joined or shortened, and may take the next word.
    if (part.startsWith('-')) return remainingWords.some((one) => one.spread || isOption(one))
    return isOption(word) && remainingWords.some((one) => !isOption(one))
  }
  return words.length >= pattern.words.length
}

function isOption({ text }: ShellWord) {
  return /^[-+]/.test(text)
}

function baseName(program: string) {
  return program.slice(program.lastIndexOf('/') + 1)
}

/** Names of programs ignore case where file names do. */
function programName(program: string, platform: NodeJS.Platform) {
  const name = baseName(program)
  if (platform === 'win32') return name.toLowerCase().replace(/\.(?:bat|cmd|com|exe)$/, '')
  return platform === 'darwin' ? name.toLowerCase() : name
}

function textsOf(words: readonly ShellWord[]) {
  return words.map(({ text }) => text)
}

interface ShellWord {
  text: string
  /** Whether it contains a file name pattern, which the shell replaces by any number of words. */
  spread: boolean
}

/**
 * Reads a plain command line as POSIX shells do: words, quotes, and the separators `;`, `&&`, `||`,
 * `|`, `&` and line ends. Returns the words of every command in it, or undefined for a line whose
 * meaning depends on more than its text: expansions, substitutions, redirections, groups,
 * assignments, comments, reserved words. A line that is not understood is not approved.
 */
export function shellCommands(line: string): ShellWord[][] | undefined {
  if (line.length > longestLine || !readable.test(line)) return undefined
  const commands: ShellWord[][] = []
  let words: ShellWord[] = []
  let isJoining = false
  for (let at = 0; at < line.length;) {
    const skippedLength =
      (words.length > 0 ? ignoredText : blanks).exec(line.slice(at))?.[0].length ?? 0
    at += skippedLength
    const separator = separators.exec(line.slice(at))?.[0]
    if (separator !== undefined) {
      if (words.length > 0) commands.push(words)
      // An empty command is an error of the shell, except after a line end.
      else if (separator !== '\n') return undefined
      words = []
      isJoining = joining.has(separator) || (isJoining && separator === '\n')
      at += separator.length
    } else if (skippedLength === 0 && at < line.length) {
      const word = readWord(line, at)
      if (!word) return undefined
      if (words.length === 0 && !isProgram(word.text, line.slice(at, word.end))) return undefined
      words.push(word)
      at = word.end
      isJoining = false
    }
  }
  if (words.length > 0) commands.push(words)
  return isJoining || commands.length === 0 ? undefined : commands
}

const longestLine = 10_000

/** Shells and readers interpret other control characters differently. */
const readable =
  /^[\t\n\u0020-\u007e\u00a1-\u167f\u1681-\u1fff\u2070-\u2fff\u3001-\ud7ff\ue000-\ufdff\ufe10-\ufefe\u{10000}-\u{1fbff}]*$/u

const blanks = /^[ \t]+/

/** After a word, redirections that join the error stream to the output or discard a stream. */
const ignoredText = /^(?:[ \t]+|(?:2>&1|[12]?>[ \t]*\/dev\/null)(?=[ \t\n;&|]|$))/
const separators = /^(?:&&|\|\||[;&|\n])/
const joining: ReadonlySet<string> = new Set(['&&', '||', '|'])

/**
 * A part of a word: quoted, escaped, or plain. Unquoted `$<>(){}` and the backtick make the shell
 * compute something, and so do `$` and the backtick in double quotes.
 */
const piece = /'([^']*)'|"((?:[^"$`\\]|\\[^\n])*)"|\\([^\n])|([^ \t\n;&|'"\\$`<>(){}]+)/y

/** File name patterns in arguments are not replaced: the shell only turns them into more words. */
function readWord(line: string, start: number): (ShellWord & { end: number }) | undefined {
  let text = ''
  let spread = false
  let end = start
  while (end < line.length && !' \t\n;&|'.includes(line.charAt(end))) {
    piece.lastIndex = end
    const match = piece.exec(line)
    if (match === null) return undefined
    const [matchText, single, double, escaped, plain = ''] = match
    // At the beginning of a word: a comment, a negation, a home directory, the path of a program.
    if (end === start && /^[#!~=]/.test(plain)) return undefined
    spread ||= /[*?[]/.test(plain)
    text += single ?? double?.replaceAll(/\\([$`"\\])/g, '$1') ?? escaped ?? plain
    end += matchText.length
  }
  return { text, spread, end }
}

/** Whether the first word names a program: no assignment, pattern or reserved word of the shell. */
function isProgram(text: string, rawText: string) {
  return text !== '' && !/[*?[\]=~]/.test(rawText) && !reservedWords.has(text)
}

const reservedWords: ReadonlySet<string> = new Set(
  (
    'if then else elif fi do done case esac while until for in function select time coproc [[ ]] ! { } ' +
    'eval exec source . alias trap command builtin export set'
  ).split(' '),
)
