import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, win32 } from 'node:path'
import { statsOf } from './read-files.ts'
import { isInProject, type Runtime } from './runtime.ts'

/** The context of a search. `cwd` determines the project, which must not provide the program. */
export type ProgramSearch = Pick<Runtime, 'env' | 'platform' | 'cwd'>

/**
 * Returns the path of a program for Skillrail itself: the first on the search path that neither the project
 * nor another account can have created. `npx` and `npm` put the project's folders first.
 */
export function findProgram(name: string, search: ProgramSearch): string | undefined {
  const { env, platform } = search
  const extensions = platform === 'win32' ? (env['PATHEXT'] ?? '.EXE;.CMD').split(';') : ['']
  for (const directory of safeDirectories(search)) {
    for (const extension of extensions) {
      const path = join(directory, name + extension)
      if (isExecutable(path) && isSafe(path, search)) return path
    }
  }
  return undefined
}

/**
 * Returns the path of a Windows program. Windows searches the working directory first, which can be the
 * project.
 */
export function windowsProgram(
  name: string,
  { env, cwd }: Omit<ProgramSearch, 'platform'>,
): string {
  // Windows ignores the case of variable names, but a copy of the environment does not.
  const root = Object.entries(env).find(([key]) => key.toLowerCase() === 'systemroot')?.[1]
  const isUsable = root !== undefined && win32.isAbsolute(root) && !isInProject(root, cwd)
  return win32.join(isUsable ? root : 'C:\\Windows', 'System32', name)
}

/** Returns the search path without the project's folders and folders that another account can write. */
export function safeSearchPath(search: ProgramSearch): string {
  return safeDirectories(search).join(delimiter)
}

function safeDirectories(search: ProgramSearch): string[] {
  const directories = (search.env['PATH'] ?? '').split(delimiter)
  // A relative folder would be inside the working directory.
  return directories.filter((directory) => isAbsolute(directory) && isSafe(directory, search))
}

function isSafe(path: string, { cwd }: ProgramSearch): boolean {
  const stats = statsOf(path)
  return stats !== undefined && !isWritableByOthers(stats) && !isInProject(path, cwd)
}

/** The machine's administrator creates groups, so files that a group can write count as safe. */
function isWritableByOthers({ mode, uid }: Stats): boolean {
  const user = process.getuid?.()
  return user !== undefined && ((mode & 0o002) !== 0 || (uid !== user && uid !== 0))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
