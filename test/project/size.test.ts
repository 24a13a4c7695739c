import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { expect, it } from 'vitest'
import limits from './size-limits.json' with { type: 'json' }

const source = new URL('../../src', import.meta.url).pathname
const longest = 80

const files = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ path: relative(source, path), text: readFileSync(path, 'utf8') }))

const code = files.filter(({ path }) => /\.tsx?$/.test(path))
const long = code.flatMap(({ path, text }) => longFunctions(path, text))
const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)

const measured: Record<keyof typeof limits, number> = {
  lines,
  files: files.length,
  privateFiles: files.filter(({ path }) => basename(path).startsWith('_')).length,
  longFunctions: long.length,
  tokensPerLine: code.reduce((sum, { text }) => sum + tokensOf(text), 0) / lines,
}

/** The limits in `size-limits.json` only fall: whoever makes a number smaller lowers its limit. */
it('the sources keep their limits of size', () => {
  const over = Object.entries(limits).filter(([name, limit]) => {
    const value = Object.entries(measured).find(([key]) => key === name)?.[1]
    return value === undefined || value > limit
  })
  expect(over.length === 0 ? [] : { over, measured, long }).toEqual([])
})

/** Functions of more than {@link longest} lines, as `FILE:LINE`. */
function longFunctions(path: string, text: string): string[] {
  const found: string[] = []
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length
  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }), (node) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type))
      return
    const [first, last] = [lineOf(node.start), lineOf(node.end)]
    if (last - first + 1 > longest) found.push(`${path}:${first}`)
  })
  return found
}

interface Node {
  type: string
  start: number
  end: number
}

function visit(value: unknown, seen: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, seen)
  else if (typeof value === 'object' && value !== null) {
    if (isNode(value)) seen(value)
    for (const child of Object.values(value)) visit(child, seen)
  }
}

function isNode(value: object): value is Node {
  return 'type' in value && 'start' in value && typeof value.type === 'string'
}

/** Words and signs outside comments. */
function tokensOf(text: string): number {
  const comment = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
  return text.replaceAll(comment, '').match(/[\w$]+|[^\s\w$]/g)?.length ?? 0
}
