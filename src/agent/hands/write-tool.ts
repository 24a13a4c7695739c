import { lstatSync } from 'node:fs'
import { writeFileAtomicSync } from '../../base/index.ts'
import { AgentUsageError } from '../agent-errors.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { AgentTool } from '../model.ts'
import { maxFileBytes, readText } from './file-text.ts'
import { lineDiff } from './line-diff.ts'
import { createFence, type Ground, type Place, placeOf, textOf } from './place.ts'

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
