import { redactText } from '../base/index.ts'

/** The arguments as they may be written to a disk. */
export function redactedArguments(given: readonly string[]): string[] {
  return given.map((argument, index) => {
    const before = given[index - 1]
    // `--token abc` as two words is a secret like `--token=abc`.
    if (before === undefined || !/^--?[A-Za-z]/.test(before) || before.includes('=')) {
      return redactText(argument)
    }
    const pair = redactText(`${before}=${argument}`)
    return pair === `${before}=${argument}` ? argument : pair.slice(before.length + 1)
  })
}
