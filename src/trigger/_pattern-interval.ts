import { invalid } from './pattern-problem.ts'
import type { PatternNode } from './pattern-tree.ts'

/** RE2's limit for a repetition, and for repetitions inside one another. */
const mostRepetitions = 1000

const interval = /\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/y

/** `{n}`, `{n,}` or `{n,m}` at an offset; undefined where the brace is text, as RE2 reads it. */
export function readInterval(
  source: string,
  at: number,
): { min: number; max: number; end: number } | undefined {
  interval.lastIndex = at
  const match = interval.exec(source)
  if (match === null) return undefined
  const [written, low = '', comma, high] = match
  const min = Number(low)
  const max = comma === undefined ? min : high === undefined ? Infinity : Number(high)
  if (min > mostRepetitions || (max > mostRepetitions && max !== Infinity)) {
    throw invalid(
      at,
      `the interval \`${written}\` is too large`,
      `At most ${mostRepetitions} work.`,
    )
  }
  if (min > max) throw invalid(at, `the interval \`${written}\` has its ends in the wrong order`)
  return { min, max, end: at + written.length }
}

/** Refuses intervals inside intervals whose product is too large, as RE2 does. */
export function checkRepeatSize(node: PatternNode, left: number = mostRepetitions): void {
  if (node.kind === 'concat' || node.kind === 'alternate') {
    for (const item of node.items) checkRepeatSize(item, left)
  }
  if (node.kind !== 'repeat') return
  const times = isInterval(node) ? (node.max === Infinity ? node.min : node.max) : 1
  if (times > left) {
    const message = `intervals inside one another repeat more than ${mostRepetitions} times`
    throw invalid(0, message)
  }
  checkRepeatSize(node.child, times > 0 ? Math.floor(left / times) : left)
}

function isInterval({ min, max }: { min: number; max: number }): boolean {
  return !(min <= 1 && max === Infinity) && !(min === 0 && max === 1)
}
