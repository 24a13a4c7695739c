import { UsageError } from '../base/index.ts'

/** `--precedence`, to be spread over the options of a search. */
export function precedenceOption(value: string | undefined): {
  precedence?: 'project' | 'user'
} {
  if (value === undefined) return {}
  if (value === 'project' || value === 'user') return { precedence: value }
  throw new UsageError({
    code: 'wrong-use',
    message: `--precedence ${value} is not known; allowed: project, user`,
    hint: 'skillrail list --precedence user lets your own skills win over the project’s.',
  })
}
