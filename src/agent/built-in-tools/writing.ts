import { lstatSync } from 'node:fs'
import { unifiedDiff } from '../../core/unified-diff.ts'
import { writeFileAtomicSync } from '../../core/write-files.ts'
import type { JsonObject } from '../../tools/model.ts'
import { type AgentUsageError, usageError } from '../errors.ts'
import type { AgentTool } from '../types.ts'
import { filePath, pathTool, type ResolvedPath, textOf, type Workspace } from './paths.ts'
import { maxFileBytes, readText } from './reading.ts'

/** Writes a whole file: readers see the old content or the new. */
export function writeTool(workspace: Workspace): AgentTool {
  return pathTool(workspace, {
    name: 'write',
    aliases: ['Write'],
    description: 'Writes a file with exactly this content; an existing one is replaced.',
    access: 'write',
    patternKind: 'path',
    properties: { file_path: filePath, content: { type: 'string' } },
    required: ['file_path', 'content'],
    effect(path, input) {
      const before = presentText(path)
      const verb = before === undefined ? 'makes' : 'replaces'
      return `${verb} ${path.shown}\n${diffText(before ?? '', textOf(input, 'content'))}`
    },
    async execute({ real, shown }, input) {
      const content = textOf(input, 'content')
      const bytes = Buffer.byteLength(content)
      if (bytes > maxFileBytes) {
        const message = `The content has ${bytes} bytes; at most ${maxFileBytes} are written.`
        throw usageError('file-too-large', message)
      }
      const entry = lstatSync(real, { throwIfNoEntry: false })
      if (entry !== undefined && !entry.isFile()) {
        const message = `${shown} is not a regular file, and is not replaced.`
        throw usageError('file-not-regular', message)
      }
      writeFileAtomicSync(real, content)
      return `${entry === undefined ? 'Made' : 'Replaced'} ${shown} (${bytes} bytes).`
    },
  })
}

function presentText(path: ResolvedPath): string | undefined {
  if (lstatSync(path.real, { throwIfNoEntry: false }) === undefined) return undefined
  try {
    return readText(path)
  } catch {
    return '(something that is not text)\n'
  }
}

/** Replaces a text of a file that occurs exactly once. */
export function editTool(workspace: Workspace): AgentTool {
  return pathTool(workspace, {
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
        return `changes ${path.shown}\n${diffText(before, after)}`
      } catch {
        return `changes nothing in ${path.shown}: its text is not what the call says`
      }
    },
    async execute(path, input) {
      const { after, count } = replaceText(path, input)
      writeFileAtomicSync(path.real, after)
      return `Changed ${path.shown} (${count} ${count === 1 ? 'place' : 'places'}).`
    },
  })
}

function replaceText(
  path: ResolvedPath,
  input: JsonObject,
): { before: string; after: string; count: number } {
  const before = readText(path)
  let [old, now] = [textOf(input, 'old_string'), textOf(input, 'new_string')]
  if (!before.includes(old) && before.includes('\r\n') && !old.includes('\r')) {
    old = old.replaceAll('\n', '\r\n')
    now = now.replaceAll('\n', '\r\n')
  }
  const parts = before.split(old)
  const count = parts.length - 1
  const { shown } = path
  if (old === now) throw notPossible('old_string and new_string are the same.')
  if (count === 0) throw notPossible(`${shown} does not contain old_string; read the file again.`)
  if (count > 1 && input['replace_all'] !== true) {
    throw notPossible(
      `${shown} contains old_string ${count} times: take more of the text around it, or set replace_all.`,
    )
  }
  return { before, after: parts.join(now), count }
}

function notPossible(message: string): AgentUsageError {
  return usageError('edit-not-possible', message)
}

const shownLines = 400

/** A diff without the names of the files, for the user who is asked. */
function diffText(before: string, after: string): string {
  const lines = unifiedDiff('', before, after).split('\n').slice(2)
  const left = lines.length - shownLines
  if (left <= 0) return lines.join('\n')
  return [...lines.slice(0, shownLines), `… ${left} more lines …`].join('\n')
}
