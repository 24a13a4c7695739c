import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import { deepestJson, SkillrailError, tooDeepAt } from '../base/index.ts'
import { isBlank, type TextStyle } from './_member-text.ts'

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
    hint: 'Mend the file, then run the command again.',
  })
}

/** Loaded only when a file is edited. */
function loadParser(): typeof Jsonc {
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  return parser
}

/** Whether a configuration says nothing at all, whatever blanks it has. */
export function isEmptyConfiguration(text: string): boolean {
  const body = withoutMark(text)
  const tree = treeOf(body)
  return body.trim() === '' || (tree?.type === 'object' && isBlank(body, tree))
}

export function fieldOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}
