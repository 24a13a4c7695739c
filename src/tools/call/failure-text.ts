import { cutText } from '#core/text'
import { plainText } from '#core/json'
import { contractSuggestions } from '#tools/contract'
import type { FailureKind } from './attempts.ts'
import type { BatchResult } from './steps.ts'
import type { CallReport } from './context.ts'

/** The seed's text for a call that failed; from a server, so it is not yet safe to print. */
export function callFailureText(report: CallReport & { status: 'error' }): string {
  const { tool, failure, attempts, durationMs, notes } = report
  if (failure.kind === 'timeout') {
    const head = `Timeout: ${tool.id} after ${durationMs}ms\nPartial: none`
    const advice = 'Suggestions: narrow scope, reduce output, retry'
    return [head, advice, ...notes, 'Next: confirm retry with new parameters'].join('\n')
  }
  const params = Object.entries(report.params)
    .slice(0, 8)
    .map(([name, value]) => `${name}=${cutText(plainText(value), 80)}`)
  return [
    `Error: ${cutText(bareMessage(failure.message), 1000)}`,
    `Tool: ${tool.id}`,
    ...(params.length > 0 ? [`Params: ${params.join(', ')}`] : []),
    ...(attempts > 1 ? report.report.errors.map((error) => cutText(error, 300)) : []),
    'Suggestions:',
    ...failure.suggestions.map((text, index) => `${index + 1}) ${text}`),
    ...notes,
    'Next: confirm retry or provide new parameters.',
  ].join('\n')
}

export function bareMessage(message: string): string {
  return message.replace(/^(?:### Error\n|Error: )+/, '')
}

/** The seed's text for a batch that did not succeed as a whole, or undefined. */
export function partialText(results: readonly BatchResult[]): string | undefined {
  const { success = [], error = [], cancelled = [] } = Object.groupBy(results, (one) => one.status)
  if (error.length + cancelled.length === 0) return undefined
  const isStopped = cancelled.length > 0
  const head = isStopped ? 'Cancelled' : success.length > 0 ? 'Partial success' : 'Failure'
  const stopped = isStopped ? `, ${cancelled.length} cancelled` : ''
  const lines = [`${head}: ${success.length} succeeded, ${error.length} failed${stopped}`]
  for (const [name, list] of Object.entries({
    Succeeded: success,
    Failed: error,
    Cancelled: cancelled,
  })) {
    if (list.length > 0) lines.push(`${name}: [${list.map(({ tool }) => tool).join(', ')}]`)
  }
  const isHinted = results.every((one) => one.status === 'success' || one.hint !== undefined)
  const next = isHinted
    ? 'follow the hints, then call them again'
    : 'retry failed items with adjusted params'
  const left = 'run what is left, after a look at what was under way'
  return [...lines, `Next: ${isStopped ? left : next}`].join('\n')
}

const byKind: Readonly<Record<FailureKind, readonly string[]>> = {
  'tool-not-found': ['Run skillrail tools refresh to update the tool cache'],
  'invalid-parameters': ['Compare the parameters with skillrail tools show'],
  'input-required': ['Look at the parameters with skillrail tools show'],
  'server-unavailable': ['Check how the server is started with skillrail tools import'],
  timeout: ['Narrow the scope or reduce the output', 'Raise the time limit and try again'],
  'connection-lost': ['Check what the call did before you repeat it'],
  protocol: ['Look at the server’s own log'],
  cancelled: ['Call the tool again when you want it to continue'],
  'rate-limited': ['Reduce the query frequency and try again later'],
  'too-large': ['Ask for less: narrow the request, or read it page by page'],
  execution: ['Read the error message and correct the parameters'],
}

/** What to do next, at most three; what the format says for the tool's category comes first. */
export function suggestRecovery(
  kind: FailureKind,
  category: string | undefined,
): readonly string[] {
  const byContract = kind === 'execution' ? contractSuggestions.get(category ?? '') : undefined
  return [...(byContract === undefined ? [] : [byContract]), ...byKind[kind]].slice(0, 3)
}
