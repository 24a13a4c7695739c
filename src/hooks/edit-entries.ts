import type * as Jsonc from 'jsonc-parser'
import {
  addMember,
  edit,
  fieldOf,
  hasNoComment,
  innerText,
  isBlank,
  nodeAt,
  readRoot,
  removeMember,
  type TextStyle,
  treeOf,
  withInnerText,
  withoutMark,
} from './json-edit.ts'
import type { Registration } from './adapters.ts'
import { launcherName } from './launcher.ts'

type EntryRegistration = Registration & { kind: 'entry' }

/**
 * Returns the configuration with our entry in it exactly once. Everything else stays unchanged, comments
 * and spaces included; the same text if the entry is there already.
 *
 * @param text undefined for a file that does not exist.
 * @throws {SkillrailError} `client-configuration-broken` with the line, for text that is not JSON or
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
  const items = itemsOf(readRoot(text, registration.list, path), list)
  const ours = items.filter(isOurs)
  if (ours.length === 1 && JSON.stringify(ours[0]) === JSON.stringify(entry)) return text
  const everything = { found: list.length, blanks: null, frame: [] }
  const cleared = ours.length === 0 ? text : withoutEntries(text, registration, path, everything)
  const framed = Object.entries(frame).reduce((rest, [key, value]) => {
    return edit(rest, (body, tree, style) =>
      nodeAt(tree, [key]) === undefined ? addMember(body, tree, { key, value }, style) : body,
    )
  }, cleared)
  return edit(framed, (body, tree, style) => addItem(body, tree, list, entry, style))
}

/** What an entry needs besides itself, and a configuration does not have. */
interface Made {
  /** How many of the keys that lead to the list are there already. */
  found: number
  /** The blanks in the last of those objects or that list, where nothing else is in it. */
  blanks: string | null
  /** The keys of the frame that are missing. */
  frame: string[]
}

/** What `withEntry` would make in a text that has no entry of ours; it must be readable. */
export function madeFor(text: string, registration: EntryRegistration, path: string): Made {
  const { list, frame = {} } = registration
  if (text.trim() === '') return { found: 0, blanks: null, frame: Object.keys(frame) }
  const root = readRoot(text, registration.list, path)
  const depth = list.findIndex((_, index) => list.slice(0, index + 1).reduce(fieldOf, root) == null)
  const found = depth < 0 ? list.length : depth
  const body = withoutMark(text)
  const container = nodeAt(treeOf(body), list.slice(0, found))
  return {
    found,
    blanks: container !== undefined && isBlank(body, container) ? innerText(body, container) : null,
    frame: Object.keys(frame).filter((key) => fieldOf(root, key) === undefined),
  }
}

/**
 * The configuration without anything of ours.
 *
 * @param made what was made for the entry, which goes too where nothing else has come into it. Where
 * that is not known, whatever is empty without the entry is taken for ours.
 */
export function withoutEntries(
  text: string,
  registration: EntryRegistration,
  path: string,
  made?: Made,
): string {
  let rest = text
  for (;;) {
    const place = placeOfOurs(readRoot(rest, registration.list, path), registration.list)
    if (place === undefined) break
    rest = removeWithEmptyParents(rest, place, made?.found ?? 0)
  }
  return rest === text || made === undefined ? rest : withoutMade(rest, registration, made)
}

/** Puts the blanks back that were there, and takes the frame out of a file that holds nothing else. */
function withoutMade(text: string, { list }: EntryRegistration, made: Made): string {
  const blanked = edit(text, (body, tree) => {
    const container = nodeAt(tree, list.slice(0, made.found))
    return container === undefined || made.blanks === null || !isBlank(body, container)
      ? body
      : withInnerText(body, container, made.blanks)
  })
  const isOurs = (member: Jsonc.Node): boolean =>
    made.frame.some((key) => key === member.children?.[0]?.value)
  return edit(blanked, (body, tree) => {
    const members = tree.children ?? []
    return members.length > 0 && members.every(isOurs) && hasNoComment(body, tree)
      ? withInnerText(body, tree, made.blanks ?? '')
      : body
  })
}

export function ownCommands(text: string, registration: EntryRegistration, path: string): string[] {
  return itemsOf(readRoot(text, registration.list, path), registration.list).flatMap((item) =>
    commandsOf(item).filter((command) => command.includes(launcherName)),
  )
}

function newFile({ list, frame }: EntryRegistration, entry: object): string {
  const nested = list.toReversed().reduce<unknown>((value, key) => ({ [key]: value }), [entry])
  return `${JSON.stringify({ ...frame, ...Object(nested) }, undefined, 2)}\n`
}

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

/** An object or a list stays that only a comment is left in, and so do the first `found` of them. */
function removeWithEmptyParents(
  text: string,
  place: readonly (string | number)[],
  found: number,
): string {
  let rest = removeAt(text, place)
  for (let keys = place.slice(0, -1); keys.length > found; keys = keys.slice(0, -1)) {
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
