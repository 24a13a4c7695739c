import { commandSpellings } from '#core/former-names'
import { programName, type ShellCommand, type ShellReading } from '#core/shell-commands'
import { firstMatch } from './match.ts'
import { compilePattern, type Pattern, plainPattern } from './pattern.ts'

/**
 * Returns the texts of a command that patterns are compared with: its words with one blank between
 * them. A blank inside a quoted word
 * is another character there, so that `git push` does not match a word that only mentions it. A command of
 * Skillrail also has its former name.
 */
export function commandTexts({ words, assignments, redirections }: ShellCommand): string[] {
  const [program, ...rest] = words
  if (!program) return []
  const asTyped = [program.text, ...rest.map(({ text }) => text)]
  const withProgramName = [programName(program), ...asTyped.slice(1)]
  const versions = [
    withProgramName,
    asTyped,
    [...withProgramName, ...redirections],
    [...assignments, ...asTyped],
    ...commandSpellings(withProgramName).slice(1),
  ]
  return [...new Set(versions.map((texts) => texts.map(oneWord).join(' ')))]
}

const insideWord = '\u00a0'

function oneWord(text: string): string {
  return text === '' ? "''" : text.replaceAll(/\s/g, insideWord)
}

/**
 * Finds where a pattern matches a command of the line. With `isGuard`, a line that was not parsed
 * completely is also searched as text: a guard asks too often rather than too seldom.
 */
export function matchCommand(
  line: string,
  { commands, complete }: ShellReading,
  pattern: Pattern,
  isGuard: boolean,
): { text: string; promptLine: number } | undefined {
  const tolerant = withOptions(pattern)
  for (const command of commands) {
    const texts = commandTexts(command)
    const match = firstMatch(pattern, texts) ?? firstMatch(tolerant, texts)
    if (!match) continue
    const promptLine = line.slice(0, command.start).split('\n').length
    return { text: match.text.replaceAll(insideWord, ' '), promptLine }
  }
  if (complete || !isGuard) return undefined
  const { source } = pattern
  const anywhere = compilePattern(source.replace(/^\^/, '').replace(/(?<!\\)\$$/, ''))
  const lines = line.split(/\r?\n/).map((text) => text.replaceAll(/[\s'"`(){};&|<>]+/g, ' '))
  if (!anywhere.ok) return undefined
  return firstMatch(anywhere.pattern, lines) ?? firstMatch(withOptions(anywhere.pattern), lines)
}

/** Options between the words of a command, each with or without a value in the next word. */
const anyOptions = (() => {
  const noValue = '-[^ ]* '
  // `--no-…` and `--name=value` take no value from the next word.
  const long = '-(?:[^n =][^ =]*|n[^o =][^ =]*|no[^- =][^ =]*|no?)'
  return `(?:-(?:[^- ][^ =]*|${long}) [^- ][^ ]* |${noValue})*`
})()

/**
 * Options are allowed at this many blanks of a pattern, which keeps the pattern small for the
 * engine.
 */
const maxBlanks = 4

/**
 * Allows options of any program wherever a pattern has a blank: `git -C x push`. The match ends
 * with a word, because `git -C pushed status` is also `git push` if `-C` has no value.
 */
function withOptions(pattern: Pattern): Pick<Pattern, 'find'> {
  if (plainPattern(pattern.source)) return plainWithOptions(pattern.source)
  let blanks = 0
  const source = pattern.source.replaceAll(partOfPattern, (part) => {
    if (!blank.test(part) || ++blanks > maxBlanks) return part
    return `(?:${part}${anyOptions})`
  })
  if (blanks === 0) return { find: () => undefined }
  // The first pattern reads options so that a word ends after the match; a pattern may require that
  // itself.
  const readings = [`(?:${source})(?: |$)`, source].map(compilePattern)
  return {
    find(text) {
      for (const reading of readings) {
        const match = reading.ok ? reading.pattern.find(text) : undefined
        if (!match) continue
        if (match.end === text.length || / /.test(text.slice(match.end - 1, match.end + 1))) {
          return match
        }
      }
      return undefined
    },
  }
}

/**
 * Does the same for plain text, as most patterns are: loading RE2 would take longer than the rest.
 */
function plainWithOptions(source: string): Pick<Pattern, 'find'> {
  const [atStart, atEnd] = [source.startsWith('^'), source.endsWith('$')]
  const patternWords = source.slice(atStart ? 1 : 0, atEnd ? -1 : undefined).split(' ')
  const [first = '', ...others] = patternWords
  if (others.length === 0 || patternWords.includes('')) return { find: () => undefined }
  return {
    find(text) {
      const words = text.split(' ')
      let offset = 0
      for (const [index, word] of words.entries()) {
        const isFirst = atStart ? word === first : word.endsWith(first)
        const end = isFirst ? wordsEnd(words, index + 1, others) : undefined
        if (end !== undefined && (!atEnd || end === words.length)) {
          const start = offset + word.length - first.length
          return { start, end: words.slice(0, end).join(' ').length }
        }
        if (atStart) break
        offset += word.length + 1
      }
      return undefined
    },
  }
}

/**
 * Returns the place after the words, which may have options between them; undefined if they do not
 * occur.
 */
function wordsEnd(
  words: readonly string[],
  at: number,
  patternWords: readonly string[],
): number | undefined {
  const [next, ...others] = patternWords
  if (next === undefined) return at
  const word = words[at]
  const end = word === next ? wordsEnd(words, at + 1, others) : undefined
  if (end !== undefined || word?.startsWith('-') !== true) return end
  const value = words[at + 1]
  const hasValue = value?.startsWith('-') === false && !/^--no-|=/.test(word)
  const behind = hasValue ? wordsEnd(words, at + 2, patternWords) : undefined
  return behind ?? wordsEnd(words, at + 1, patternWords)
}

/** An escape, a class or one character; text between `\Q` and `\E` stays whole. */
const partOfPattern = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]|[^]/gsu
const blank = /^(?: |\\s|\\ |\[(?:[ \t]|\\[st]|\[:(?:space|blank):\])+\])$/
