import { messageOf, systemCode } from '#core/errors'
import { installCommand } from '#core/packaged-program'
import { ModelNotFoundError } from './errors.ts'

/** Loads the AI SDK, a peer dependency. @throws {ModelNotFoundError} with the command that installs it. */
export function aiSdk(): Promise<typeof import('ai')> {
  const facts = { kind: 'ai', who: 'Models need', package: 'ai', install: [sdkPackage] }
  return loadPackage(facts, () => import('ai'))
}

/** The AI SDK as npm installs it. A provider's package is of no use without it. */
export const sdkPackage = 'ai@7'

/** A package that the user installs when it is needed. `install` has the arguments for npm. */
interface OptionalPackage {
  kind: string
  who: string
  package: string
  install: readonly string[]
}

/** @throws {ModelNotFoundError} for a package that is not installed or cannot be loaded. */
export async function loadPackage<T>(facts: OptionalPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const isMissing = systemCode(error) === 'ERR_MODULE_NOT_FOUND'
    const problem = isMissing ? 'is not installed' : `cannot be loaded: ${messageOf(error)}`
    throw new ModelNotFoundError({
      code: `${facts.kind}-${isMissing ? 'not-installed' : 'unusable'}`,
      message: `${facts.who} the package ${facts.package}, which ${problem}.`,
      hint: installCommand(facts.install),
      cause: error,
    })
  }
}
