import { type Dirent, lstatSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { FilePart } from 'ai'
import type { JsonObject } from '#core/json'
import { readRegularFile, realPathOf } from '#core/read-files'
import { amount, cutWithCount, withoutEnd } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import { writeFileAtomicSync } from '#core/write-files'
import { entriesOf } from '#library/skill-files'
import { compilePattern } from '#trigger/pattern'
import { globFits } from '#agent/approval/tool-patterns'
import { usageError } from '#agent/errors'
import { filePath, numberOf, type PathToolDefinition, type ResolvedPath, textOf } from './paths.ts'

const lineLimit = 2000
const longestLine = 2000

const readTool: PathToolDefinition = {
  name: 'read',
  aliases: ['Read'],
  description:
    'Reads a text file or a picture. Every line comes with its number and a tab, which are not part of the file. ' +
    `At most ${lineLimit} lines at once: use offset and limit for the rest.`,
  access: 'read',
  patternKind: 'path',
  properties: {
    file_path: filePath,
    offset: { type: 'integer', minimum: 1, description: 'The first line; default 1.' },
    limit: { type: 'integer', minimum: 1, description: 'How many lines.' },
  },
  required: ['file_path'],
  async execute(path, input) {
    const picture = readPicture(path)
    if (picture) return picture
    const text = readText(path)
    if (text === '') return `${path.displayPath} is empty.`
    const lines = text.replace(/\n$/, '').split('\n')
    const first = numberOf(input, 'offset', 1)
    const count = Math.min(numberOf(input, 'limit', lineLimit), lineLimit)
    if (first > lines.length) return `${path.displayPath} has only ${lines.length} lines.`
    const part = lines.slice(first - 1, first - 1 + count)
    const numberedLines = part.map((line, index) => `${first + index}\t${cutLine(line)}`)
    const next = first + part.length
    const remainingCount = lines.length - next + 1
    if (remainingCount > 0)
      numberedLines.push(`[${remainingCount} more lines: continue with offset ${next}.]`)
    return numberedLines.join('\n')
  },
}

function cutLine(line: string) {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  return cutWithCount(text, longestLine, ' in this line')
}

const pictureTypes: ReadonlyMap<string, string> = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
])

export function picturesIn(task: string, cwd: string): FilePart[] {
  return Array.from(task.matchAll(/(?<=^|\s)@(\S+)/g), ([, word = '']) => {
    const displayPath = withoutEnd(word, '.,;:!?)')
    const path = resolve(cwd, displayPath)
    return readPicture({ real: realPathOf(path) ?? path, displayPath }) ?? []
  })
    .flat()
    .map(({ mimeType: mediaType, data }) => ({ type: 'file', mediaType, data }))
}

function readPicture({ real, displayPath }: ResolvedPath) {
  const mimeType = pictureTypes.get(extname(displayPath).toLowerCase())
  if (mimeType === undefined) return undefined
  const options = { maxBytes: maxFileBytes, binary: true, followSymlinks: false }
  const file = readRegularFile(real, options)
  if (file.ok) return { type: 'image', mimeType, data: file.bytes.toString('base64') }
  throw usageError('file-unusable', `${file.message.replace(real, displayPath)}.`)
}

const maxFileBytes = 10 * 1024 * 1024

function readText({ real, displayPath }: ResolvedPath): string {
  const options = { maxBytes: maxFileBytes, followSymlinks: false, keepMark: true }
  const reading = readRegularFile(real, options)
  if (reading.ok && !reading.bytes.includes(0)) return reading.text
  if (reading.ok || reading.code === 'file-not-utf8') {
    const size = lstatSync(real, { throwIfNoEntry: false })?.size ?? 0
    throw usageError('file-binary', `${displayPath} is a binary file of ${size} bytes, not text.`)
  }
  throw usageError(reading.code, `${reading.message.replace(real, displayPath)}.`)
}

const entryLimit = 1000

const list: PathToolDefinition = {
  name: 'list',
  aliases: ['Glob', 'LS'],
  description:
    'Lists a directory; with a pattern such as **/*.ts all files below it that fit. ' +
    'Directories end in /. Not followed: links; not searched: .git and node_modules.',
  access: 'read',
  patternKind: 'tree',
  properties: {
    path: { type: 'string', description: 'A directory; default: the project.' },
    pattern: {
      type: 'string',
      description: '`*` matches characters of a name, `**` any directories.',
    },
  },
  required: [],
  async execute(path, input) {
    const { real, displayPath } = path
    if (statSync(real, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw usageError('no-directory', `${displayPath} is not a directory.`)
    }
    const pattern = textOf(input, 'pattern')
    if (pattern === '') {
      return limitLines(entriesOf(real).map(entryText), entryLimit, `${displayPath} is empty.`)
    }
    const names: string[] = []
    const { files, notes } = filesBelow(path)
    for (const { relative, name } of files) {
      if (globFits(relative, pattern)) names.push(name)
      if (names.length > entryLimit) break
    }
    return limitLines(names, entryLimit, `No file below ${displayPath} fits ${pattern}.`, notes)
  },
}

function entryText(entry: Dirent) {
  if (entry.isDirectory()) return `${entry.name}/`
  return entry.isSymbolicLink() ? `${entry.name}@` : entry.name
}

/** Joins the lines of a result, up to a limit. `notes` name what was not searched. */
function limitLines(
  lines: readonly string[],
  limit: number,
  emptyText: string,
  notes: readonly string[] = [],
) {
  const first = lines.length === 0 ? [emptyText] : lines.slice(0, limit)
  const more = lines.length > limit ? ['[There are more: ask for less.]'] : []
  return [...first, ...more, ...notes].join('\n')
}

const matchLimit = 200
const longestMatch = 300
const maxSearchedBytes = 2 * 1024 * 1024
const filesAtOnce = 100

/** Searches the lines of text files. With any pattern the time is linear in their size. */
const searchTool: PathToolDefinition = {
  name: 'search',
  aliases: ['Grep'],
  description:
    'Finds lines in text files that match a regular expression (RE2, without look-around), or that ' +
    `contain a text. Returns path:line:text, at most ${matchLimit} lines.`,
  access: 'read',
  patternKind: 'tree',
  properties: {
    pattern: { type: 'string', minLength: 1 },
    path: { type: 'string', description: 'A file or directory; default: the project.' },
    glob: { type: 'string', description: 'Only files whose path fits, such as **/*.ts.' },
    literal: { type: 'boolean', description: 'The pattern is a text; default false.' },
    ignore_case: { type: 'boolean' },
  },
  required: ['pattern'],
  async execute(place, input, signal) {
    const test = lineTest(input)
    if (!statSync(place.real, { throwIfNoEntry: false })) {
      throw usageError('path-missing', `${place.displayPath} does not exist.`)
    }
    const glob = textOf(input, 'glob')
    const lines: string[] = []
    const { files, notes } = filesBelow(place)
    let count = 0
    for (const { path, relative, name } of files) {
      if (++count % filesAtOnce === 0) await setImmediate()
      signal.throwIfAborted()
      if (glob === '' || globFits(relative, glob)) lines.push(...matchesIn(path, name, test))
      if (lines.length > matchLimit) break
    }
    return limitLines(lines, matchLimit, 'No line matches.', notes)
  },
}

type LineTest = (line: string) => boolean

function lineTest(input: JsonObject): LineTest {
  const pattern = textOf(input, 'pattern')
  const ignoresCase = input['ignore_case'] === true
  if (input['literal'] === true) {
    const text = ignoresCase ? pattern.toLowerCase() : pattern
    return (line) => (ignoresCase ? line.toLowerCase() : line).includes(text)
  }
  const reading = compilePattern(ignoresCase ? `(?i)${pattern}` : pattern)
  if (reading.ok) return reading.pattern.test
  const message = `The pattern ${pattern} cannot be used: ${reading.problem.message}`
  throw usageError('pattern-invalid', message, 'Set literal to true to search for it as a text.')
}

function matchesIn(path: string, name: string, test: LineTest): string[] {
  const reading = readRegularFile(path, { maxBytes: maxSearchedBytes, followSymlinks: false })
  if (!reading.ok || reading.bytes.includes(0)) return []
  const matches: string[] = []
  for (const [index, line] of reading.text.split('\n').entries()) {
    if (test(line)) matches.push(`${name}:${index + 1}:${line.slice(0, longestMatch)}`)
    if (matches.length > matchLimit) break
  }
  return matches
}

/** Directories that are searched only if the search begins there. */
const skippedDirectories: ReadonlySet<string> = new Set(['.git', 'node_modules'])

const walkLimit = 50_000

interface FileWalk {
  files: Iterable<Record<'path' | 'relative' | 'name', string>>
  notes: readonly string[]
}

/** Returns all regular files below a directory, or the file itself, by code points, without links. */
function filesBelow({ real: start, displayPath }: ResolvedPath): FileWalk {
  const notes: string[] = []
  let remainingEntries = walkLimit
  return { files: walk(start, ''), notes }

  function* walk(directory: string, prefix: string): FileWalk['files'] {
    if (prefix === '' && statSync(start).isFile()) {
      yield { path: start, relative: basename(start), name: displayPath }
      return
    }
    for (const entry of entriesOf(directory)) {
      if (remainingEntries-- === 0)
        notes.push(`[Stopped after ${walkLimit} entries: name a directory.]`)
      if (remainingEntries < 0) return
      const path = join(directory, entry.name)
      const relative = `${prefix}${entry.name}`
      const name = displayPath === '.' ? relative : `${displayPath}/${relative}`
      if (entry.isFile()) yield { path, relative, name }
      else if (entry.isDirectory() && !skippedDirectories.has(entry.name))
        yield* walk(path, `${relative}/`)
    }
  }
}

const write: PathToolDefinition = {
  name: 'write',
  aliases: ['Write'],
  description: 'Writes a file with exactly this content; an existing one is replaced.',
  access: 'write',
  patternKind: 'path',
  properties: { file_path: filePath, content: { type: 'string' } },
  required: ['file_path', 'content'],
  effect(path, input) {
    const before = textBefore(path)
    const verb = before === undefined ? 'makes' : 'replaces'
    return `${verb} ${path.displayPath}\n${diffText(before ?? '', textOf(input, 'content'))}`
  },
  async execute({ real, displayPath }, input) {
    const content = textOf(input, 'content')
    const bytes = Buffer.byteLength(content)
    const entry = lstatSync(real, { throwIfNoEntry: false })
    if (entry && !entry.isFile()) {
      const message = `${displayPath} is not a regular file, and is not replaced.`
      throw usageError('file-not-regular', message)
    }
    writeFileAtomicSync(real, content)
    return `${entry ? 'Replaced' : 'Made'} ${displayPath} (${bytes} bytes).`
  },
}

/** Returns the text of a file before it is written; undefined if it does not exist. */
function textBefore(path: ResolvedPath): string | undefined {
  if (!lstatSync(path.real, { throwIfNoEntry: false })) return undefined
  try {
    return readText(path)
  } catch {
    return '(something that is not text)\n'
  }
}

const edit: PathToolDefinition = {
  name: 'edit',
  aliases: ['Edit', 'MultiEdit'],
  description:
    'Replaces a text in a file. old_string must occur exactly once, to the character, unless ' +
    'replace_all is true.',
  access: 'write',
  patternKind: 'path',
  properties: {
    file_path: filePath,
    old_string: { type: 'string', minLength: 1 },
    new_string: { type: 'string' },
    replace_all: { type: 'boolean', description: 'Default false.' },
  },
  required: ['file_path', 'old_string', 'new_string'],
  effect(path, input) {
    try {
      const { before, after } = replaceText(path, input)
      return `changes ${path.displayPath}\n${diffText(before, after)}`
    } catch {
      return `changes nothing in ${path.displayPath}: its text is not what the call says`
    }
  },
  async execute(path, input) {
    const { after, count } = replaceText(path, input)
    writeFileAtomicSync(path.real, after)
    return `Changed ${path.displayPath} (${amount(count, 'place')}).`
  },
}

function replaceText(path: ResolvedPath, input: JsonObject) {
  const before = readText(path)
  let [old, replacement] = [textOf(input, 'old_string'), textOf(input, 'new_string')]
  // A model writes \n where the lines of the file end in \r\n.
  if (!before.includes(old) && before.includes('\r\n') && !old.includes('\r')) {
    old = old.replaceAll('\n', '\r\n')
    replacement = replacement.replaceAll('\n', '\r\n')
  }
  const parts = before.split(old)
  const count = parts.length - 1
  const { displayPath } = path
  let problem: string | undefined
  if (old === replacement) problem = 'old_string and new_string are the same.'
  else if (count === 0) problem = `${displayPath} does not contain old_string; read the file again.`
  else if (count > 1 && input['replace_all'] !== true) {
    problem = `${displayPath} contains old_string ${count} times: take more of the text around it, or set replace_all.`
  }
  if (problem !== undefined) throw usageError('edit-not-possible', problem)
  return { before, after: parts.join(replacement), count }
}

const diffLineLimit = 400

function diffText(before: string, after: string) {
  const lines = unifiedDiff('', before, after).split('\n').slice(2)
  const hiddenLines = lines.length - diffLineLimit
  if (hiddenLines <= 0) return lines.join('\n')
  return [...lines.slice(0, diffLineLimit), `… ${hiddenLines} more lines …`].join('\n')
}

export const fileTools: readonly PathToolDefinition[] = [readTool, list, searchTool, write, edit]
