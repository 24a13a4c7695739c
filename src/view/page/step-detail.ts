import type { ShownStep } from '../answers/run.ts'
import { make } from './elements.ts'
import { errorList } from './error-list.ts'
import { longText } from './long-text.ts'
import { clock, facts } from './parts.ts'
import { ask } from './server.ts'

/** Everything of a step besides its row; what it printed is asked for now. */
export function stepDetail({
  runId,
  attempt,
  step,
}: {
  runId: string
  attempt: number
  step: ShownStep
}): HTMLElement {
  const { result, log, metrics } = step
  const text = (part: 'result' | 'log'): HTMLElement =>
    longText((from) => ask('step-text', { id: runId, attempt, step: step.step, part, from }))
  const isLong = result.size > result.text.length
  return make(
    'div',
    { class: 'opened' },
    facts([
      ['step', step.step],
      ['skill', step.skill],
      ['status', step.status.replace('_', ' ')],
      ['evidence', step.evidence ?? undefined],
      ['started', step.startedAt === null ? undefined : clock(step.startedAt)],
      ['attempts', step.attempts?.join(', ')],
      ['reason', step.reason],
      ['sandbox', step.sandbox],
      ['what to do', step.hint],
      ['result', isLong ? undefined : result.text],
      ...metrics,
    ]),
    errorList(step, 'Errors'),
    isLong ? [make('h3', {}, 'Result'), text('result')] : undefined,
    log === undefined || log.size === 0 ? undefined : [make('h3', {}, 'Output'), text('log')],
  )
}
