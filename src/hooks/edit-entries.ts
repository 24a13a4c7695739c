import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import type * as Jsonc from 'jsonc-parser'
import { SkillrailError } from '#core/errors'
import { deepestJson, indentedJson, isList, isObject, objectOf, tooDeepAt } from '#core/json'
import { withoutMark } from '#core/text'
import { launcherName, type Registration } from './adapters.ts'

type EntryRegistration = Registration & { kind: 'entry' }
type Place = readonly (string | number)[]

/** Returns the configuration with one entry of ours for each event. */
export function withEntries(
  text: string | undefined,
  { entries, frame = {} }: EntryRegistration,
  commands: readonly string[],
  path: string,
): string {
  const newEntries = Object.entries(entries(commands))
  if (text === undefined || text.trim() === '') {
    const hooks = Object.fromEntries(newEntries.map(([event, entry]) => [event, [entry]]))
    return indentedJson({ ...frame, hooks })
  }
  const events = newEntries.map(([event]) => event)
  const ours = ownItems(readClientJson(text, path, events))
  const present = ours.map(({ event, item }) => JSON.stringify([event, item]))
  // Events that the file had before come first in it.
  const isSame = isDeepStrictEqual(
    present.toSorted(),
    newEntries.map((entry) => JSON.stringify(entry)).toSorted(),
  )
  if (isSame) return text
  let edited = withoutEntries(text, path, text)
  for (const [key, value] of Object.entries(frame)) {
    if (fieldOf(readClientJson(edited, path), key) === undefined)
      edited = edit(edited, [key], value)
  }
  for (const [event, entry] of newEntries) edited = edit(edited, ['hooks', event, -1], entry)
  return edited
}

export function withoutEntries(text: string, path: string, original = ''): string {
  const before = original.trim() === '' ? {} : readClientJson(original, path)
  let edited = text
  for (;;) {
    const [first] = ownItems(readClientJson(edited, path))
    if (!first) return edited
    const { event, index, item } = first
    const isWhole = commandsOf(item).every((command) => command.includes(launcherName))
    const handler = Math.max(handlersOf(item).findIndex(isOurs), 0)
    let place: Place = ['hooks', event, index, ...(isWhole ? [] : ['hooks', handler])]
    edited = edit(edited, place, undefined)
    while (place.length > 1) {
      place = place.slice(0, -1)
      const [rest, known] = [readClientJson(edited, path), before].map((value) =>
        place.reduce<unknown>(fieldOf, value),
      )
      if (known !== undefined || Object.keys(Object(rest)).length > 0) break
      edited = edit(edited, place, undefined)
    }
  }
}

export function ownCommands(text: string, path: string): string[] {
  const commands = ownItems(readClientJson(text, path)).flatMap(({ item }) => commandsOf(item))
  return commands.filter((command) => command.includes(launcherName))
}

/** The events of a configuration that call our hook, by the names that the client has for them. */
export function ownEvents(text: string, path: string): string[] {
  const hooks = objectOf(objectOf(readClientJson(text, path))['hooks'])
  return Object.entries(hooks).flatMap(([event, entries]) =>
    JSON.stringify(entries).includes(launcherName) ? [event] : [],
  )
}

/** Whether the rest of the file equals the file before the installation, apart from blanks and its frame. */
export function isAsBefore(rest: string, original: string, { frame }: EntryRegistration): boolean {
  const [left, was] = [rest, original].map((text) => text.replaceAll(/\s/g, '') || '{}')
  return left === was || (was === '{}' && left === JSON.stringify(frame))
}

/** Reads a client's configuration. Throws if our entries cannot be added to it. */
function readClientJson(text: string, path: string, events: readonly string[] = []): unknown {
  const parser = loadParser()
  const body = withoutMark(text)
  const broken = (offset: number, problem: string): SkillrailError => {
    const message = `${path}:${body.slice(0, offset).split('\n').length}: ${problem}; the file was not touched`
    const hint = 'Fix the file, then run the command again.'
    return new SkillrailError({ code: 'client-configuration-broken', message, hint })
  }
  const deep = tooDeepAt(body)
  if (deep !== undefined) throw broken(deep, `it is nested deeper than ${deepestJson} levels`)
  const errors: Jsonc.ParseError[] = []
  const tree = parser.parseTree(body, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error) {
    throw broken(error.offset, `it is not JSON (${parser.printParseErrorCode(error.error)})`)
  }
  if (tree?.type !== 'object') throw broken(0, 'it is not a JSON object')
  const hooks = parser.findNodeAtLocation(tree, ['hooks'])
  if (hooks && hooks.type !== 'object') {
    throw broken(hooks.offset, '`hooks` is not an object')
  }
  for (const event of events) {
    const list = parser.findNodeAtLocation(tree, ['hooks', event])
    if (!list || list.type === 'array') continue
    throw broken(list.offset, `\`hooks.${event}\` is not an array`)
  }
  return parser.getNodeValue(tree)
}

/** Sets, inserts or removes one value, in the style of the file. */
function edit(text: string, place: Place, value: unknown): string {
  const { applyEdits, modify } = loadParser()
  const body = withoutMark(text)
  const indent = /^([ \t]+)\S/m.exec(body)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.length,
    eol: body.includes('\r\n') ? '\r\n' : '\n',
  }
  const isArrayInsertion = place.at(-1) === -1
  const edits = modify(body, [...place], value, { formattingOptions, isArrayInsertion })
  return text.slice(0, text.length - body.length) + applyEdits(body, edits)
}

function ownItems(value: unknown): { event: string; index: number; item: unknown }[] {
  const hooks = fieldOf(value, 'hooks')
  return Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, list]) =>
    (isList(list) ? list : []).flatMap((item, index) =>
      isOurs(item) ? [{ event, index, item }] : [],
    ),
  )
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
  return isList(handlers) ? handlers : []
}

function fieldOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function loadParser(): typeof Jsonc {
  return createRequire(import.meta.url)('jsonc-parser')
}
