import { messageOf, systemCode } from './errors.ts'

/**
 * Why something cannot be looked at, for a sentence of the form "PATH cannot be read: …"; undefined
 * for the error of a call that found nothing there at all.
 */
export function lookProblem(error: unknown): string | undefined {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  return (code === undefined ? undefined : reasons[code]) ?? messageOf(error)
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  ELOOP: 'it is a link that leads back to itself',
  ENAMETOOLONG: 'its name is too long',
  EIO: 'the device reports an error',
}
