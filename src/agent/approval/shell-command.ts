/**
 * Reads a command line as POSIX shells do, as far as it is plain: words, quotes, and the separators
 * `;`, `&&`, `||`, `|`, `&` and line ends. Returns the words of every command in it, or undefined for
 * anything whose meaning depends on more than its text: expansions, substitutions, redirections,
 * groups, assignments, comments, reserved words. What is not understood is not approved.
 *
 * @example shellCommands('git add a && git commit -m "b c"')
 * // [['git', 'add', 'a'], ['git', 'commit', '-m', 'b c']]
 */
export function shellCommands(line: string): string[][] | undefined {
  return shellWords(line)?.map((words) => words.map(({ text }) => text))
}

/** A word of a command; `spread`: the shell replaces it by the names of files that fit it. */
export interface ShellWord {
  text: string
  spread: boolean
}

/** The same, with what the shell may still make of each word. */
export function shellWords(line: string): ShellWord[][] | undefined {
  if (line.length > longestLine || !readable.test(line)) return undefined
  const commands: ShellWord[][] = []
  let words: ShellWord[] = []
  let at = 0
  let needed = false
  while (at < line.length) {
    const blank = blanks.exec(line.slice(at))?.[0].length ?? 0
    at += blank
    if (at >= line.length) break
    const ignored = harmlessRedirection.exec(line.slice(at))
    if (ignored !== null && words.length > 0) {
      at += ignored[0].length
      continue
    }
    const separator = separators.exec(line.slice(at))?.[0]
    if (separator !== undefined) {
      if (words.length > 0) commands.push(words)
      // An empty command is an error of the shell, except after a line end.
      else if (separator !== '\n') return undefined
      words = []
      needed = joining.has(separator) || (needed && separator === '\n')
      at += separator.length
      continue
    }
    const word = readWord(line, at)
    if (word === undefined) return undefined
    if (words.length === 0 && !isProgram(word.text, line.slice(at, word.end))) return undefined
    words.push(word)
    at = word.end
    needed = false
  }
  if (words.length > 0) commands.push(words)
  return needed || commands.length === 0 ? undefined : commands
}

const longestLine = 10_000

/** Other control characters mean different things to different shells and to whoever reads them. */
const readable =
  /^[\t\n\u0020-\u007e\u00a1-\u167f\u1681-\u1fff\u2070-\u2fff\u3001-\ud7ff\ue000-\ufdff\ufe10-\ufefe\u{10000}-\u{1fbff}]*$/u

const blanks = /^[ \t]+/
const separators = /^(?:&&|\|\||[;&|\n])/
const joining: ReadonlySet<string> = new Set(['&&', '||', '|'])

/** Joins the error stream to the output, or throws one away; the end must be that of a word. */
const harmlessRedirection = /^(?:2>&1|[12]?>[ \t]*\/dev\/null)(?=[ \t\n;&|]|$)/

/** Unquoted, each of these makes the shell compute something. */
const computed = '$`<>(){}'

/** … and these where a word begins: a comment, a negation, a home, the place of a program. */
const computedFirst = '#!~='

interface Piece {
  text: string
  end: number
}

function readWord(line: string, start: number): (ShellWord & Piece) | undefined {
  let text = ''
  let spread = false
  let at = start
  while (at < line.length && !endsWord(line.charAt(at))) {
    const character = line.charAt(at)
    if (character === "'" || character === '"') {
      const quoted = readQuoted(line, at)
      if (quoted === undefined) return undefined
      text += quoted.text
      at = quoted.end
    } else if (character === '\\') {
      const next = line.charAt(at + 1)
      if (next === '' || next === '\n') return undefined
      text += next
      at += 2
    } else if (!isPlain(character, at === start)) return undefined
    else {
      text += character
      spread ||= '*?['.includes(character)
      at += 1
    }
  }
  return { text, end: at, spread }
}

/** File name patterns in arguments are left as they stand: they only ever become more words. */
function isPlain(character: string, first: boolean): boolean {
  return !computed.includes(character) && !(first && computedFirst.includes(character))
}

function readQuoted(line: string, start: number): Piece | undefined {
  const quote = line.charAt(start)
  let text = ''
  for (let at = start + 1; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === quote) return { text, end: at + 1 }
    if (quote === '"' && (character === '$' || character === '`')) return undefined
    if (quote === '"' && character === '\\' && '$`"\\\n'.includes(line.charAt(at + 1))) {
      if (line.charAt(at + 1) === '\n' || at + 1 >= line.length) return undefined
      at++
      text += line.charAt(at)
    } else text += character
  }
  return undefined
}

function endsWord(character: string): boolean {
  return ' \t\n;&|'.includes(character)
}

/**
 * Whether the first word names a program and nothing else: no assignment before it, no pattern that
 * the shell would expand, no word of the shell's own grammar, nothing that runs its arguments.
 */
function isProgram(text: string, written: string): boolean {
  return text !== '' && !/[*?[\]=~]/.test(written) && !reserved.has(text)
}

const reserved: ReadonlySet<string> = new Set(
  (
    'if then else elif fi do done case esac while until for in function select time coproc [[ ]] ! { } ' +
    'eval exec source . alias trap command builtin export set'
  ).split(' '),
)
