import { parseAst } from 'rolldown/parseAst'

/** A program in which every branch counts its visits, and the texts that it compares with. */
export interface Instrumented {
  code: string
  /** The first number that no branch has. */
  next: number
  words: readonly string[]
}

/**
 * Puts a counter into every function, branch, loop and alternative of a module in JavaScript.
 *
 * @param first the number of its first branch; `globalThis[counters]` must contain a longer array.
 */
export function instrument(source: string, first: number, counters: string): Instrumented {
  const insertions: Insertion[] = []
  const words = new Set<string>()
  let next = first
  const count = (): string => `${counters}[${next++}]++`
  const around = (node: Node, before: string, after: string): void => {
    insertions.push({ at: node.start, text: before, size: node.start - node.end })
    insertions.push({ at: node.end, text: after, size: node.end - node.start })
  }
  const visit = (node: Node): void => {
    if (node.type === 'Literal' && typeof node['value'] === 'string') words.add(node['value'])
    for (const [key, how] of branches[node.type] ?? []) {
      for (const child of nodesIn(node[key])) {
        if (child.type === 'BlockStatement') {
          insertions.push({ at: child.start + 1, text: `${count()};`, size: 0 })
        } else if (how === 'statement') around(child, `{${count()};`, '}')
        else around(child, `(${count()},`, ')')
      }
    }
    const [first] = node.type === 'SwitchCase' ? nodesIn(node['consequent']) : []
    if (first !== undefined) insertions.push({ at: first.start, text: `${count()};`, size: 0 })
    for (const value of Object.values(node)) for (const child of nodesIn(value)) visit(child)
  }
  for (const node of nodesIn(parseAst(source))) visit(node)
  return { code: apply(source, insertions), next, words: [...words] }
}

type Node = { type: string; start: number; end: number } & Record<string, unknown>

interface Insertion {
  at: number
  text: string
  /** What it surrounds: negative for a beginning. Of several at one place, ends come first, the inner before the outer. */
  size: number
}

const branches: Readonly<Record<string, readonly (readonly [string, 'statement' | 'value'])[]>> = {
  FunctionDeclaration: [['body', 'statement']],
  FunctionExpression: [['body', 'statement']],
  ArrowFunctionExpression: [['body', 'value']],
  IfStatement: [
    ['consequent', 'statement'],
    ['alternate', 'statement'],
  ],
  ForStatement: [['body', 'statement']],
  ForOfStatement: [['body', 'statement']],
  ForInStatement: [['body', 'statement']],
  WhileStatement: [['body', 'statement']],
  ConditionalExpression: [
    ['consequent', 'value'],
    ['alternate', 'value'],
  ],
  LogicalExpression: [['right', 'value']],
}

function nodesIn(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap((item) => nodesIn(item))
  return isNode(value) ? [value] : []
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

function apply(source: string, insertions: readonly Insertion[]): string {
  const parts: string[] = []
  let from = 0
  const order = insertions.map((insertion, index) => ({ ...insertion, index }))
  order.sort((a, b) => a.at - b.at || rank(a) - rank(b) || a.size - b.size || a.index - b.index)
  for (const { at, text } of order) {
    parts.push(source.slice(from, at), text)
    from = at
  }
  return parts.join('') + source.slice(from)
}

/** Ends before beginnings, since a range that ends here precedes one that begins here. */
function rank({ size }: Insertion): number {
  return size > 0 ? 0 : 1
}
