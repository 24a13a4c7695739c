import { type Dirent, lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { compareText, readRegularFile } from '../../base/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { compilePattern } from '../../trigger/index.ts'
import { AgentUsageError } from '../errors.ts'
import { globFits } from '../approval/tool-patterns.ts'
import type { AgentTool } from '../types.ts'
import { createFence, type Ground, numberOf, type Place, placeOf, textOf } from './paths.ts'

const lineLimit = 2000
const longestLine = 2000

/** Reads a text file, or some lines of it. */
export function readTool(ground: Ground): AgentTool {
  const pathOf = (input: JsonObject): string => textOf(input, 'file_path')
  const fence = createFence(ground, pathOf, 'read')
  return {
    name: 'read',
    aliases: ['Read'],
    description:
      'Reads a text file. Every line comes with its number and a tab, which are not part of the file. ' +
      `At most ${lineLimit} lines at once: use offset and limit for the rest.`,
    inputSchema: {
      type: 'object',
      properties: {
        file_path: { type: 'string', description: 'From the project directory, or absolute.' },
        offset: { type: 'integer', minimum: 1, description: 'The first line; default 1.' },
        limit: { type: 'integer', minimum: 1, description: 'How many lines.' },
      },
      required: ['file_path'],
      additionalProperties: false,
    },
    readOnly: true,
    origin: { kind: 'built-in' },
    patternText: (input) => placeOf(pathOf(input), ground).shown,
    patternKind: 'path',
    alwaysAsk: fence.alwaysAsk,
    async execute(input) {
      const place = fence.enter(input)
      const text = readText(place)
      const first = numberOf(input, 'offset') ?? 1
      const count = Math.min(numberOf(input, 'limit') ?? lineLimit, lineLimit)
      return numbered(text, first, count, place.shown)
    },
  }
}

function numbered(text: string, first: number, count: number, shown: string): string {
  if (text === '') return `${shown} is empty.`
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  if (first > lines.length) return `${shown} has only ${lines.length} lines.`
  const part = lines.slice(first - 1, first - 1 + count)
  const shownLines = part.map((line, index) => `${first + index}\t${cutLine(line)}`)
  const left = lines.length - (first - 1 + part.length)
  if (left > 0) {
    shownLines.push(`[${left} more lines: go on with offset ${first + part.length}.]`)
  }
  return shownLines.join('\n')
}

function cutLine(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  return text.length <= longestLine
    ? text
    : `${text.slice(0, longestLine)} [${text.length - longestLine} more characters in this line]`
}

const entryLimit = 1000

/** Lists a directory, or the files below it whose path fits a pattern. */
export function listTool(ground: Ground): AgentTool {
  const pathOf = (input: JsonObject): string => textOf(input, 'path')
  const fence = createFence(ground, pathOf, 'read')
  return {
    name: 'list',
    aliases: ['Glob', 'LS'],
    description:
      'Lists a directory; with a pattern such as **/*.ts all files below it that fit. ' +
      'Directories end in /. Not followed: links; not searched: .git and node_modules.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'A directory; default: the project.' },
        pattern: {
          type: 'string',
          description: '`*` stands for characters of a name, `**` for any directories.',
        },
      },
      additionalProperties: false,
    },
    readOnly: true,
    origin: { kind: 'built-in' },
    patternText: (input) => placeOf(pathOf(input), ground).shown,
    patternKind: 'tree',
    alwaysAsk: fence.alwaysAsk,
    async execute(input) {
      const place = fence.enter(input)
      const pattern = textOf(input, 'pattern')
      if (statSync(place.real, { throwIfNoEntry: false })?.isDirectory() !== true) {
        throw new AgentUsageError({
          code: 'no-directory',
          message: `${place.shown} is no directory.`,
        })
      }
      return pattern === '' ? listed(place) : found(place, pattern)
    },
  }
}

function listed({ real, shown }: Place): string {
  const names = sortedEntries(real).map((entry) =>
    entry.isDirectory() ? `${entry.name}/` : entry.isSymbolicLink() ? `${entry.name}@` : entry.name,
  )
  return names.length === 0 ? `${shown} is empty.` : limited(names)
}

function found({ real, shown }: Place, pattern: string): string {
  const names: string[] = []
  let stopped = false
  const walk = walkFiles(real, () => {
    stopped = true
  })
  for (const { relative } of walk) {
    if (!globFits(relative, pattern)) continue
    names.push(shown === '.' ? relative : `${shown}/${relative}`)
    if (names.length > entryLimit) break
  }
  const text = names.length === 0 ? `No file below ${shown} fits ${pattern}.` : limited(names)
  return stopped ? `${text}\n${walkStopped}` : text
}

function limited(names: readonly string[]): string {
  if (names.length <= entryLimit) return names.join('\n')
  return [...names.slice(0, entryLimit), '[There are more: ask for less.]'].join('\n')
}

const matchLimit = 200
const longestMatch = 300
const maxSearchedBytes = 2 * 1024 * 1024
/** Files between two looks at whether the call is still wanted. */
const filesAtOnce = 100

/** Searches the lines of text files, in time linear in their size whatever the pattern. */
export function searchTool(ground: Ground): AgentTool {
  const pathOf = (input: JsonObject): string => textOf(input, 'path')
  const fence = createFence(ground, pathOf, 'read')
  return {
    name: 'search',
    aliases: ['Grep'],
    description:
      'Finds lines in text files that match a regular expression (RE2, without look-around), or that ' +
      `contain a text. Gives path:line:text, at most ${matchLimit} lines.`,
    inputSchema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1 },
        path: { type: 'string', description: 'A file or directory; default: the project.' },
        glob: { type: 'string', description: 'Only files whose path fits, such as **/*.ts.' },
        literal: { type: 'boolean', description: 'The pattern is a text; default false.' },
        ignore_case: { type: 'boolean' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    readOnly: true,
    origin: { kind: 'built-in' },
    patternText: (input) => placeOf(pathOf(input), ground).shown,
    patternKind: 'tree',
    alwaysAsk: fence.alwaysAsk,
    async execute(input, { signal }) {
      const { real, shown } = fence.enter(input)
      const test = tester(
        textOf(input, 'pattern'),
        input['literal'] === true,
        input['ignore_case'] === true,
      )
      const glob = textOf(input, 'glob')
      const lines: string[] = []
      let looked = 0
      let stopped = false
      const walk = files(real, shown, () => {
        stopped = true
      })
      for (const { path, relative } of walk) {
        if (++looked % filesAtOnce === 0) await setImmediate()
        signal.throwIfAborted()
        const name = path === real || shown === '.' ? relative : `${shown}/${relative}`
        if (glob !== '' && !globFits(relative, glob)) continue
        lines.push(...matchesIn(path, path === real ? shown : name, test))
        if (lines.length > matchLimit) break
      }
      if (lines.length > matchLimit) {
        return [...lines.slice(0, matchLimit), '[There are more matches: ask for less.]'].join('\n')
      }
      const found = lines.length === 0 ? ['No line matches.'] : lines
      return [...found, ...(stopped ? [walkStopped] : [])].join('\n')
    },
  }
}

function files(real: string, shown: string, stopped: () => void): Generator<WalkedFile> {
  try {
    return walkFiles(real, stopped)
  } catch {
    throw new AgentUsageError({ code: 'path-missing', message: `${shown} does not exist.` })
  }
}

type LineTest = (line: string) => boolean

function tester(pattern: string, literal: boolean, ignoreCase: boolean): LineTest {
  if (literal) {
    const wanted = ignoreCase ? pattern.toLowerCase() : pattern
    return (line) => (ignoreCase ? line.toLowerCase() : line).includes(wanted)
  }
  const reading = compilePattern(ignoreCase ? `(?i)${pattern}` : pattern)
  if (reading.ok) return reading.pattern.test
  throw new AgentUsageError({
    code: 'pattern-invalid',
    message: `The pattern ${pattern} cannot be used: ${reading.problem.message}`,
    hint: 'Set literal to true to search for it as a text.',
  })
}

function matchesIn(path: string, name: string, test: LineTest): string[] {
  const reading = readRegularFile(path, { maxBytes: maxSearchedBytes, followSymlinks: false })
  if (!reading.ok || reading.bytes.includes(0)) return []
  const found: string[] = []
  for (const [index, line] of reading.text.split('\n').entries()) {
    if (!test(line)) continue
    found.push(`${name}:${index + 1}:${line.slice(0, longestMatch)}`)
    if (found.length > matchLimit) break
  }
  return found
}

/** Larger files are for programs: the shell can cut them. */
export const maxFileBytes = 10 * 1024 * 1024

/**
 * The text of a file whose links were resolved.
 *
 * @throws {AgentUsageError} for what is missing, no regular file, too large or binary.
 */
export function readText({ real, shown }: Place): string {
  const reading = readRegularFile(real, { maxBytes: maxFileBytes, followSymlinks: false })
  if (!reading.ok) {
    if (reading.code === 'file-not-utf8') throw binary(real, shown)
    throw new AgentUsageError({
      code: reading.code,
      message: `${reading.message.replace(real, shown)}.`,
    })
  }
  if (reading.bytes.includes(0)) throw binary(real, shown)
  return reading.text
}

function binary(real: string, shown: string): AgentUsageError {
  const size = lstatSync(real, { throwIfNoEntry: false })?.size ?? 0
  return new AgentUsageError({
    code: 'file-binary',
    message: `${shown} is a binary file of ${size} bytes, not text.`,
  })
}

/** What no search looks into unless it begins there. */
const skipped: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** How many entries a walk looks at before it gives up. */
const walkLimit = 50_000

/** What a tool says after the results of a walk that gave up. */
const walkStopped: string = `[Stopped after ${walkLimit} entries: name a directory.]`

interface WalkedFile {
  /** Absolute. */
  path: string
  /** From where the walk began, with `/`. */
  relative: string
}

/**
 * All regular files below a directory, or the file itself, in code-point order of every directory.
 * Links are not followed: what they lead to is found where it lies, if it is here. `stopped` is
 * called when there is more than the walk looks at.
 */
function* walkFiles(start: string, stopped: () => void): Generator<WalkedFile> {
  if (statSync(start).isFile()) {
    yield { path: start, relative: basename(start) }
    return
  }
  const left = { entries: walkLimit }
  yield* walkDirectory(start, '', left)
  if (left.entries < 0) stopped()
}

function* walkDirectory(
  directory: string,
  beginning: string,
  left: { entries: number },
): Generator<WalkedFile> {
  for (const entry of sortedEntries(directory)) {
    if (left.entries-- <= 0) return
    const path = join(directory, entry.name)
    const relative = `${beginning}${entry.name}`
    if (entry.isFile()) yield { path, relative }
    else if (entry.isDirectory() && !skipped.has(entry.name)) {
      yield* walkDirectory(path, `${relative}/`, left)
    }
  }
}

/** Empty for a directory that cannot be read. */
function sortedEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).toSorted((a, b) =>
      compareText(a.name, b.name),
    )
  } catch {
    return []
  }
}
