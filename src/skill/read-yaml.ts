import { type Event, EVENT_ID, getScalarValue, parseEvents, YAMLException } from 'js-yaml'
import type { Diagnostic } from '#core/errors'
import { placesIn } from '#core/text'
import { finding, type Position, type RuleCode } from './rules.ts'
import type { JsonValue } from '#core/json'

export interface YamlReading {
  root: YamlNode | undefined
  diagnostics: Diagnostic[]
}

export type YamlNode = YamlScalar | YamlMap | YamlList

export interface YamlScalar extends Position {
  kind: 'scalar'
  /** The characters after unquoting and folding: `"1.10"` and `1.10` both have the text `1.10`. */
  text: string
  /** The text as YAML 1.2 core resolves it: a plain `true` is a boolean, a quoted one a string. */
  value: string | number | boolean | null
  style: (typeof styles)[number]
  /** For a plain scalar: text after it, from `#` on, that may have been meant as a part of it. */
  comment?: YamlComment | undefined
}

export interface YamlComment extends Position {
  text: string
  /** A comment can continue on the lines below. */
  endLine: number
}

export interface YamlMap extends Position {
  kind: 'map'
  flow: boolean
  entries: readonly YamlEntry[]
}

export type YamlEntry = { key: YamlScalar; value: YamlNode }

interface YamlList extends Position {
  kind: 'list'
  flow: boolean
  items: readonly YamlNode[]
}

/**
 * UTF-8 bytes, nested collections, keys in all mappings, reported diagnostics.
 */
const yamlLimits = { bytes: 64 * 1024, depth: 32, keys: 4000, diagnostics: 20 } as const

/** Keys that would reach the prototype of an object made from the frontmatter. */
const reservedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

export interface ReadYamlOptions {
  firstLine: number
  path: string
}

/**
 * Reads one YAML document. Anchors, aliases, tags, duplicate keys, keys that reach a prototype and
 * excessive length or nesting are errors.
 */
export function readYaml(source: string, options: ReadYamlOptions): YamlReading {
  const size = source.length > yamlLimits.bytes / 3 ? Buffer.byteLength(source) : 0
  const reader = new TreeReader(source, options)
  if (size > yamlLimits.bytes) {
    const message = `The YAML has ${size} bytes; ${yamlLimits.bytes} are allowed.`
    reader.report('frontmatter-too-large', 0, message)
    return reader.failed()
  }
  try {
    return reader.read(parseEvents(source, { maxDepth: Number.MAX_SAFE_INTEGER }))
  } catch (error) {
    if (error instanceof YAMLException) reader.reportSyntax(error)
    // The stack is too small for such nesting.
    else if (error instanceof RangeError) reader.report('yaml-too-deep', 0, tooDeep)
    else throw error
    return reader.failed()
  }
}

const tooDeep = `Lists and mappings are nested more than ${yamlLimits.depth} levels deep.`
const styles = ['plain', 'plain', 'single', 'double', 'literal', 'folded'] as const

type ScalarEvent = Extract<Event, { type: typeof EVENT_ID.SCALAR }>
type CollectionEvent = Extract<Event, { start: number }>

class TreeReader {
  readonly #source: string
  readonly #options: ReadYamlOptions
  readonly #placeOf: ReturnType<typeof placesIn>
  readonly #diagnostics: Diagnostic[] = []
  #events: readonly Event[] = []
  #next = 0
  /** The offset after the last event, if the event has one. */
  #end = 0
  #keys = 0

  constructor(source: string, options: ReadYamlOptions) {
    this.#source = source
    this.#options = options
    this.#placeOf = placesIn(source)
  }

  read(events: readonly Event[]): YamlReading {
    this.#events = events
    this.#checkEvents()
    if (this.#diagnostics.length > 0 || events.length === 0) return this.failed()
    this.#next = 1
    const root = this.#node()
    const second = events[this.#next + 1]
    if (second?.type === EVENT_ID.DOCUMENT) {
      const message = 'A second YAML document begins here; one is allowed.'
      this.report('yaml-several-documents', this.#documentStart(second.explicitStart), message)
    }
    return this.#diagnostics.length > 0 ? this.failed() : { root, diagnostics: [] }
  }

  failed(): YamlReading {
    const diagnostics = this.#diagnostics.slice(0, yamlLimits.diagnostics)
    return { root: undefined, diagnostics }
  }

  report(code: RuleCode, offset: number, message: string, hint?: string): void {
    const at = this.#at(offset)
    this.#diagnostics.push(finding(code, this.#options.path, at, message, hint))
  }

  reportSyntax({ reason, mark }: YAMLException): void {
    const offset = mark?.position ?? 0
    const character = this.#source.charAt(offset)
    const escape = 'Write the value in single quotes.'
    const quote = /[@`:]/.test(character) ? 'Quote the value.' : undefined
    const hint = reason.includes('escape') ? escape : quote
    this.report('yaml-syntax', offset, `The YAML cannot be read: ${reason}`, hint)
  }

  #at(offset: number): Position {
    const { line, column } = this.#placeOf(offset)
    return { line: this.#options.firstLine - 1 + line, column }
  }

  #checkEvents(): void {
    let depth = 0
    for (const event of this.#events) {
      if (event.type === EVENT_ID.POP) depth--
      else if (event.type === EVENT_ID.DOCUMENT) depth = 0
      else this.#checkProperties(event)
      if (!('start' in event)) continue
      depth++
      if (depth === yamlLimits.depth + 1) this.report('yaml-too-deep', event.start, tooDeep)
    }
  }

  #checkProperties(event: Exclude<Event, { type: 1 | 6 }>): void {
    const { anchorStart, anchorEnd } = event
    if (anchorStart >= 0) {
      const name = this.#source.slice(anchorStart - 1, anchorEnd)
      const kind = event.type === EVENT_ID.ALIAS ? 'alias' : 'anchor'
      this.report('yaml-anchor', anchorStart - 1, `The ${kind} \`${name}\` is not allowed.`)
    }
    if (event.type === EVENT_ID.ALIAS || event.tagStart < 0) return
    const name = this.#source.slice(event.tagStart, event.tagEnd)
    this.report('yaml-tag', event.tagStart, `The tag \`${name}\` is not allowed.`)
  }

  #node(isKey = false): YamlNode {
    const event = this.#events[this.#next++]
    if (event?.type === EVENT_ID.SCALAR) return this.#scalar(event, isKey)
    if (event?.type === EVENT_ID.SEQUENCE) return this.#list(event)
    if (event?.type === EVENT_ID.MAPPING) return this.#map(event)
    throw new Error('js-yaml gave an event that begins no node')
  }

  #closes(): boolean {
    if (this.#events[this.#next]?.type !== EVENT_ID.POP) return false
    this.#next++
    return true
  }

  #list({ start, style }: CollectionEvent): YamlList {
    this.#end = start
    const items: YamlNode[] = []
    const indent = style === 2 ? Infinity : this.#at(start).column - 1
    while (!this.#closes()) items.push(this.#value(indent))
    return { kind: 'list', flow: style === 2, items, ...this.#at(start) }
  }

  #map({ start, style }: CollectionEvent): YamlMap {
    this.#end = start
    const entries: YamlEntry[] = []
    const keys = new Set<string>()
    while (!this.#closes()) {
      const key = this.#node(true)
      const indent = style === 2 ? Infinity : key.column - 1
      const value = this.#value(indent)
      this.#keys++
      if (this.#keys === yamlLimits.keys + 1) {
        this.report('yaml-too-many-keys', start, `The YAML has more than ${yamlLimits.keys} keys.`)
      }
      if (this.#isUsable(key, keys)) entries.push({ key, value })
    }
    const flow = style === 2
    const { line, column } = (flow ? undefined : entries[0]?.key) ?? this.#at(start)
    return { kind: 'map', flow, entries, line, column }
  }

  #isUsable(key: YamlNode, keys: Set<string>): key is YamlScalar {
    const report = (code: RuleCode, message: string) => {
      this.#diagnostics.push(finding(code, this.#options.path, key, message))
    }
    if (key.kind !== 'scalar') {
      report('yaml-key-form', 'A key must be one scalar.')
      return false
    }
    if (reservedKeys.has(key.text)) {
      report('yaml-reserved-key', `The key \`${key.text}\` is not allowed.`)
    }
    if (keys.has(key.text)) report('yaml-duplicate-key', `The key \`${key.text}\` is given twice.`)
    keys.add(key.text)
    return true
  }

  /**
   * Reads a value or an item, with the comments around it if it is plain.
   * @param indent indentation of the key or the dash; deeper lines look like a part of the value
   */
  #value(indent: number): YamlNode {
    const indicatorEnd = this.#behind(indicator, this.#behind(betweenNodes))
    const node = this.#node()
    if (node.kind !== 'scalar' || node.style !== 'plain') return node
    const comments: { start: number; text: string }[] = []
    const take = (from: number, mayBeginBelow: boolean): number => {
      let end = from
      for (const isBelow of [false, true]) {
        const pattern = isBelow ? commentBelow : commentBehind
        if (isBelow && end === from && !mayBeginBelow) break
        for (;;) {
          pattern.lastIndex = end
          const [match = '', indentation = '', text] = pattern.exec(this.#source) ?? []
          if (text === undefined || (isBelow && indentation.length <= indent)) break
          end += match.length
          comments.push({ start: end - text.length, text: text.trimEnd() })
        }
      }
      return end
    }
    let end = take(indicatorEnd, false)
    if (node.text !== '') end = take(this.#end, true)
    const [first] = comments
    if (!first) return node
    const text = comments.map((comment) => comment.text).join(' ')
    const comment = { text, ...this.#at(first.start), endLine: this.#at(end).line }
    return { ...node, comment }
  }

  #scalar(event: ScalarEvent, isKey: boolean): YamlScalar {
    const style = styles[event.style]
    const text = getScalarValue(this.#source, event)
    const start = this.#scalarStart(event, isKey)
    if (event.valueStart < 0) this.#end = start
    else this.#end = event.valueEnd + (style === 'single' || style === 'double' ? 1 : 0)
    const value = style === 'plain' ? resolvePlain(text) : text
    return { kind: 'scalar', text, value, style, ...this.#at(start) }
  }

  /** The offset of the first character of a scalar, its quote or `|` included. */
  #scalarStart({ style, valueStart }: ScalarEvent, isKey: boolean): number {
    if (valueStart < 0) return isKey ? this.#behind(absentKey) : this.#absentValue()
    if (styles[style] === 'plain') return valueStart
    if (styles[style] === 'single' || styles[style] === 'double') return valueStart - 1
    return this.#behind(blockIndicator)
  }

  /** Returns the place of an absent value or item: after its indicator. */
  #absentValue(): number {
    const at = this.#behind(betweenNodes)
    const behind = this.#behind(indicator, at)
    return behind > at ? behind : this.#behind(blanks)
  }

  /** Returns the offset after a sticky pattern's match; `from` is the end of the last event. */
  #behind(pattern: RegExp, from = this.#end): number {
    pattern.lastIndex = from
    return from + (pattern.exec(this.#source)?.[0].length ?? 0)
  }

  #documentStart(explicit: boolean): number {
    if (!explicit) return this.#behind(documentEnd)
    const marker = /^---/gm
    marker.lastIndex = this.#end
    return marker.exec(this.#source)?.index ?? this.#end
  }
}

const betweenNodes = /(?:[\s,\]}]|#.*)*/y
/** The indicator of a value or an item, and blanks on its line. */
const indicator = /[:-](?=[\s,[\]{}]|$)[ \t]*/y
const blanks = /[ \t]*/y
const commentBehind = /([ \t]*)(#[^\n]*)/y
const commentBelow = /(?:[ \t\r]*\n)+([ \t]*)(#[^\n]*)/y
const absentKey = /(?:[\s,?{]|#.*)*/y
/** Up to the `|` or `>` of a block scalar. */
const blockIndicator = /(?:[^|>#]|#.*)*/y
const documentEnd = /(?:\s|#.*|\.\.\.)*/y

/** Resolves a plain scalar by the core schema of YAML 1.2; everything else is a string. */
function resolvePlain(text: string): string | number | boolean | null {
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  if (/^(?:false|False|FALSE)$/.test(text)) return false
  if (/^0o[0-7]+$|^0x[0-9a-fA-F]+$/.test(text)) return Number(text)
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return Number(text)
  if (/^[-+]?\.(?:inf|Inf|INF)$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  return /^\.(?:nan|NaN|NAN)$/.test(text) ? Number.NaN : text
}

export function valuesOf({ entries }: YamlMap): ReadonlyMap<string, YamlNode> {
  return new Map(entries.map(({ key, value }) => [key.text, value]))
}

/** A tree as JSON, with the values of scalars or their texts. Objects have no prototype. */
export function yamlToJson(node: YamlNode, scalar: 'value' | 'text' = 'value'): JsonValue {
  if (node.kind === 'scalar') return node[scalar]
  if (node.kind === 'list') return node.items.map((item) => yamlToJson(item, scalar))
  const object: Record<string, JsonValue> = Object.create(null)
  for (const { key, value } of node.entries) object[key.text] = yamlToJson(value, scalar)
  return object
}
