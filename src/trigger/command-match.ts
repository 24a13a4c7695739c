import { programName, type ShellCommand, type ShellReading } from '#core/shell-commands'
import { firstMatch } from './match.ts'
import { compilePattern, type Pattern, plainPattern } from './pattern.ts'

/**
 * What a pattern sees of a command: its words with one blank between them. A blank inside a quoted word
 * is another character there, so that `git push` does not match a word that only mentions it.
 */
export function commandTexts({ words, assignments, redirections }: ShellCommand): string[] {
  const [program, ...rest] = words
  if (!program) return []
  const given = [program.text, ...rest.map(({ text }) => text)]
  const named = [programName(program), ...given.slice(1)]
  const versions = [named, given, [...named, ...redirections], [...assignments, ...given]]
  return [...new Set(versions.map((texts) => texts.map(oneWord).join(' ')))]
}

const insideWord = '\u00a0'

function oneWord(text: string): string {
  return text === '' ? "''" : text.replaceAll(/\s/g, insideWord)
}

/**
 * Where a pattern matches a command of the line. With `isGuard`, a line that was not understood
 * completely is searched as text too: a guard asks once too often rather than once too seldom.
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

/** So many blanks of a pattern stand for options, which keeps the pattern small for the engine. */
const mostBlanks = 4

/**
 * The pattern with options of any program allowed wherever it has a blank: `git -C x push`. Its match ends
 * with a word, because `git -C pushed status` is also `git push` if `-C` has no value.
 */
function withOptions(pattern: Pattern): Pick<Pattern, 'find'> {
  if (plainPattern(pattern.source)) return plainWithOptions(pattern.source)
  let blanks = 0
  const source = pattern.source.replaceAll(partOfPattern, (part) => {
    if (!blank.test(part) || ++blanks > mostBlanks) return part
    return `(?:${part}${anyOptions})`
  })
  if (blanks === 0) return { find: () => undefined }
  // The first reads options so that a word ends behind the match; a pattern may also say that itself.
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

/** The same for plain text, as most patterns are: loading RE2 would take longer than all the rest. */
function plainWithOptions(source: string): Pick<Pattern, 'find'> {
  const [atStart, atEnd] = [source.startsWith('^'), source.endsWith('$')]
  const wanted = source.slice(atStart ? 1 : 0, atEnd ? -1 : undefined).split(' ')
  const [first = '', ...others] = wanted
  if (others.length === 0 || wanted.includes('')) return { find: () => undefined }
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

/** The place behind the words, from a place on and with options between them; undefined if they are not there. */
function wordsEnd(
  words: readonly string[],
  at: number,
  wanted: readonly string[],
): number | undefined {
  const [next, ...others] = wanted
  if (next === undefined) return at
  const word = words[at]
  const end = word === next ? wordsEnd(words, at + 1, others) : undefined
  if (end !== undefined || word?.startsWith('-') !== true) return end
  const value = words[at + 1]
  const hasValue = value?.startsWith('-') === false && !/^--no-|=/.test(word)
  const behind = hasValue ? wordsEnd(words, at + 2, wanted) : undefined
  return behind ?? wordsEnd(words, at + 1, wanted)
}

/** An escape, a class or one character; text between `\Q` and `\E` stays whole. */
const partOfPattern = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]|[^]/gsu
const blank = /^(?: |\\s|\\ |\[(?:[ \t]|\\[st]|\[:(?:space|blank):\])+\])$/
