import type { JsonObject } from '../../tools/index.ts'
import type { AgentTool } from '../model.ts'
import { readText } from './file-text.ts'
import { createFence, type Ground, numberOf, placeOf, textOf } from './place.ts'

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
  const shownLines = part.map((line, index) => `${first + index}\t${shortened(line)}`)
  const left = lines.length - (first - 1 + part.length)
  if (left > 0) {
    shownLines.push(`[${left} more lines: go on with offset ${first + part.length}.]`)
  }
  return shownLines.join('\n')
}

function shortened(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  return text.length <= longestLine
    ? text
    : `${text.slice(0, longestLine)} [${text.length - longestLine} more characters in this line]`
}
