import { defineCommand, option, type Screen } from '../../core/command.ts'
import { amount, linesText, safeLine } from '../../core/text.ts'
import { type HookTrace, readTraces } from '../trace.ts'

export const command = defineCommand<ReturnType<typeof readTraces>>()({
  options: {
    limit: option.integer('-n, --limit <number>', 'maximum number of newest prompts', {
      least: 1,
      most: 999_999,
      default: 20,
    }),
  },
  details: 'The log has only prompts that matched a trigger. Secrets are masked.',
  examples: ['hook log -n 5'],
  async run(context, { limit }) {
    const log = readTraces(context.runtime, limit)
    const { unreadable, path } = log
    if (unreadable > 0) context.note(`${amount(unreadable, 'line')} of ${path} could not be read`)
    return log
  },
  render: ({ traces }, screen) =>
    traces.length === 0
      ? 'No trigger has fired yet.\n'
      : traces.map((trace) => traceText(trace, screen)).join(''),
})

function traceText(trace: HookTrace, { style }: Screen): string {
  const { at, platform, cwd, prompt, injected, withheld, durationMs, error } = trace
  const file = ({ skill, path }: { skill: string; path: string }): string =>
    `${safeLine(skill)}/${safeLine(path)}`
  const lines = [
    `${at}  ${platform}  ${durationMs} ms  ${style('dim', safeLine(cwd))}`,
    `  ${safeLine(prompt)}`,
    ...injected.map((given) => `  + ${file(given)} (${given.characters} characters)`),
    ...withheld.map((held) => `  - ${file(held)}: ${safeLine(held.reason)}`),
    ...(error === undefined ? [] : [`  ! ${safeLine(error)}`]),
  ]
  return linesText(lines)
}
