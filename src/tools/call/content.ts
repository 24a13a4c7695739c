import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateDirectory, requireWithin } from '../../core/write-files.ts'
import { messageOf, systemCode } from '../../core/errors.ts'
import type { JsonValue } from '../../skill/model.ts'
import { answerJson } from '../workflow/gate.ts'
import { ToolError } from '../errors.ts'
import type { ToolContent, ToolOutcome } from '../model.ts'

export interface SavedFile {
  block: ToolContent
  path: string
  mimeType: string
  size: number
}

export interface SavePlace {
  directory: string
  /** When the files are ours to place: no link on the way may lead out of it. */
  within?: string | undefined
  now: number
}

/**
 * Writes images, sounds and binary resources to new files with mode 0600. An existing file is never
 * overwritten: the name gets a number. Throws {@link ToolError} `result-unsaved`.
 */
export async function saveContent(
  outcome: ToolOutcome,
  toolName: string,
  place: SavePlace,
): Promise<SavedFile[]> {
  return outcome.content.flatMap((block) => {
    const data = bytesOf(block)
    if (data === undefined) return []
    const mimeType =
      ('mimeType' in block ? block.mimeType : undefined) ?? 'application/octet-stream'
    const path = saveBytes(data, fileStem(toolName, place.now), extensionOf(mimeType), place)
    return [{ block, path, mimeType, size: data.byteLength }]
  })
}

export async function saveText(
  text: string,
  toolName: string,
  extension: 'json' | 'txt',
  place: SavePlace,
): Promise<string> {
  return saveBytes(Buffer.from(text), fileStem(toolName, place.now), `.${extension}`, place)
}

function bytesOf(block: ToolContent): Uint8Array | undefined {
  if (block.type === 'image' || block.type === 'audio') return block.data
  return block.type === 'resource' ? block.data : undefined
}

function saveBytes(data: Uint8Array, stem: string, extension: string, place: SavePlace): string {
  try {
    const { directory, within } = place
    if (within !== undefined) requireWithin(realpathSync.native(within), directory)
    makePrivateDirectory(directory)
    for (let number = 1; ; number++) {
      const path = join(directory, `${stem}${number === 1 ? '' : `-${number}`}${extension}`)
      if (writeNew(path, data)) return path
    }
  } catch (error) {
    if (error instanceof ToolError) throw error
    throw new ToolError({
      code: 'result-unsaved',
      message: `${place.directory} cannot take the file: ${messageOf(error)}`,
      hint: 'Name another place with --output.',
    })
  }
}

/** False where something has that name already, even a dangling link. */
function writeNew(path: string, data: Uint8Array): boolean {
  try {
    writeFileSync(path, data, { flag: 'wx', mode: 0o600, flush: true })
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

function fileStem(toolName: string, now: number): string {
  const name = toolName.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60) || 'result'
  const time = new Date(now)
    .toISOString()
    .replaceAll(/[-:]|\.\d+Z$/g, '')
    .replace('T', '-')
  return `${name}-${time}`
}

/** Subtypes that are the ending of a file too. */
const endings: ReadonlySet<string> = new Set(
  'gif html json mp4 ogg pdf png wav webm webp zip'.split(' '),
)

const extensions: ReadonlyMap<string, string> = new Map([
  ['application/gzip', '.gz'],
  ['audio/mpeg', '.mp3'],
  ['audio/x-wav', '.wav'],
  ['image/jpeg', '.jpg'],
  ['image/svg+xml', '.svg'],
  ['text/plain', '.txt'],
])

function extensionOf(mimeType: string): string {
  const [type = ''] = mimeType.split(';')
  const [, subtype = ''] = type.split('/')
  return endings.has(subtype) ? `.${subtype}` : (extensions.get(type) ?? '.bin')
}

/**
 * The answer as a value for variables and `--json`: the structured content; else a single text, as
 * JSON where it is an object or a list; else a list of what came.
 */
export function outcomeValue(
  outcome: ToolOutcome,
  pathOf?: (block: ToolContent) => string | undefined,
): JsonValue {
  if (outcome.structured !== undefined) return outcome.structured
  const [only] = outcome.content
  if (only === undefined) return null
  if (outcome.content.every((block) => block.type === 'text')) {
    const text = outcomeText(outcome)
    return /^\s*[[{]/.test(text) ? (answerJson(text) ?? text) : text
  }
  const values = outcome.content.map((block) => blockValue(block, pathOf?.(block)))
  return values.length === 1 ? (values[0] ?? null) : values
}

export function outcomeText(outcome: ToolOutcome): string {
  return outcome.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function blockValue(block: ToolContent, path: string | undefined): JsonValue {
  const file = path === undefined ? {} : { path }
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return { type: block.type, mimeType: block.mimeType, size: block.data.byteLength, ...file }
    case 'resource':
    case 'link': {
      const mimeType = block.mimeType === undefined ? {} : { mimeType: block.mimeType }
      if (block.type === 'link')
        return { type: 'link', uri: block.uri, name: block.name, ...mimeType }
      const text = block.text === undefined ? {} : { text: block.text }
      return { type: 'resource', uri: block.uri, ...mimeType, ...text, ...file }
    }
  }
}
