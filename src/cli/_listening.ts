import { systemCode, UsageError } from '../base/index.ts'

/**
 * What opens on a port that the user may have named.
 *
 * @throws {UsageError} when the port is taken, or is not for everybody
 */
export async function listening<T>(port: number | undefined, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const isTaken = code === 'EADDRINUSE'
    throw new UsageError({
      code: isTaken ? 'port-taken' : 'port-refused',
      message: `--port ${port ?? 0}: ${isTaken ? 'another program listens there' : 'you may not listen there'}`,
      hint: 'Give another one, or none: then one that is free is taken.',
      cause: error,
    })
  }
}
