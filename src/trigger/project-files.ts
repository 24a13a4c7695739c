import { readdirSync } from 'node:fs'
import { findWorkspace, isInside, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { TriggerSkill } from './match.ts'

export interface ProjectFiles {
  root: string
  /** Relative to the root, with `/`. */
  paths: readonly string[]
}

const maxFiles = 50_000
/** Folders whose files agents do not edit, and which contain most files of a project. */
const skippedFolders = /^(?:\.git|node_modules)$/

/** Lists the files of the current project, for a skill of this project that has globs. */
export function filesFor(
  { directory, triggers }: Pick<TriggerSkill, 'directory' | 'triggers'>,
  runtime: Pick<Runtime, 'cwd' | 'home'>,
): ProjectFiles | undefined {
  const root = findWorkspace(runtime.cwd, runtime)
  const isOfProject = isInside(root, realPathOf(directory) ?? directory)
  return isOfProject ? filesOf(triggers, runtime) : undefined
}

/** Lists the files of the current project if any of the triggers has globs. */
export function filesOf(
  triggers: TriggerSkill['triggers'],
  runtime: Pick<Runtime, 'cwd' | 'home'>,
): ProjectFiles | undefined {
  const hasGlobs = triggers.some(({ when }) => when?.kind === 'paths')
  return hasGlobs ? projectFiles(findWorkspace(runtime.cwd, runtime)) : undefined
}

const listings = new Map<string, ProjectFiles | undefined>()

/** Makes the next check list the files again, in a process that continues, such as the view. */
export function forgetProjectFiles(): void {
  listings.clear()
}

/** Returns undefined if there are too many files or they cannot be listed. */
function projectFiles(root: string): ProjectFiles | undefined {
  if (!listings.has(root)) listings.set(root, listFiles(root))
  return listings.get(root)
}

function listFiles(root: string): ProjectFiles | undefined {
  const paths: string[] = []
  const folders = ['']
  for (const folder of folders) {
    try {
      for (const entry of readdirSync(`${root}/${folder}`, { withFileTypes: true })) {
        if (!entry.isDirectory()) paths.push(`${folder}${entry.name}`)
        else if (!skippedFolders.test(entry.name)) folders.push(`${folder}${entry.name}/`)
      }
    } catch {
      return undefined
    }
    if (paths.length + folders.length > maxFiles) return undefined
  }
  return { root, paths }
}
