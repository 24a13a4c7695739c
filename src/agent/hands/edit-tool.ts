import { writeFileAtomicSync } from '../../base/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { AgentUsageError } from '../agent-errors.ts'
import type { AgentTool } from '../model.ts'
import { readText } from './file-text.ts'
import { lineDiff } from './line-diff.ts'
import { createFence, type Ground, type Place, placeOf, textOf } from './place.ts'

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
