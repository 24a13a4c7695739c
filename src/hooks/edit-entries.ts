import type { Registration } from './adapters.ts'
import { fieldOf, type JsonText, readClientJson } from './json-edit.ts'
import { launcherName } from './launcher.ts'

type EntryRegistration = Registration & { kind: 'entry' }

/**
 * Returns the configuration with our entry in it exactly once. Everything else stays unchanged, comments
 * and spaces included; the same text if the entry is there already.
 * @param text undefined for a file that does not exist.
 * @throws {SkillrailError} `client-configuration-broken` with the line, for text that is not JSON or
 * holds something else where the list belongs.
 */
export function withEntry(
  text: string | undefined,
  { list, frame = {}, ...registration }: EntryRegistration,
  commands: readonly string[],
  path: string,
): string {
  const entry = registration.entry(commands)
  if (text === undefined || text.trim() === '') {
    return `${JSON.stringify({ ...frame, ...Object(nested(list, [entry])) }, undefined, 2)}\n`
  }
  const before = readClientJson(text, list, path)
  const ours = itemsOf(before, list).filter(isOurs)
  if (ours.length === 1 && JSON.stringify(ours[0]) === JSON.stringify(entry)) return text
  let json = withoutOurs(before, list, list.length)
  for (const [key, value] of Object.entries(frame)) {
    if (json.at([key]) === undefined) json = json.add([], { key, value })
  }
  // Makes what is missing of the objects and the list that lead to the item.
  const depth = depthOf(json, list)
  const [key, ...inner] = list.slice(depth)
  const member = key === undefined ? { value: entry } : { key, value: nested(inner, [entry]) }
  return json.add(list.slice(0, depth), member).text
}

function nested(keys: readonly string[], value: unknown): unknown {
  return keys.reduceRight((inner, key) => ({ [key]: inner }), value)
}

/** How many of the keys that lead to the list are there already. */
function depthOf(json: JsonText, list: readonly string[]): number {
  const missing = list.findIndex((_, index) => json.at(list.slice(0, index + 1)) === undefined)
  return missing < 0 ? list.length : missing
}

/** What an entry needs besides itself, and a configuration does not have. */
interface Made {
  found: number
  /** The blanks in the last of those objects or that list, where nothing else is in it. */
  blanks: string | null
  frame: string[]
}

/** What `withEntry` would make in a text that has no entry of ours; it must be readable. */
export function madeFor(text: string, registration: EntryRegistration, path: string): Made {
  const { list, frame = {} } = registration
  const keys = Object.keys(frame)
  if (text.trim() === '') return { found: 0, blanks: null, frame: keys }
  const json = readClientJson(text, list, path)
  const found = depthOf(json, list)
  const place = list.slice(0, found)
  const blanks = json.isBlank(place) ? json.inner(place) : null
  return { found, blanks, frame: keys.filter((key) => json.at([key]) === undefined) }
}

/**
 * The configuration without anything of ours.
 * @param made what was made for the entry, which goes too where nothing else has come into it. Where
 * that is not known, whatever is empty without the entry is taken for ours.
 */
export function withoutEntries(
  text: string,
  { list }: EntryRegistration,
  path: string,
  made?: Made,
): string {
  const before = readClientJson(text, list, path)
  const rest = withoutOurs(before, list, made?.found ?? 0)
  if (rest === before || made === undefined) return rest.text
  // The blanks that were there come back, and the frame goes out of a file that holds nothing else.
  const { found, blanks, frame } = made
  const place = list.slice(0, found)
  const blanked = blanks !== null && rest.isBlank(place) ? rest.withInner(place, blanks) : rest
  const members = blanked.at([])?.children ?? []
  const isFrame = members.every(({ children }) => frame.some((key) => key === children?.[0]?.value))
  const isOnlyFrame = members.length > 0 && isFrame && blanked.hasNoComment([])
  return isOnlyFrame ? blanked.withInner([], blanks ?? '').text : blanked.text
}

export function ownCommands(text: string, { list }: EntryRegistration, path: string): string[] {
  const commands = itemsOf(readClientJson(text, list, path), list).flatMap(commandsOf)
  return commands.filter((command) => command.includes(launcherName))
}

/** Without our items and handlers, and what is empty then but for the first `found` levels of the list. */
function withoutOurs(json: JsonText, list: readonly string[], found: number): JsonText {
  const items = itemsOf(json, list)
  const index = items.findIndex(isOurs)
  if (index < 0) return json
  const item = items[index]
  const isWhole = commandsOf(item).every((command) => command.includes(launcherName))
  const handler = Math.max(handlersOf(item).findIndex(isOurs), 0)
  const place = isWhole ? [...list, index] : [...list, index, 'hooks', handler]
  let rest = json.remove(place)
  for (let keys = place.slice(0, -1); keys.length > found && rest.isBlank(keys);) {
    rest = rest.remove(keys)
    keys = keys.slice(0, -1)
  }
  return withoutOurs(rest, list, found)
}

function isOurs(item: unknown): boolean {
  return commandsOf(item).some((command) => command.includes(launcherName))
}

function commandsOf(item: unknown): string[] {
  return [item, ...handlersOf(item)]
    .map((handler) => fieldOf(handler, 'command'))
    .filter((command) => typeof command === 'string')
}

function handlersOf(item: unknown): readonly unknown[] {
  const handlers = fieldOf(item, 'hooks')
  return Array.isArray(handlers) ? handlers : []
}

function itemsOf(json: JsonText, list: readonly string[]): readonly unknown[] {
  const value = list.reduce(fieldOf, json.value)
  return Array.isArray(value) ? value : []
}
