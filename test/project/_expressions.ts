import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

export interface WrittenExpression {
  /** The file below `src/`, with a slash. */
  file: string
  pattern: string
  flags: string
}

/** What stands for a part that is known only when the program runs. */
const unknownPart = 'part'

/**
 * Every regular expression below a folder: literals, and what `new RegExp` is given, with the texts
 * that its own file names put in.
 */
export function writtenExpressions(folder: string): WrittenExpression[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  return files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => expressionsIn(file, readFileSync(join(folder, file), 'utf8')))
}

export function expressionsIn(file: string, source: string): WrittenExpression[] {
  const found: WrittenExpression[] = []
  const built: Node[] = []
  const constants = new Map<string, Node>()
  walk(parseAst(source, { lang: 'ts' }), (node) => {
    const literal = regexOf(node)
    if (literal !== undefined) found.push({ file, ...literal })
    const { callee, id, init } = node
    if (isNode(callee) && callee['name'] === 'RegExp') built.push(node)
    const isConstant = node.type === 'VariableDeclarator' && isNode(id) && isNode(init)
    if (isConstant) constants.set(String(id['name']), init)
  })
  for (const node of built) {
    const [pattern, flags] = nodesIn(node['arguments'])
    if (pattern === undefined) continue
    const known = flags?.type === 'Literal' ? String(flags['value']) : ''
    found.push({ file, pattern: textOf(pattern, constants), flags: known })
  }
  return found
}

type Node = { type: string } & Record<string, unknown>

function walk(value: unknown, visit: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (isNode(value)) visit(value)
  for (const child of Object.values(value)) walk(child, visit)
}

/** The text that an expression comes to. */
function textOf(node: Node, constants: ReadonlyMap<string, Node>): string {
  const parts = (value: unknown): string[] => nodesIn(value).map((each) => textOf(each, constants))
  switch (node.type) {
    case 'Literal':
      return regexOf(node)?.pattern ?? String(node['value'])
    case 'TSAsExpression':
      return parts(node['expression']).join('')
    case 'BinaryExpression':
      return [...parts(node['left']), ...parts(node['right'])].join('')
    case 'TemplateLiteral':
      return templateOf(node, 'cooked', constants)
    case 'TaggedTemplateExpression': // only `String.raw` makes a pattern
      return nodesIn(node['quasi'])
        .map((quasi) => templateOf(quasi, 'raw', constants))
        .join('')
    case 'MemberExpression': {
      const [property] = nodesIn(node['property'])
      return property?.['name'] === 'source' ? parts(node['object']).join('') : unknownPart
    }
    case 'Identifier': {
      const value = constants.get(String(node['name']))
      return value === undefined ? unknownPart : textOf(value, constants)
    }
    default:
      return unknownPart
  }
}

function templateOf(
  node: Node,
  form: 'cooked' | 'raw',
  constants: ReadonlyMap<string, Node>,
): string {
  const expressions = nodesIn(node['expressions'])
  return nodesIn(node['quasis']).reduce((text, { value }, at) => {
    const written = isRecord(value) ? String(value[form]) : ''
    const next = expressions[at]
    return text + written + (next === undefined ? '' : textOf(next, constants))
  }, '')
}

function regexOf({ regex }: Node): { pattern: string; flags: string } | undefined {
  if (!isRecord(regex)) return undefined
  return { pattern: String(regex['pattern']), flags: String(regex['flags']) }
}

function nodesIn(value: unknown): Node[] {
  return (Array.isArray(value) ? value : [value]).filter(isNode)
}

function isNode(value: unknown): value is Node {
  return isRecord(value) && typeof value['type'] === 'string'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
