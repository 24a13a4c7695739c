import { lstatSync } from 'node:fs'
import { writeFileAtomicSync } from '../../base/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { AgentUsageError } from '../errors.ts'
import type { AgentTool } from '../types.ts'
import { createFence, type Ground, type Place, placeOf, textOf } from './paths.ts'
import { maxFileBytes, readText } from './reading.ts'

/** Writes a whole file: readers see the old content or the new. */
export function writeTool(ground: Ground): AgentTool {
  const pathOf = (input: JsonObject): string => textOf(input, 'file_path')
  const fence = createFence(ground, pathOf, 'write')
  return {
    name: 'write',
    aliases: ['Write'],
    description: 'Writes a file with exactly this content; an existing one is replaced.',
    inputSchema: {
      type: 'object',
      properties: {
        file_path: { type: 'string', description: 'From the project directory, or absolute.' },
        content: { type: 'string' },
      },
      required: ['file_path', 'content'],
      additionalProperties: false,
    },
    readOnly: false,
    origin: { kind: 'built-in' },
    patternText: (input) => placeOf(pathOf(input), ground).shown,
    patternKind: 'path',
    alwaysAsk: fence.alwaysAsk,
    effect(input) {
      const place = placeOf(pathOf(input), ground)
      const before = present(place)
      const verb = before === undefined ? 'makes' : 'replaces'
      return `${verb} ${place.shown}\n${lineDiff(before ?? '', textOf(input, 'content'))}`
    },
    async execute(input) {
      const place = fence.enter(input)
      const content = textOf(input, 'content')
      const bytes = Buffer.byteLength(content)
      if (bytes > maxFileBytes) {
        throw new AgentUsageError({
          code: 'file-too-large',
          message: `The content has ${bytes} bytes; at most ${maxFileBytes} are written.`,
        })
      }
      const entry = lstatSync(place.real, { throwIfNoEntry: false })
      if (entry !== undefined && !entry.isFile()) {
        throw new AgentUsageError({
          code: 'file-not-regular',
          message: `${place.shown} is no regular file, and is not replaced.`,
        })
      }
      writeFileAtomicSync(place.real, content)
      return `${entry === undefined ? 'Made' : 'Replaced'} ${place.shown} (${bytes} bytes).`
    },
  }
}

/** What the file has now; a text in its place where it has none. */
function present(place: Place): string | undefined {
  if (lstatSync(place.real, { throwIfNoEntry: false }) === undefined) return undefined
  try {
    return readText(place)
  } catch {
    return '(something that is no text)\n'
  }
}

/** Replaces a text of a file that occurs exactly once. */
export function editTool(ground: Ground): AgentTool {
  const pathOf = (input: JsonObject): string => textOf(input, 'file_path')
  const fence = createFence(ground, pathOf, 'write')
  return {
    name: 'edit',
    aliases: ['Edit', 'MultiEdit'],
    description:
      'Replaces a text in a file. old_string must occur exactly once, to the character, unless ' +
      'replace_all is true.',
    inputSchema: {
      type: 'object',
      properties: {
        file_path: { type: 'string', description: 'From the project directory, or absolute.' },
        old_string: { type: 'string', minLength: 1 },
        new_string: { type: 'string' },
        replace_all: { type: 'boolean', description: 'Default false.' },
      },
      required: ['file_path', 'old_string', 'new_string'],
      additionalProperties: false,
    },
    readOnly: false,
    origin: { kind: 'built-in' },
    patternText: (input) => placeOf(pathOf(input), ground).shown,
    patternKind: 'path',
    alwaysAsk: fence.alwaysAsk,
    effect(input) {
      const place = placeOf(pathOf(input), ground)
      try {
        const { before, after } = replaced(place, input)
        return `changes ${place.shown}\n${lineDiff(before, after)}`
      } catch {
        return `changes nothing in ${place.shown}: its text is not what the call says`
      }
    },
    async execute(input) {
      const place = fence.enter(input)
      const { after, count } = replaced(place, input)
      writeFileAtomicSync(place.real, after)
      return `Changed ${place.shown} (${count} ${count === 1 ? 'place' : 'places'}).`
    },
  }
}

interface Replacement {
  before: string
  after: string
  count: number
}

/** @throws {AgentUsageError} when the text is not there, or not only once. */
function replaced(place: Place, input: JsonObject): Replacement {
  const before = readText(place)
  const [old, now] = [textOf(input, 'old_string'), textOf(input, 'new_string')]
  if (old === now) throw unchanged('old_string and new_string are the same.')
  const parts = before.split(old)
  if (parts.length === 1 && before.includes('\r\n') && !old.includes('\r')) {
    const windows = before.split(withCarriageReturns(old))
    return joined(before, windows, withCarriageReturns(now), place, input)
  }
  return joined(before, parts, now, place, input)
}

function joined(
  before: string,
  parts: readonly string[],
  now: string,
  { shown }: Place,
  input: JsonObject,
): Replacement {
  const count = parts.length - 1
  if (count === 0) throw unchanged(`${shown} does not contain old_string; read the file again.`)
  if (count > 1 && input['replace_all'] !== true) {
    throw unchanged(
      `${shown} contains old_string ${count} times: take more of the text around it, or set replace_all.`,
    )
  }
  return { before, after: parts.join(now), count }
}

function withCarriageReturns(text: string): string {
  return text.replaceAll('\n', '\r\n')
}

function unchanged(message: string): AgentUsageError {
  return new AgentUsageError({ code: 'edit-not-possible', message })
}

const shownLines = 400
const contextLines = 3
/** Above this many pairs of lines, what lies between the first and the last change is one change. */
const pairLimit = 1_000_000

/**
 * What changes from one text to another, for a person: lines with `-`, `+` and a few around them.
 * Empty for equal texts.
 */
function lineDiff(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  ) {
    end++
  }
  const middle = changes(old.slice(start, old.length - end), now.slice(start, now.length - end))
  if (middle.length === 0) return before === after ? '' : '(only the end of the last line changes)'
  const first = Math.max(0, start - contextLines)
  const lines = [
    `@@ line ${start + 1} @@`,
    ...old.slice(first, start).map((line) => ` ${line}`),
    ...middle,
    ...old.slice(old.length - end, old.length - end + contextLines).map((line) => ` ${line}`),
  ]
  if (lines.length <= shownLines) return lines.join('\n')
  return [...lines.slice(0, shownLines), `… ${lines.length - shownLines} more lines …`].join('\n')
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** By the longest common subsequence of the lines. */
function changes(old: readonly string[], now: readonly string[]): string[] {
  if (old.length * now.length > pairLimit) {
    return [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)]
  }
  const width = now.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * width + j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(` ${old[i]}`)
      i++
      j++
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`-${old[i++]}`)
    } else lines.push(`+${now[j++]}`)
  }
  return lines
}
