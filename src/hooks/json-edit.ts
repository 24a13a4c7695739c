import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import type { Node } from 'jsonc-parser'
import { deepestJson, tooDeepAt } from '../core/json.ts'
import { SkillrailError } from '../core/errors.ts'

/**
 * The value of a configuration in which a list may be, or may come to be.
 *
 * @throws {SkillrailError} `client-configuration-broken` with the line.
 */
export function readRoot(text: string, list: readonly string[], path: string): unknown {
  const deep = tooDeepAt(text)
  if (deep !== undefined) {
    throw broken(path, text, deep, `it is nested deeper than ${deepestJson} levels`)
  }
  const jsonc = loadParser()
  const errors: Jsonc.ParseError[] = []
  const tree = jsonc.parseTree(withoutMark(text), errors, { allowTrailingComma: true })
  const [error] = errors
  if (error !== undefined) {
    throw broken(
      path,
      text,
      error.offset,
      `it is not JSON (${jsonc.printParseErrorCode(error.error)})`,
    )
  }
  if (tree?.type !== 'object') throw broken(path, text, 0, 'it is not a JSON object')
  for (let depth = 1; depth <= list.length; depth++) {
    const node = nodeAt(tree, list.slice(0, depth))
    const wanted = depth === list.length ? 'array' : 'object'
    if (node !== undefined && node.type !== wanted) {
      throw broken(
        path,
        text,
        node.offset,
        `\`${list.slice(0, depth).join('.')}\` is not an ${wanted}`,
      )
    }
  }
  return jsonc.getNodeValue(tree)
}

/** Returns a value in the tree; of a duplicate key the last one, as every reader does. */
export function nodeAt(
  tree: Jsonc.Node | undefined,
  place: readonly (string | number)[],
): Jsonc.Node | undefined {
  return place.reduce<Jsonc.Node | undefined>((node, key) => {
    if (typeof key === 'number') return node?.children?.[key]
    return node?.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1]
  }, tree)
}

/** Changes a text that was read without errors; a mark at its beginning stays. */
export function edit(
  text: string,
  change: (body: string, tree: Jsonc.Node, style: TextStyle) => string,
): string {
  const body = withoutMark(text)
  const tree = treeOf(body)
  if (tree === undefined) return text
  return text.slice(0, text.length - body.length) + change(body, tree, styleOf(body, tree))
}

export function treeOf(body: string): Jsonc.Node | undefined {
  if (tooDeepAt(body) !== undefined) return undefined
  return loadParser().parseTree(body, [], { allowTrailingComma: true })
}

/** The indentation and line ends that the file has already. */
function styleOf(text: string, tree: Jsonc.Node): TextStyle {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  return { indent, eol, lines: text.trim().includes('\n') || tree.children?.length === 0 }
}

export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function broken(path: string, text: string, offset: number, problem: string): SkillrailError {
  const line = withoutMark(text).slice(0, offset).split('\n').length
  return new SkillrailError({
    code: 'client-configuration-broken',
    message: `${path}:${line}: ${problem}; the file was not touched`,
    hint: 'Fix the file, then run the command again.',
  })
}

/** Loaded only when a file is edited. */
function loadParser(): typeof Jsonc {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return parser
}

export function isEmptyConfiguration(text: string): boolean {
  const body = withoutMark(text)
  const tree = treeOf(body)
  return body.trim() === '' || (tree?.type === 'object' && isBlank(body, tree))
}

export function fieldOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

/** How a file is written: one step of indentation, its line ends, and whether it has several lines. */
export interface TextStyle {
  indent: string
  eol: string
  lines: boolean
}

interface Piece {
  text: string
  start: number
  end: number
}

/**
 * Returns the text with one more member at the end of an object or a list: after the comments that
 * follow its last member, with a trailing comma if that one has one. No other byte changes.
 *
 * @param key of the member; undefined in a list.
 */
export function addMember(
  text: string,
  container: Node,
  member: { key?: string | undefined; value: unknown },
  style: TextStyle,
): string {
  const close = endOf(container) - 1
  const last = container.children?.at(-1)
  const start = last === undefined ? container.offset + 1 : endOf(last)
  const pieces = piecesOf(text, start, close)
  const comma = pieces.some((piece) => piece.text === ',')
  const place = pieces.at(-1)?.end ?? start
  const margin = marginAt(text, container.offset)
  const isOnOwnLine =
    last === undefined
      ? (style.lines && pieces.length === 0) || text.slice(start, close).includes('\n')
      : /^[ \t]*$/.test(lineStart(text, last.offset))
  const isBelow = isOnOwnLine || isLineComment(pieces.at(-1))
  const inner =
    last !== undefined && isOnOwnLine ? marginAt(text, last.offset) : margin + style.indent
  const lead = isBelow ? style.eol + inner : style.lines ? ' ' : ''
  const rendered = renderMember(member, isBelow ? { ...style, margin: inner } : undefined)
  const isClosedBelow = last !== undefined || !isBelow || text.slice(place, close).includes('\n')
  return (
    text.slice(0, start) +
    (last === undefined || comma ? '' : ',') +
    text.slice(start, place) +
    lead +
    rendered +
    (comma ? ',' : '') +
    (isClosedBelow ? text.slice(place) : style.eol + margin + text.slice(close))
  )
}

/** The text without one member, the blanks before it and its comma. Comments around it stay. */
export function removeMember(text: string, container: Node, index: number): string {
  const { children = [] } = container
  const child = children[index]
  if (child === undefined) return text
  const [previous, next] = [children[index - 1], children[index + 1]]
  const close = endOf(container) - 1
  const first = previous === undefined ? container.offset + 1 : endOf(previous)
  const before = piecesOf(text, first, child.offset)
  const after = piecesOf(text, endOf(child), next?.offset ?? close)
  if (children.length === 1 && [...before, ...after].every((piece) => piece.text === ',')) {
    return text.slice(0, first) + text.slice(close)
  }
  const comma = [...after, ...before].find((piece) => piece.text === ',')
  const end = comma?.start === endOf(child) ? comma.end : endOf(child)
  // What follows on the line must not become part of the comment above.
  const mustStayBelow = isLineComment(before.at(-1)) && !/^[ \t]*\r?\n/.test(text.slice(end))
  const start = mustStayBelow ? child.offset : (before.at(-1)?.end ?? first)
  const cuts = [{ start, end: endOf(child) }, ...(comma === undefined ? [] : [comma])]
  return cuts
    .toSorted((a, b) => b.start - a.start)
    .reduce((rest, cut) => rest.slice(0, cut.start) + rest.slice(cut.end), text)
}

export function isBlank(text: string, container: Node): boolean {
  return innerText(text, container).trim() === ''
}

export function innerText(text: string, container: Node): string {
  return text.slice(container.offset + 1, endOf(container) - 1)
}

export function withInnerText(text: string, container: Node, inner: string): string {
  return text.slice(0, container.offset + 1) + inner + text.slice(endOf(container) - 1)
}

/** Whether only blanks and commas are around the members. */
export function hasNoComment(text: string, { offset, length, children = [] }: Node): boolean {
  const starts = [offset + 1, ...children.map(endOf)]
  const ends = [...children.map((child) => child.offset), offset + length - 1]
  return starts.every((start, index) =>
    piecesOf(text, start, ends[index] ?? start).every((piece) => piece.text === ','),
  )
}

function renderMember(
  { key, value }: { key?: string | undefined; value: unknown },
  layout: (TextStyle & { margin: string }) | undefined,
): string {
  const space = layout === undefined ? '' : ' '
  const name = key === undefined ? '' : `${JSON.stringify(key)}:${space}`
  if (layout === undefined) return name + JSON.stringify(value)
  const lines = JSON.stringify(value, undefined, layout.indent).split('\n')
  return name + lines.join(layout.eol + layout.margin)
}

function piecesOf(text: string, start: number, end: number): Piece[] {
  const matches = text.slice(start, end).matchAll(/,|\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)/g)
  return Array.from(matches, (match) => {
    const [piece] = match
    const at = start + match.index
    return { text: piece, start: at, end: at + piece.length }
  })
}

function isLineComment(piece: Piece | undefined): boolean {
  return piece?.text.startsWith('//') === true
}

function endOf(node: Node): number {
  return node.offset + node.length
}

function lineStart(text: string, offset: number): string {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
}

/** The blanks that the line of a place begins with. */
function marginAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(lineStart(text, offset))?.[0] ?? ''
}
