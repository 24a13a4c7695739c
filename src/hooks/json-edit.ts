import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import type { Node } from 'jsonc-parser'
import { SkillrailError } from '../core/errors.ts'
import { deepestJson, tooDeepAt } from '../core/json.ts'

type Place = readonly (string | number)[]

/** A comma or a comment, and where it stands. */
interface Piece {
  text: string
  start: number
  end: number
}

/**
 * A client's configuration in which a list may be, or may come to be.
 * @throws {SkillrailError} `client-configuration-broken` with the line.
 */
export function readClientJson(text: string, list: readonly string[], path: string): JsonText {
  const broken = (offset: number, problem: string): SkillrailError => {
    const line = text.replace('\ufeff', '').slice(0, offset).split('\n').length
    const message = `${path}:${line}: ${problem}; the file was not touched`
    const hint = 'Fix the file, then run the command again.'
    return new SkillrailError({ code: 'client-configuration-broken', message, hint })
  }
  const deep = tooDeepAt(text)
  if (deep !== undefined) throw broken(deep, `it is nested deeper than ${deepestJson} levels`)
  const json = new JsonText(text)
  const [error] = json.errors
  if (error !== undefined) {
    const name = loadParser().printParseErrorCode(error.error)
    throw broken(error.offset, `it is not JSON (${name})`)
  }
  if (json.at([])?.type !== 'object') throw broken(0, 'it is not a JSON object')
  for (const [index, key] of list.entries()) {
    const place = [...list.slice(0, index), key]
    const node = json.at(place)
    const wanted = index === list.length - 1 ? 'array' : 'object'
    if (node !== undefined && node.type !== wanted) {
      throw broken(node.offset, `\`${place.join('.')}\` is not an ${wanted}`)
    }
  }
  return json
}

/** Whether a configuration says nothing at all, whatever blanks it has. */
export function isEmptyConfiguration(text: string): boolean {
  const json = new JsonText(text)
  return json.body.trim() === '' || (json.at([])?.type === 'object' && json.isBlank([]))
}

export function fieldOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

/** JSON with comments. Every change returns a new text in which no other byte is different. */
export class JsonText {
  readonly body: string
  readonly errors: Jsonc.ParseError[] = []
  private readonly mark: string
  private readonly tree: Node | undefined

  constructor(text: string) {
    this.mark = text.startsWith('\ufeff') ? '\ufeff' : ''
    this.body = text.slice(this.mark.length)
    if (tooDeepAt(text) !== undefined) return
    this.tree = loadParser().parseTree(this.body, this.errors, { allowTrailingComma: true })
  }

  get text(): string {
    return this.mark + this.body
  }

  get value(): unknown {
    return this.tree && loadParser().getNodeValue(this.tree)
  }

  /** Returns a value in the tree; of a duplicate key the last one, as every reader does. */
  at(place: Place): Node | undefined {
    return place.reduce<Node | undefined>((node, key) => {
      if (typeof key === 'number') return node?.children?.[key]
      return node?.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1]
    }, this.tree)
  }

  inner(place: Place): string {
    const node = this.at(place)
    return node === undefined ? '' : this.body.slice(node.offset + 1, endOf(node) - 1)
  }

  /** Whether a value is there and nothing is between its brackets, no comment either. */
  isBlank(place: Place): boolean {
    return this.at(place) !== undefined && this.inner(place).trim() === ''
  }

  withInner(place: Place, inner: string): JsonText {
    const node = this.at(place)
    if (node === undefined) return this
    return this.with(this.body.slice(0, node.offset + 1) + inner + this.body.slice(endOf(node) - 1))
  }

  /** Whether only blanks and commas are around the members. */
  hasNoComment(place: Place): boolean {
    const node = this.at(place)
    if (node === undefined) return true
    const { offset, children = [] } = node
    const starts = [offset + 1, ...children.map(endOf)]
    const ends = [...children.map((child) => child.offset), endOf(node) - 1]
    return starts.every((start, index) =>
      this.pieces(start, ends[index] ?? start).every((piece) => piece.text === ','),
    )
  }

  /**
   * One more member at the end of an object or a list: after the comments that follow its last
   * member, with a trailing comma if that one has one.
   */
  add(place: Place, { key, value }: { key?: string; value: unknown }): JsonText {
    const container = this.at(place)
    if (container === undefined) return this
    const { body } = this
    const { indent, eol, lines } = this.style()
    const close = endOf(container) - 1
    const last = container.children?.at(-1)
    const start = last === undefined ? container.offset + 1 : endOf(last)
    const pieces = this.pieces(start, close)
    const hasComma = pieces.some((piece) => piece.text === ',')
    const end = pieces.at(-1)?.end ?? start
    const margin = this.margin(container.offset)
    const isOnOwnLine =
      last === undefined
        ? (lines && pieces.length === 0) || body.slice(start, close).includes('\n')
        : /^[ \t]*$/.test(this.lineStart(last.offset))
    const isBelow = isOnOwnLine || isLineComment(pieces.at(-1))
    const inner = last !== undefined && isOnOwnLine ? this.margin(last.offset) : margin + indent
    const name = key === undefined ? '' : `${JSON.stringify(key)}:${isBelow ? ' ' : ''}`
    const text = JSON.stringify(value, undefined, isBelow ? indent : undefined)
    const isClosedBelow = last !== undefined || !isBelow || body.slice(end, close).includes('\n')
    return this.with(
      [
        body.slice(0, start),
        last === undefined || hasComma ? '' : ',',
        body.slice(start, end),
        isBelow ? eol + inner : lines ? ' ' : '',
        name + text.replaceAll('\n', eol + inner),
        hasComma ? ',' : '',
        isClosedBelow ? body.slice(end) : eol + margin + body.slice(close),
      ].join(''),
    )
  }

  /** Without one member, the blanks before it and its comma. Comments around it stay. */
  remove(place: Place): JsonText {
    const { body } = this
    const container = this.at(place.slice(0, -1))
    const node = this.at(place)
    if (container === undefined || node === undefined) return this
    const member = container.type === 'object' ? node.parent : node
    const { children = [] } = container
    const index = children.findIndex((child) => child === member)
    const child = children[index]
    if (child === undefined) return this
    const [previous, next] = [children[index - 1], children[index + 1]]
    const close = endOf(container) - 1
    const first = previous === undefined ? container.offset + 1 : endOf(previous)
    const before = this.pieces(first, child.offset)
    const after = this.pieces(endOf(child), next?.offset ?? close)
    if (children.length === 1 && [...before, ...after].every((piece) => piece.text === ',')) {
      return this.with(body.slice(0, first) + body.slice(close))
    }
    const comma = [...after, ...before].find((piece) => piece.text === ',')
    const end = comma?.start === endOf(child) ? comma.end : endOf(child)
    // What follows on the line must not become part of the comment above.
    const mustStayBelow = isLineComment(before.at(-1)) && !/^[ \t]*\r?\n/.test(body.slice(end))
    const start = mustStayBelow ? child.offset : (before.at(-1)?.end ?? first)
    const cuts = [{ start, end: endOf(child) }, comma ?? { start: 0, end: 0 }]
    cuts.sort((a, b) => b.start - a.start)
    return this.with(
      cuts.reduce((text, cut) => text.slice(0, cut.start) + text.slice(cut.end), body),
    )
  }

  private with(body: string): JsonText {
    return new JsonText(this.mark + body)
  }

  /** The indentation and line ends that the file has already, and whether it has several lines. */
  private style(): { indent: string; eol: string; lines: boolean } {
    const indent = /^([ \t]+)\S/m.exec(this.body)?.[1] ?? '  '
    const eol = this.body.includes('\r\n') ? '\r\n' : '\n'
    const isEmpty = this.tree?.children?.length === 0
    return { indent, eol, lines: isEmpty || this.body.trim().includes('\n') }
  }

  /** The commas and comments of a stretch that holds no value. */
  private pieces(start: number, end: number): Piece[] {
    const matches = this.body.slice(start, end).matchAll(/,|\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)/g)
    return Array.from(matches, ({ 0: text, index }) => {
      return { text, start: start + index, end: start + index + text.length }
    })
  }

  private lineStart(offset: number): string {
    return this.body.slice(this.body.lastIndexOf('\n', offset - 1) + 1, offset)
  }

  private margin(offset: number): string {
    return /^[ \t]*/.exec(this.lineStart(offset))?.[0] ?? ''
  }
}

function isLineComment(piece: Piece | undefined): boolean {
  return piece?.text.startsWith('//') === true
}

function endOf(node: Node): number {
  return node.offset + node.length
}

function loadParser(): typeof Jsonc {
  return createRequire(import.meta.url)('jsonc-parser')
}
