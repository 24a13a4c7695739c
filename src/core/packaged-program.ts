import { existsSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram, type ProgramSearch } from './find-program.ts'
import { isInside, realPathOf } from './read-files.ts'
import { shellWord } from './text.ts'

/** A file that only Skillrail's own package for agent clients has. */
const mark = 'serves-all-skills'

/**
 * Returns the command line of Skillrail's package for agent clients, if the running program is part of it:
 * the hook is one folder below the package, the command line two.
 */
export function packagedProgram(file = fileURLToPath(import.meta.url)): string | undefined {
  const folder = dirname(file)
  const roots = [join(folder, '..'), join(folder, '../..')]
  const root = roots.find((path) => existsSync(join(path, mark)))
  const program = root === undefined ? undefined : join(root, 'bin/skillrail')
  return program !== undefined && existsSync(program) ? program : undefined
}

/**
 * Returns how a user starts Skillrail in a shell; undefined if only `npx` can find it. A client may put the package's
 * folder on its own search path, where a user's terminal does not have it.
 */
export function programWord(
  search: ProgramSearch,
  own: string | undefined = packagedProgram(),
): string | undefined {
  const onPath = findProgram('skillrail', search)
  if (own === undefined) return onPath === undefined ? undefined : 'skillrail'
  const isOwn = onPath !== undefined && realPathOf(onPath) === realPathOf(own)
  return onPath === undefined || isOwn ? shellWord(own) : 'skillrail'
}

/**
 * Returns the command that installs npm packages where this program finds them: in the project that Skillrail is a
 * dependency of, beside a global installation, or together with a Skillrail that has no `node_modules` of its own.
 */
export function installCommand(
  packages: readonly string[],
  file = fileURLToPath(import.meta.url),
  directory = process.cwd(),
): string {
  const names = packages.join(' ')
  if (packagedProgram(file) !== undefined) {
    return `npm install -g github:skillrail/skillrail#release ${names}`
  }
  const [project, ...rest] = file.split(join(sep, 'node_modules', 'skillrail', sep))
  if (project === undefined || rest.length === 0) return `npm install ${names}`
  // npx keeps what it starts in a folder of its cache, where nothing else is found.
  if (basename(dirname(project)) === '_npx') return `npm install skillrail ${names}`
  return isInside(project, directory) ? `npm install ${names}` : `npm install -g ${names}`
}
