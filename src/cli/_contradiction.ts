import { UsageError } from '../base/index.ts'

/** The error for two options of one call of which only one can be meant. */
export function contradiction(one: string, other: string, hint: string): UsageError {
  return new UsageError({
    code: 'wrong-use',
    message: `${one} and ${other} contradict each other`,
    hint,
  })
}

/** The error for an option that says something about what nothing asks for. */
export function pointless(option: string, needed: string, hint: string): UsageError {
  return new UsageError({
    code: 'wrong-use',
    message: `${option} means nothing without ${needed}`,
    hint,
  })
}
