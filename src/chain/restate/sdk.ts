import { messageOf } from '../../base/index.ts'
import { ChainError } from '../errors.ts'

export type Sdk = typeof import('@restatedev/restate-sdk')

/**
 * Loads Restate's SDK, an optional peer.
 * @throws {ChainError} with the command that installs it.
 */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@restatedev/restate-sdk')
  } catch (error) {
    throw new ChainError({
      code: 'restate-sdk-missing',
      message: `a worker needs the package @restatedev/restate-sdk, which cannot be loaded: ${messageOf(error).split('\n')[0]}`,
      hint: 'npm i @restatedev/restate-sdk',
      cause: error,
    })
  }
}
