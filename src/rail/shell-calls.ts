import {
  type PossibleCommand,
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

/**
 * Whether a line may run a command that matches the pattern, also with further options, as in
 * `git -C . push`, and through any program that may run others. Unreadable parts are searched as text.
 */
export function mayRun(line: string, pattern: string): boolean {
  const [first = '', ...rest] = readPattern(pattern).words.map(lowerCase)
  // A pattern's path is reduced to the program's name, because only names are compared.
  const program = programName({ text: first })
  const isProgram = (name: string): boolean => fitsText(lowerCase(name), program)
  const { commands, complete } = readPossibleCommands(line, isProgram)
  const isMeant = (command: PossibleCommand): boolean => {
    const [first, ...words] = command.words
    return !isCopied(command) && isProgram(programName(first)) && follow(words, rest)
  }
  if (commands.some(isMeant)) return true
  if (complete) return false
  const texts = textWords(line)
  const follows = texts.some((word, at) => {
    return isProgram(programName({ text: word })) && follow(texts.slice(at + 1).map(plain), rest)
  })
  if (follows || readShellCommands(line).complete) return follows
  // Only the shell knows a program of this line, as in `G=git; $G push`: no order of words is certain.
  const mentions = (part: string): boolean => texts.some((word) => fitsText(lowerCase(word), part))
  return texts.some((word) => isProgram(programName({ text: word }))) && rest.every(mentions)
}

/** Programs that only copy standard input. */
const copying: ReadonlySet<string> = new Set(['apply_patch', 'cat', 'tee'])

/** Whether a command is only a line in a text for a file. */
function isCopied({ evidence, wrappers }: PossibleCommand): boolean {
  return evidence === 'text' && wrappers.length === 1 && copying.has(wrappers[0] ?? '')
}

/**
 * Whether the words follow in this order, with only options and their values between them. A word that only
 * the shell knows can be any of them.
 */
function follow(words: readonly ShellWord[], wanted: readonly string[]): boolean {
  const [next, ...rest] = wanted
  if (next === undefined) return true
  for (const [at, word] of words.entries()) {
    const isOption = word.text.startsWith('-')
    const isValue = words[at - 1]?.text.startsWith('-') === true
    const fits = fitsText(lowerCase(word.text), next) || (!word.isConstant && !isValue)
    if (fits && follow(words.slice(at + 1), rest)) return true
    if (!isOption && !isValue) return false
  }
  return false
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
  return line.split(/[\s"'`\\;&|()$<>{}=]+/).filter((word) => word !== '')
}
