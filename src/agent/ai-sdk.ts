import { messageOf, systemCode } from '../core/errors.ts'
import { ModelNotFoundError } from './errors.ts'

/**
 * Loads the AI SDK: a peer, so that a program and Skillrail use one copy.
 * @throws {ModelNotFoundError} with the command that installs it.
 */
export async function aiSdk(): Promise<typeof import('ai')> {
  try {
    return await import('ai')
  } catch (error) {
    const isMissing = systemCode(error) === 'ERR_MODULE_NOT_FOUND'
    throw new ModelNotFoundError({
      code: isMissing ? 'ai-not-installed' : 'ai-unusable',
      message: isMissing
        ? 'Models need the package ai (the AI SDK), which is not installed.'
        : `The package ai cannot be loaded: ${messageOf(error)}`,
      hint: 'npm install ai@7',
      cause: error,
    })
  }
}
