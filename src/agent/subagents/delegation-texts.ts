import { SubagentDelegationError } from '../errors.ts'
import type { SubagentConfig } from './config.ts'
import type { DelegationHandle } from './delegation.ts'
import type { SubagentResult } from './result.ts'

/** Characters of all descriptions together; each is shortened before one is left out. */
const catalogueLength = 8000
const shortest = 40

/** One line a subagent, for the description of the tool. */
export function agentCatalogue(configs: readonly SubagentConfig[]): string {
  const share = Math.max(shortest, Math.floor(catalogueLength / Math.max(1, configs.length)))
  return configs
    .map(({ name, description }) => `- ${name}: ${shortened(oneLine(description), share)}`)
    .join('\n')
}

/**
 * What the model gets of a delegation that it waited for.
 *
 * @throws {SubagentDelegationError} when it has no answer, so that the model sees an error.
 */
export function answerText(result: SubagentResult): string {
  const { id, subagentName, status, output, error = '' } = result
  if (status === 'completed') return `${output}\n\n[delegation ${id} of ${subagentName}: completed]`
  if (status === 'capped') {
    return `${output}\n\n[delegation ${id} of ${subagentName} is not done: ${error}. This is its summary; resume it to go on.]`
  }
  const partial = output === '' ? '' : ` Until then it wrote: ${output}`
  throw new SubagentDelegationError({
    code: `delegation-${status}`,
    message: `The delegation ${id} to ${subagentName} ${status === 'failed' ? 'failed' : 'was cancelled'}: ${error}${partial}`,
  })
}

/** How a background delegation stands, with its answer when it is over. */
export function stateText(item: DelegationHandle | SubagentResult): string {
  const { id, subagentName, status } = item
  const head = `Delegation ${id} to ${subagentName}: ${status}`
  if ('cancel' in item) return `${head}.`
  const error = item.error === undefined ? '' : ` (${item.error})`
  return item.output === '' ? `${head}${error}.` : `${head}${error}.\n${item.output}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`
}
