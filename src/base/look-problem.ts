import { messageOf, systemCode } from './errors.ts'

/**
 * Why something cannot be looked at, for a sentence of the form "PATH cannot be read: …"; undefined
 * for the error of a call that found nothing there at all.
 */
export function lookProblem(error: unknown): string | undefined {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  return systemReason(code) ?? messageOf(error)
}

/** What a code of the system means, for a person; undefined for one that is not known. */
export function systemReason(code: string | undefined): string | undefined {
  return code === undefined ? undefined : reasons[code]
}

/** Why a call to the system failed, for a sentence of the form "PATH cannot be written: …". */
export function reasonOf(error: unknown): string {
  return systemReason(systemCode(error)) ?? messageOf(error)
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EISDIR: 'it is a directory',
  ENOENT: 'it does not exist',
  EEXIST: 'something of that name is already there',
  EMFILE: 'too many files are open',
  EFBIG: 'the file would be larger than is allowed',
  EAGAIN: 'too many processes run',
  ENOMEM: 'there is not enough memory',
  E2BIG: 'the arguments and the environment are too long together',
  ELOOP: 'it is a link that leads back to itself',
  ENAMETOOLONG: 'its name is too long',
  EIO: 'the device reports an error',
}
