import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { SkillrailError } from '../base/index.ts'
import type { Registration } from './adapter.ts'
import { launcherName } from './launcher-place.ts'

type EntryRegistration = Registration & { kind: 'entry' }

/**
 * The configuration with our entry in it: once, as wanted, whatever was there of ours; everything
 * else stays as it is, comments and spaces too. The same text where nothing is to do.
 *
 * @param text undefined for a file that does not exist.
 * @throws {SkillrailError} `client-configuration-broken` with the line, for text that is no JSON or
 * holds something else where the list belongs.
 */
export function withEntry(
  text: string | undefined,
  registration: EntryRegistration,
  commands: readonly string[],
  path: string,
): string {
  const entry = registration.entry(commands)
  if (text === undefined || text.trim() === '') return newFile(registration, entry)
  const root = readRoot(text, registration, path)
  const items = itemsOf(root, registration.list)
  const ours = items.flatMap((item, index) => (isOurs(item) ? [index] : []))
  const [only] = ours
  if (ours.length === 1 && only !== undefined && isWholly(items[only])) {
    if (JSON.stringify(items[only]) === JSON.stringify(entry)) return text
    return edit(text, [...registration.list, only], entry)
  }
  const cleared = ours.length === 0 ? text : withoutEntries(text, registration, path)
  const rest = itemsOf(readRoot(cleared, registration, path), registration.list)
  const framed = addFrame(cleared, registration, root)
  if (rest.length === 0) return edit(framed, registration.list, [entry])
  return edit(framed, [...registration.list, rest.length], entry, { isArrayInsertion: true })
}

/** The configuration without anything of ours, and without lists that are empty then. */
export function withoutEntries(
  text: string,
  registration: EntryRegistration,
  path: string,
): string {
  let rest = text
  for (;;) {
    const place = placeOfOurs(readRoot(rest, registration, path), registration.list)
    if (place === undefined) return rest
    rest = removeWithEmptyParents(rest, place, registration, path)
  }
}

/** Our commands in a configuration, in order. */
export function ownCommands(text: string, registration: EntryRegistration, path: string): string[] {
  return itemsOf(readRoot(text, registration, path), registration.list).flatMap((item) =>
    commandsOf(item).filter((command) => command.includes(launcherName)),
  )
}

function newFile({ list, frame }: EntryRegistration, entry: object): string {
  const nested = list.toReversed().reduce<unknown>((value, key) => ({ [key]: value }), [entry])
  return `${JSON.stringify({ ...frame, ...Object(nested) }, undefined, 2)}\n`
}

function addFrame(text: string, { frame }: EntryRegistration, root: unknown): string {
  const missing = Object.entries(frame ?? {}).filter(([key]) => fieldOf(root, key) === undefined)
  return missing.reduce((framed, [key, value]) => edit(framed, [key], value), text)
}

/** The path of one item, or of one handler in it, that is ours. */
function placeOfOurs(root: unknown, list: readonly string[]): (string | number)[] | undefined {
  const items = itemsOf(root, list)
  const index = items.findIndex(isOurs)
  if (index < 0) return undefined
  const item = items[index]
  if (isWholly(item)) return [...list, index]
  const handlers = fieldOf(item, 'hooks')
  const at = Array.isArray(handlers) ? handlers.findIndex(isOurs) : 0
  return [...list, index, 'hooks', at]
}

function removeWithEmptyParents(
  text: string,
  place: readonly (string | number)[],
  registration: EntryRegistration,
  path: string,
): string {
  let rest = edit(text, place, undefined)
  for (let keys = place.slice(0, -1); keys.length > 0; keys = keys.slice(0, -1)) {
    const value = keys.reduce<unknown>(
      (parent, key) => fieldOf(parent, key),
      readRoot(rest, registration, path),
    )
    if (Object.keys(Object(value)).length > 0) break
    rest = edit(rest, keys, undefined)
  }
  return rest
}

function isOurs(item: unknown): boolean {
  return commandsOf(item).some((command) => command.includes(launcherName))
}

function isWholly(item: unknown): boolean {
  return commandsOf(item).every((command) => command.includes(launcherName))
}

function commandsOf(item: unknown): string[] {
  const handlers = fieldOf(item, 'hooks')
  const commands = [item, ...(Array.isArray(handlers) ? handlers : [])].map((handler) =>
    fieldOf(handler, 'command'),
  )
  return commands.filter((command) => typeof command === 'string')
}

function itemsOf(root: unknown, list: readonly string[]): readonly unknown[] {
  const value = list.reduce(fieldOf, root)
  return Array.isArray(value) ? value : []
}

function fieldOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function readRoot(text: string, { list }: EntryRegistration, path: string): unknown {
  const jsonc = loadParser()
  const errors: Jsonc.ParseError[] = []
  const tree = jsonc.parseTree(withoutMark(text), errors, { allowTrailingComma: true })
  const [error] = errors
  if (error !== undefined) {
    throw broken(
      path,
      text,
      error.offset,
      `it is no JSON (${jsonc.printParseErrorCode(error.error)})`,
    )
  }
  if (tree?.type !== 'object') throw broken(path, text, 0, 'it is no JSON object')
  for (let depth = 1; depth <= list.length; depth++) {
    const node = jsonc.findNodeAtLocation(tree, list.slice(0, depth))
    const wanted = depth === list.length ? 'array' : 'object'
    if (node !== undefined && node.type !== wanted) {
      throw broken(path, text, node.offset, `\`${list.slice(0, depth).join('.')}\` is no ${wanted}`)
    }
  }
  return jsonc.getNodeValue(tree)
}

function edit(
  text: string,
  place: readonly (string | number)[],
  value: unknown,
  options: { isArrayInsertion?: boolean } = {},
): string {
  const jsonc = loadParser()
  const body = withoutMark(text)
  const edits = jsonc.modify(body, [...place], value, {
    ...options,
    formattingOptions: formatOf(body),
  })
  return text.slice(0, text.length - body.length) + jsonc.applyEdits(body, edits)
}

/** The indentation and line ends that the file has already. */
function formatOf(text: string): Jsonc.FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol }
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function broken(path: string, text: string, offset: number, problem: string): SkillrailError {
  const line = withoutMark(text).slice(0, offset).split('\n').length
  return new SkillrailError({
    code: 'client-configuration-broken',
    message: `${path}:${line}: ${problem}; the file was not touched`,
    hint: 'Mend the file, then run the command again.',
  })
}

/** Loaded only when a file is edited. */
function loadParser(): typeof Jsonc {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return parser
}
