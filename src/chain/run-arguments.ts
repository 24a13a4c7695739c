import { findSecrets, redactText } from '../base/index.ts'

/** The arguments as they may be written to a disk. */
export function redactedArguments(given: readonly string[]): string[] {
  return given.map((argument, index) => {
    const option = optionBefore(given, index)
    const whole = redactText(`${option}${argument}`)
    return whole === `${option}${argument}` ? argument : whole.slice(option.length)
  })
}

/** They cannot be kept as they are, and have to be given again. */
export function holdSecret(given: readonly string[]): boolean {
  return redactedArguments(given).some((argument, index) => argument !== given[index])
}

/** What is secret in the arguments, for masking it wherever a script repeats it. */
export function secretsIn(given: readonly string[]): string[] {
  return given.flatMap((argument, index) => {
    const whole = `${optionBefore(given, index)}${argument}`
    return findSecrets(whole)
      .map(({ offset, length }) =>
        whole.slice(offset, offset + length).replaceAll(/^["']|["']$/g, ''),
      )
      .filter((secret) => secret.length >= shortestSecret)
  })
}

/** What is shorter stands in too many words. */
const shortestSecret = 4

/** `--token abc` as two words is a secret like `--token=abc`. */
function optionBefore(given: readonly string[], index: number): string {
  const before = given[index - 1]
  const isOption = before !== undefined && /^--?[A-Za-z]/.test(before) && !before.includes('=')
  return isOption ? `${before}=` : ''
}
