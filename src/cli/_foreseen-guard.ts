import { safeLine } from '../base/index.ts'
import type { ForeseenGuard } from '../tools/index.ts'

/** What stands before a call that was not made, a line for each thing; safe to print. */
export function guardLines({ before, refused }: ForeseenGuard): string[] {
  if (refused !== undefined) {
    const { message, hint = '' } = refused
    return `Refused: ${message}\n${hint}`.trimEnd().split('\n').map(safeLine)
  }
  if (before === undefined) return []
  const { workflow, mode, prerequisites } = before
  if (prerequisites.length === 0) return [safeLine(`Left out: the steps of workflow '${workflow}'`)]
  const steps = prerequisites.map(({ step, tool, id = tool, params }) => {
    return `  Step ${step}: ${safeLine(`${id} ${JSON.stringify(params)}`)}`
  })
  return [safeLine(`${begins[mode]} '${workflow}':`), ...steps]
}

const begins = {
  enforce: 'First, for workflow',
  warn: 'First, unless they are left out, for workflow',
  suggest: 'Suggested first by workflow',
} as const

/** The same for `--json`. */
export function guardJson({ before, refused }: ForeseenGuard): object {
  if (refused === undefined) return before === undefined ? {} : { before }
  const { code, message, hint } = refused
  return { refused: { code, message, hint } }
}
