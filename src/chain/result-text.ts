import { printedText } from '#core/printed-text'
import { cutWithCount, safeLine, safeText } from '#core/text'
import { leafSteps, type ShownRun } from './step-result.ts'
import { notUtf8Mark } from './timeline.ts'

/** Returns the results of all steps, nested ones included, cut to a length that a user reads. */
export function resultLines(result: ShownRun): string[] {
  const outputs = result.attempts.at(-1)?.chain_state.previous_outputs ?? []
  const chains = new Set(outputs.flatMap(({ step }) => [step.slice(0, step.lastIndexOf('/'))]))
  const leaves = leafSteps(result.attempts.at(-1)?.steps ?? [])
  const unreadable = new Set(leaves.filter(({ notUtf8 }) => notUtf8).map(({ step }) => step))
  return outputs.flatMap(({ step, result: text, artifacts = [] }) => {
    if (chains.has(step)) return []
    const files = artifacts.map((path) => `  file ${safeLine(path)}`)
    const name = unreadable.has(step) ? `${step} (${notUtf8Mark})` : step
    return [...(text === '' ? [] : labelLines(safeLine(name), shortText(text))), ...files]
  })
}

function labelLines(label: string, text: string): string[] {
  const [first = '', ...otherLines] = safeText(printedText(text)).split('\n')
  return [`${label}: ${first}`, ...otherLines.map((line) => `  ${line}`)]
}

const maxCharacters = 2000

/** Cuts a long text for display; `--json` has all of it. */
export function shortText(text: string): string {
  return cutWithCount(text.trimEnd(), maxCharacters, '; runs show --json has them')
}
