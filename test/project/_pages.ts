import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

export interface Page {
  /** From the root of the repository. */
  path: string
  text: string
}

/** Every page of Markdown that readers are sent to. */
export const pages: readonly Page[] = ['*.md', 'docs/**/*.md', 'skills/**/*.md', 'examples/*.md']
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** The text without what stands between fences, line for line. */
export function prose(text: string): string {
  return text.replaceAll(fence, (block) => '\n'.repeat(block.split('\n').length - 1))
}

/** What a reader would type: the lines of shell blocks, and of transcripts those behind `$ `. */
export function typed(text: string): string[] {
  return [...text.matchAll(fence)].flatMap(([, language = '', body = '']) => {
    const lines = body.split('\n')
    if (language === 'sh') return commandsIn(lines)
    return commandsIn(lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)))
  })
}

/** The words of a command up to a comment, a pipe, a redirection or the next command. */
export function wordsOf(command: string): string[] {
  const words: string[] = []
  for (const [, double, single, plain] of command.matchAll(word)) {
    if (plain !== undefined && /^(?:#.*|[|;&<>]+)$/.test(plain)) break
    words.push(double ?? single ?? plain ?? '')
  }
  return words
}

const fence = /^```(\w*)\n([^]*?)^```$/gm
const word = /"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+)/g

/** Lines that belong together by a backslash or an open quote are one command. */
function commandsIn(lines: readonly string[]): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of lines) {
    const text = `${open}${line}`
    const unclosed = (text.replaceAll(/#.*$/gm, '').match(/'/g) ?? []).length % 2 === 1
    if (line.endsWith('\\')) open = `${text.slice(0, -1)} `
    else if (unclosed) open = `${text}\n`
    else {
      commands.push(...text.split(' && '))
      open = ''
    }
  }
  return commands
}
