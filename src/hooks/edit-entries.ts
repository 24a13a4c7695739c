import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { SkillrailError } from '../base/index.ts'
import type { Registration } from './adapter.ts'
import { launcherName } from './launcher-place.ts'
import { addMember, isBlank, removeMember, replaceValue, type TextStyle } from './_member-text.ts'

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
  const { list, frame = {} } = registration
  const items = itemsOf(readRoot(text, registration, path), list)
  const ours = items.flatMap((item, index) => (isOurs(item) ? [index] : []))
  const [only] = ours
  if (ours.length === 1 && only !== undefined && isWholly(items[only])) {
    if (JSON.stringify(items[only]) === JSON.stringify(entry)) return text
    return edit(text, (body, tree, style) => {
      const node = nodeAt(tree, [...list, only])
      return node === undefined ? body : replaceValue(body, node, entry, style)
    })
  }
  const cleared = ours.length === 0 ? text : withoutEntries(text, registration, path)
  const framed = Object.entries(frame).reduce((rest, [key, value]) => {
    return edit(rest, (body, tree, style) =>
      nodeAt(tree, [key]) === undefined ? addMember(body, tree, { key, value }, style) : body,
    )
  }, cleared)
  return edit(framed, (body, tree, style) => addItem(body, tree, list, entry, style))
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
    rest = removeWithEmptyParents(rest, place)
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

/** Makes what is missing of the objects and the list that lead to the item. */
function addItem(
  text: string,
  tree: Jsonc.Node,
  list: readonly string[],
  item: object,
  style: TextStyle,
): string {
  for (let depth = list.length; depth >= 0; depth--) {
    const container = nodeAt(tree, list.slice(0, depth))
    if (container === undefined) continue
    const [key, ...inner] = list.slice(depth)
    if (key === undefined) return addMember(text, container, { value: item }, style)
    const value = inner.toReversed().reduce<unknown>((rest, name) => ({ [name]: rest }), [item])
    return addMember(text, container, { key, value }, style)
  }
  return text
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

/** An object or a list that only a comment is left in stays. */
function removeWithEmptyParents(text: string, place: readonly (string | number)[]): string {
  let rest = removeAt(text, place)
  for (let keys = place.slice(0, -1); keys.length > 0; keys = keys.slice(0, -1)) {
    const parent = rest
    rest = edit(parent, (body, tree) => {
      const node = nodeAt(tree, keys)
      return node !== undefined && isBlank(body, node) ? removeAt(body, keys) : body
    })
    if (rest === parent) break
  }
  return rest
}

function removeAt(text: string, place: readonly (string | number)[]): string {
  return edit(text, (body, tree) => {
    const container = nodeAt(tree, place.slice(0, -1))
    const node = nodeAt(tree, place)
    if (container === undefined || node === undefined) return body
    const member = container.type === 'object' ? node.parent : node
    const index = container.children?.findIndex((child) => child === member) ?? -1
    return removeMember(body, container, index)
  })
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
    const node = nodeAt(tree, list.slice(0, depth))
    const wanted = depth === list.length ? 'array' : 'object'
    if (node !== undefined && node.type !== wanted) {
      throw broken(path, text, node.offset, `\`${list.slice(0, depth).join('.')}\` is no ${wanted}`)
    }
  }
  return jsonc.getNodeValue(tree)
}

/** A value in the tree; of a key that is there twice the last counts, as for every reader. */
function nodeAt(tree: Jsonc.Node, place: readonly (string | number)[]): Jsonc.Node | undefined {
  return place.reduce<Jsonc.Node | undefined>((node, key) => {
    if (typeof key === 'number') return node?.children?.[key]
    return node?.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1]
  }, tree)
}

/** Changes a text that was read without errors; a mark at its beginning stays. */
function edit(
  text: string,
  change: (body: string, tree: Jsonc.Node, style: TextStyle) => string,
): string {
  const body = withoutMark(text)
  const tree = loadParser().parseTree(body, [], { allowTrailingComma: true })
  if (tree === undefined) return text
  return text.slice(0, text.length - body.length) + change(body, tree, styleOf(body, tree))
}

/** The indentation and line ends that the file has already. */
function styleOf(text: string, tree: Jsonc.Node): TextStyle {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  return { indent, eol, lines: text.trim().includes('\n') || tree.children?.length === 0 }
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
