import {
  type PossibleCommand,
  type PossibleReading,
  programName,
  readPossibleCommands,
  readShellCommands,
  type ShellCommand,
  type ShellWord,
} from '#core/shell-commands'
import { fitsText } from '#core/fits-text'

// Compares patterns of commands with shell lines. This module loads the lexer for such lines, which the hook
// needs only for shell calls.

/**
 * Whether every command of a line matches a pattern, and nothing else in the line changes anything: a variable
 * such as `PATH` can replace a program, and a redirection can write any file.
 */
export function runsOnly(line: string, patterns: readonly string[]): boolean {
  const { commands, complete, changesState } = readShellCommands(line)
  if (!complete || changesState) return false
  // A command may follow `--`, but an option is not a command: `npm test -- --watch=false`.
  const programs = commands.filter(
    ({ words, wrappers }) => wrappers.length === 0 || words[0]?.text.startsWith('-') !== true,
  )
  const isListed = (command: ShellCommand): boolean =>
    patterns.some((pattern) => runsExactly(command, pattern))
  return programs.length > 0 && programs.every(isListed)
}

interface CommandPattern {
  words: readonly string[]
  /** Whether further words may follow: `git push:*` and `git push *`. */
  isOpen: boolean
}

function readPattern(pattern: string): CommandPattern {
  const isOpen = /(?::| )\*$/.test(pattern)
  const words = (isOpen ? pattern.slice(0, -2) : pattern).trim().split(/\s+/)
  return { words, isOpen }
}

/** Whether a command matches the pattern exactly, word by word. */
function runsExactly({ words }: ShellCommand, pattern: string): boolean {
  const { words: wanted, isOpen } = readPattern(pattern)
  if (words.length < wanted.length || (!isOpen && words.length > wanted.length)) return false
  return wanted.every((part, index) => {
    const word = words[index]
    return word?.isConstant === true && fitsText(word.text, part)
  })
}

/** A shell line, read once for all patterns of guards. */
interface GuardedLine {
  /** Whether the line is too long to be read: then it may run any command. */
  isTooLong: boolean
  /**
   * Whether the line may run a command that matches one of the patterns, also with further options, as in
   * `git -C . push`, and through any program that may run others. Unreadable parts are searched as text.
   */
  mayRun: (pattern: string) => boolean
}

export function readForGuards(line: string, patterns: readonly string[]): GuardedLine {
  const programs = new Set(patterns.map((pattern) => readGuard(pattern).program))
  const isGuarded = (name: string): boolean =>
    [...programs].some((program) => fitsText(lowerCase(name), program))
  const reading = readPossibleCommands(line, memoized(isGuarded))
  const words = textWords(line)
  const text = {
    words,
    programs: words.map((word) => programName({ text: word })),
    hasUnknownProgram: !reading.complete && !reading.isTooLong && !readShellCommands(line).complete,
  }
  const mayRun = (pattern: string): boolean => mayRunGuarded(reading, text, readGuard(pattern))
  return { isTooLong: reading.isTooLong, mayRun }
}

interface GuardPattern {
  program: string
  rest: readonly string[]
}

/** Returns the pattern's words. Its path is reduced to the program's name, because only names are compared. */
function readGuard(pattern: string): GuardPattern {
  const [first = '', ...rest] = readPattern(pattern).words.map(lowerCase)
  return { program: programName({ text: first }), rest }
}

interface LineText {
  words: readonly string[]
  /** For each word its name as a program. */
  programs: readonly string[]
  hasUnknownProgram: boolean
}

function mayRunGuarded(
  { commands, complete, isTooLong }: PossibleReading,
  { words, programs, hasUnknownProgram }: LineText,
  { program, rest }: GuardPattern,
): boolean {
  if (isTooLong) return true
  const isProgram = (name: string): boolean => fitsText(lowerCase(name), program)
  const isNamed = programs.some(isProgram)
  const mentions = (part: string): boolean => words.some((word) => fitsText(lowerCase(word), part))
  const isMentioned = isNamed && rest.every(mentions)
  const isMeant = ({ words: [first, ...args] }: PossibleCommand): boolean => {
    const pattern = lowerCase(programName({ text: first?.pattern ?? '' }))
    const isPart = /[^*]/.test(pattern) && fitsText(program, pattern)
    // Only the shell knows the program, as in `G=git; $G push`.
    const isUnknown = first?.isConstant === false && isMentioned
    return (isProgram(programName(first)) || isPart || isUnknown) && follow(args, rest)
  }
  if (commands.some(isMeant)) return true
  if (complete) return false
  const starts = programs.flatMap((name, at) => (isProgram(name) ? at + 1 : []))
  const follows = starts.length > 0 && follow(words.map(plain), rest, starts)
  // Only the shell knows a program of this line, as in `C=(git push); "${C[@]}"`: no order of words is certain.
  return follows || (isMentioned && hasUnknownProgram)
}

function memoized(test: (text: string) => boolean): (text: string) => boolean {
  const results = new Map<string, boolean>()
  return (text) => {
    const result = results.get(text) ?? test(text)
    results.set(text, result)
    return result
  }
}

/**
 * Whether the words follow in this order after one of the starts, with only options and their values between
 * them. An option can be anywhere after the first start. A word that only the shell knows can be any of them.
 */
function follow(
  words: readonly ShellWord[],
  wanted: readonly string[],
  starts: readonly number[] = [0],
): boolean {
  const isOption = (word: string): boolean => word.startsWith('-')
  const [first = 0] = starts
  const hasOption = (option: string): boolean =>
    words.some((word, at) => at >= first && mayBe(word, option))
  if (!wanted.filter(isOption).every(hasOption)) return false
  let from = starts
  for (const next of wanted.filter((word) => !isOption(word))) {
    const after: number[] = []
    let last = -1
    for (const start of from) {
      // An earlier start has read up to there.
      if (start <= last) continue
      let at = start
      for (; at < words.length; at++) {
        const { text, isConstant } = words[at] ?? plain('')
        const isValue = at > start && words[at - 1]?.text.startsWith('-') === true
        if (fitsText(lowerCase(text), next) || (!isConstant && !isValue)) after.push(at + 1)
        if (!isOption(text) && !isValue) break
      }
      last = at
    }
    from = after
  }
  return from.length > 0
}

function mayBe({ text, isConstant }: ShellWord, part: string): boolean {
  return !isConstant || fitsText(lowerCase(text), part)
}

/** Some file systems do not tell `Git` from `git`. */
function lowerCase(text: string): string {
  return text.toLowerCase()
}

function plain(text: string): ShellWord {
  return { text, isConstant: true }
}

/** Returns the literal words of an unreadable line, at any place. */
function textWords(line: string): string[] {
  return line
    .replaceAll(defaultOf, ' ')
    .split(/[\s"'`\\;&|()$<>{}=,]+/)
    .filter((word) => word !== '')
}

/** The beginning of an expansion before its own text: `${x:-git}`. */
const defaultOf = /\$\{[!#]?\w+(?:\[[^\]\s]{0,99}\])?(?::?[-+=?]|[/#%^,@]+)/g
