import { StateFileError, systemCode } from '../base/index.ts'

/** What the system says, for a person: the reason, and what to do about it. */
const reasons: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EACCES: ['permission is denied', 'Give yourself the right to write there, or work elsewhere.'],
  EPERM: ['permission is denied', 'Give yourself the right to write there, or work elsewhere.'],
  EROFS: ['the file system is read-only', 'Work in a directory that can be written.'],
  ENOSPC: ['the disk is full', 'Free some space and try again.'],
  EDQUOT: ['your share of the disk is used up', 'Free some space and try again.'],
  ENOTDIR: ['a part of the path is a file, not a directory', 'Name a path below a directory.'],
  EISDIR: ['it is a directory', 'Name a file.'],
  ENOENT: ['it does not exist', 'Check the path.'],
  EEXIST: ['something of that name is already there', 'Remove it, or choose another name.'],
  EMFILE: ['too many files are open', 'Close some programs, or raise the limit (ulimit -n).'],
  ELOOP: ['it is a link that leads back to itself', 'Mend or remove the link.'],
  ENAMETOOLONG: ['its name is too long', 'Choose a shorter name.'],
  EIO: ['the device reports an error', 'Check the disk.'],
}

/** An error of the file system as one of ours; undefined for anything else. */
export function asFileError(error: unknown): StateFileError | undefined {
  const code = systemCode(error)
  const known = code === undefined ? undefined : reasons[code]
  if (code === undefined || known === undefined || !(error instanceof Error)) return undefined
  const [reason] = known
  const hint = code === 'EACCES' && isLook(error) ? readable : known[1]
  const subject = pathOf(error) ?? 'a file'
  return new StateFileError({
    code: `system-${code.toLowerCase()}`,
    message: `${subject} cannot be used: ${reason}`,
    hint,
    cause: error,
  })
}

const readable = 'Give yourself the right to read it, or work elsewhere.'

/** Whether nothing was to be written: only such calls are there to look at something. */
function isLook(error: Error): boolean {
  const call = 'syscall' in error ? error.syscall : undefined
  return typeof call === 'string' && /^(?:l?stat|scandir|opendir|readlink|realpath)$/.test(call)
}

/** The path that was asked for; for a file that replaces another, the one it was to become. */
function pathOf(error: Error): string | undefined {
  const path = 'dest' in error ? error.dest : 'path' in error ? error.path : undefined
  return typeof path === 'string' ? path : undefined
}
