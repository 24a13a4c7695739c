import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateDirectory, requireWithin } from '#core/write-files'
import { messageOf, systemCode } from '#core/errors'
import type { JsonValue } from '#core/json'
import { jsonIn } from '#tools/workflow/gate'
import { ToolError } from '#tools/errors'
import type { ToolContent, ToolOutcome } from '#tools/model'

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

/** Writes binary blocks to new files, mode 0600; a name that is taken gets a number. */
export function saveContent(outcome: ToolOutcome, toolName: string, place: SavePlace): SavedFile[] {
  return outcome.content.flatMap((block) => {
    if (!('data' in block) || block.data === undefined) return []
    const { data, mimeType = 'application/octet-stream' } = block
    const bytes = Buffer.from(data, 'base64')
    const path = saveBytes(bytes, toolName, extensionOf(mimeType), place)
    return [{ block, path, mimeType, size: bytes.length }]
  })
}

export function saveText(
  text: string,
  toolName: string,
  extension: 'json' | 'txt',
  place: SavePlace,
): string {
  return saveBytes(Buffer.from(text), toolName, `.${extension}`, place)
}

function saveBytes(data: Uint8Array, tool: string, extension: string, place: SavePlace): string {
  const { directory, within, now } = place
  const stem = fileStem(tool, now)
  try {
    if (within !== undefined) requireWithin(realpathSync.native(within), directory)
    makePrivateDirectory(directory)
    for (let number = 1; ; number++) {
      const path = join(directory, `${stem}${number === 1 ? '' : `-${number}`}${extension}`)
      if (writeNew(path, data)) return path
    }
  } catch (error) {
    throw new ToolError({
      code: 'result-unsaved',
      message: `${directory} cannot take the file: ${messageOf(error)}`,
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

const otherEndings: ReadonlyMap<string, string> = new Map([
  ['gzip', 'gz'],
  ['jpeg', 'jpg'],
  ['mpeg', 'mp3'],
  ['plain', 'txt'],
  ['svg+xml', 'svg'],
  ['x-wav', 'wav'],
])

function extensionOf(mimeType: string): string {
  const [, subtype = ''] = /^[^;]*\/([^;]*)/.exec(mimeType) ?? []
  return `.${endings.has(subtype) ? subtype : (otherEndings.get(subtype) ?? 'bin')}`
}

/** The structured content; else a single text, as JSON where it is some; else a list of blocks. */
export function outcomeValue(
  outcome: ToolOutcome,
  pathOf?: (block: ToolContent) => string | undefined,
): JsonValue {
  if (outcome.structured !== undefined) return outcome.structured
  const [only] = outcome.content
  if (!only) return null
  if (outcome.content.every((block) => block.type === 'text')) {
    return jsonIn(outcomeText(outcome))
  }
  const values = outcome.content.map((block) => blockValue(block, pathOf?.(block)))
  return values.length === 1 ? (values[0] ?? null) : values
}

export function outcomeText(outcome: ToolOutcome): string {
  return outcome.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function blockValue(block: ToolContent, path: string | undefined): JsonValue {
  const file = path === undefined ? {} : { path }
  if (block.type === 'text') return block.text
  if (!('uri' in block)) {
    const { type, mimeType, data } = block
    return { type, mimeType, size: Buffer.byteLength(data, 'base64'), ...file }
  }
  const { type, uri, mimeType: said } = block
  const mimeType = said === undefined ? {} : { mimeType: said }
  if (type === 'link') return { type, uri, name: block.name, ...mimeType }
  const text = block.text === undefined ? {} : { text: block.text }
  return { type, uri, ...mimeType, ...text, ...file }
}
