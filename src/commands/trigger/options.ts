import { type Context, option } from '#core/command'
import { budgetRange } from '#core/option-values'

export const skillArguments = { '[skill...]': 'names or paths (default: all that are installed)' }

export const promptOptions = {
  skill: option.list(
    '--skill <skill>',
    'only this skill, by name or path; it need not be installed (repeatable)',
  ),
  budget: option.integer('--budget <tokens>', 'skip references that do not fit', budgetRange),
} as const

export async function promptFor(context: Context, words: readonly string[]): Promise<string> {
  return words.length > 0 ? words.join(' ') : await context.stdin()
}
