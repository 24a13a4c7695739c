import { type Dirent, lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { compareText } from '../../core/diagnostic.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { compilePattern } from '../../trigger/pattern.ts'
import { globFits } from '../approval/tool-patterns.ts'
import { AgentUsageError } from '../errors.ts'
import type { AgentTool } from '../types.ts'
import { numberOf, pathTool, type ResolvedPath, textOf, type Workspace } from './paths.ts'

const lineLimit = 2000
const longestLine = 2000

/** Reads a text file, or some lines of it. */
export function readTool(workspace: Workspace): AgentTool {
  return pathTool(workspace, {
    name: 'read',
    aliases: ['Read'],
    description:
      'Reads a text file. Every line comes with its number and a tab, which are not part of the file. ' +
      `At most ${lineLimit} lines at once: use offset and limit for the rest.`,
    access: 'read',
    patternKind: 'path',
    key: 'file_path',
    properties: {
      file_path: { type: 'string', description: 'From the project directory, or absolute.' },
      offset: { type: 'integer', minimum: 1, description: 'The first line; default 1.' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines.' },
    },
    required: ['file_path'],
    async execute(path, input) {
      const text = readText(path)
      if (text === '') return `${path.shown} is empty.`
      const first = numberOf(input, 'offset') ?? 1
      const count = Math.min(numberOf(input, 'limit') ?? lineLimit, lineLimit)
      return numberedLines(text, first, count, path.shown)
    },
  })
}

function numberedLines(text: string, first: number, count: number, shown: string): string {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  if (first > lines.length) return `${shown} has only ${lines.length} lines.`
  const part = lines.slice(first - 1, first - 1 + count)
  const numbered = part.map((line, index) => `${first + index}\t${cutLine(line)}`)
  const next = first + part.length
  if (next <= lines.length) {
    numbered.push(`[${lines.length - next + 1} more lines: continue with offset ${next}.]`)
  }
  return numbered.join('\n')
}

function cutLine(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  return text.length <= longestLine
    ? text
    : `${text.slice(0, longestLine)} [${text.length - longestLine} more characters in this line]`
}

/** The shell can cut larger files. */
export const maxFileBytes = 10 * 1024 * 1024

/**
 * The text of a file whose links were resolved.
 *
 * @throws {AgentUsageError} for what is missing, not a regular file, too large or binary.
 */
export function readText({ real, shown }: ResolvedPath): string {
  const reading = readRegularFile(real, { maxBytes: maxFileBytes, followSymlinks: false })
  if (reading.ok && !reading.bytes.includes(0)) return reading.text
  if (reading.ok || reading.code === 'file-not-utf8') {
    const size = lstatSync(real, { throwIfNoEntry: false })?.size ?? 0
    throw new AgentUsageError({
      code: 'file-binary',
      message: `${shown} is a binary file of ${size} bytes, not text.`,
    })
  }
  throw new AgentUsageError({
    code: reading.code,
    message: `${reading.message.replace(real, shown)}.`,
  })
}

const entryLimit = 1000

/** Lists a directory, or the files below it whose path fits a pattern. */
export function listTool(workspace: Workspace): AgentTool {
  return pathTool(workspace, {
    name: 'list',
    aliases: ['Glob', 'LS'],
    description:
      'Lists a directory; with a pattern such as **/*.ts all files below it that fit. ' +
      'Directories end in /. Not followed: links; not searched: .git and node_modules.',
    access: 'read',
    patternKind: 'tree',
    key: 'path',
    properties: {
      path: { type: 'string', description: 'A directory; default: the project.' },
      pattern: {
        type: 'string',
        description: '`*` stands for characters of a name, `**` for any directories.',
      },
    },
    required: [],
    async execute(path, input) {
      if (statSync(path.real, { throwIfNoEntry: false })?.isDirectory() !== true) {
        throw new AgentUsageError({
          code: 'no-directory',
          message: `${path.shown} is not a directory.`,
        })
      }
      const pattern = textOf(input, 'pattern')
      return pattern === '' ? listed(path) : matchingFiles(path, pattern)
    },
  })
}

function listed({ real, shown }: ResolvedPath): string {
  const names = sortedEntries(real).map((entry) => {
    if (entry.isDirectory()) return `${entry.name}/`
    return entry.isSymbolicLink() ? `${entry.name}@` : entry.name
  })
  return names.length === 0 ? `${shown} is empty.` : limited(names)
}

function matchingFiles({ real, shown }: ResolvedPath, pattern: string): string {
  const names: string[] = []
  const walk = new FileWalk(real)
  for (const { relative } of walk.files()) {
    if (!globFits(relative, pattern)) continue
    names.push(shown === '.' ? relative : `${shown}/${relative}`)
    if (names.length > entryLimit) break
  }
  const text = names.length === 0 ? `No file below ${shown} fits ${pattern}.` : limited(names)
  return walk.isCut ? `${text}\n${walkCut}` : text
}

function limited(names: readonly string[]): string {
  if (names.length <= entryLimit) return names.join('\n')
  return [...names.slice(0, entryLimit), '[There are more: ask for less.]'].join('\n')
}

const matchLimit = 200
const longestMatch = 300
const maxSearchedBytes = 2 * 1024 * 1024
/** Files between two checks whether the call was cancelled. */
const filesAtOnce = 100

/** Searches the lines of text files, in time linear in their size whatever the pattern. */
export function searchTool(workspace: Workspace): AgentTool {
  return pathTool(workspace, {
    name: 'search',
    aliases: ['Grep'],
    description:
      'Finds lines in text files that match a regular expression (RE2, without look-around), or that ' +
      `contain a text. Gives path:line:text, at most ${matchLimit} lines.`,
    access: 'read',
    patternKind: 'tree',
    key: 'path',
    properties: {
      pattern: { type: 'string', minLength: 1 },
      path: { type: 'string', description: 'A file or directory; default: the project.' },
      glob: { type: 'string', description: 'Only files whose path fits, such as **/*.ts.' },
      literal: { type: 'boolean', description: 'The pattern is a text; default false.' },
      ignore_case: { type: 'boolean' },
    },
    required: ['pattern'],
    async execute(path, input, signal) {
      const pattern = textOf(input, 'pattern')
      const ignoresCase = input['ignore_case'] === true
      const test =
        input['literal'] === true
          ? containsText(pattern, ignoresCase)
          : matches(pattern, ignoresCase)
      return await search(path, textOf(input, 'glob'), test, signal)
    },
  })
}

type LineTest = (line: string) => boolean

function containsText(text: string, ignoresCase: boolean): LineTest {
  const wanted = ignoresCase ? text.toLowerCase() : text
  return (line) => (ignoresCase ? line.toLowerCase() : line).includes(wanted)
}

function matches(pattern: string, ignoresCase: boolean): LineTest {
  const reading = compilePattern(ignoresCase ? `(?i)${pattern}` : pattern)
  if (reading.ok) return reading.pattern.test
  throw new AgentUsageError({
    code: 'pattern-invalid',
    message: `The pattern ${pattern} cannot be used: ${reading.problem.message}`,
    hint: 'Set literal to true to search for it as a text.',
  })
}

async function search(
  { real, shown }: ResolvedPath,
  glob: string,
  test: LineTest,
  signal: AbortSignal,
): Promise<string> {
  if (statSync(real, { throwIfNoEntry: false }) === undefined) {
    throw new AgentUsageError({ code: 'path-missing', message: `${shown} does not exist.` })
  }
  const lines: string[] = []
  let looked = 0
  const walk = new FileWalk(real)
  for (const { path, relative } of walk.files()) {
    if (++looked % filesAtOnce === 0) await setImmediate()
    signal.throwIfAborted()
    if (glob !== '' && !globFits(relative, glob)) continue
    const name = shown === '.' ? relative : `${shown}/${relative}`
    lines.push(...matchesIn(path, path === real ? shown : name, test))
    if (lines.length > matchLimit) {
      return [...lines.slice(0, matchLimit), '[There are more matches: ask for less.]'].join('\n')
    }
  }
  const found = lines.length === 0 ? ['No line matches.'] : lines
  return [...found, ...(walk.isCut ? [walkCut] : [])].join('\n')
}

function matchesIn(path: string, name: string, test: LineTest): string[] {
  const reading = readRegularFile(path, { maxBytes: maxSearchedBytes, followSymlinks: false })
  if (!reading.ok || reading.bytes.includes(0)) return []
  const found: string[] = []
  for (const [index, line] of reading.text.split('\n').entries()) {
    if (test(line)) found.push(`${name}:${index + 1}:${line.slice(0, longestMatch)}`)
    if (found.length > matchLimit) break
  }
  return found
}

/** Not searched unless a search begins there. */
const skipped: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** Entries after which a walk gives up. */
const walkLimit = 50_000

const walkCut = `[Stopped after ${walkLimit} entries: name a directory.]`

/**
 * All regular files below a directory, or the file itself, in code-point order of every directory.
 * Links are not followed.
 */
class FileWalk {
  readonly #start: string
  #left = walkLimit

  constructor(start: string) {
    this.#start = start
  }

  /** Whether there is more than the walk looks at. */
  get isCut(): boolean {
    return this.#left < 0
  }

  /** `relative` counts from where the walk began, with `/`. */
  *files(): Generator<{ path: string; relative: string }> {
    if (statSync(this.#start).isFile()) {
      yield { path: this.#start, relative: basename(this.#start) }
    } else yield* this.#below(this.#start, '')
  }

  *#below(directory: string, prefix: string): Generator<{ path: string; relative: string }> {
    for (const entry of sortedEntries(directory)) {
      if (this.#left-- <= 0) return
      const path = join(directory, entry.name)
      const relative = `${prefix}${entry.name}`
      if (entry.isFile()) yield { path, relative }
      else if (entry.isDirectory() && !skipped.has(entry.name)) {
        yield* this.#below(path, `${relative}/`)
      }
    }
  }
}

/** Empty for a directory that cannot be read. */
function sortedEntries(directory: string): Dirent[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    return entries.toSorted((a, b) => compareText(a.name, b.name))
  } catch {
    return []
  }
}
