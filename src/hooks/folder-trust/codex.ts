import { join } from 'node:path'
import { messageOf, type Runtime } from '../../base/index.ts'
import { adapters } from '../adapters.ts'
import type { FolderTrust } from '../folder-trust.ts'
import { clientHome } from '../places.ts'
import { readClientText, unreadable, valueAt } from './_client-file.ts'
import { repositoryRoot } from './_folders.ts'

/** Codex 0.169.0: `projects` in its configuration, of the folder or of the root of the repository. */
export async function codexFolderTrust(folder: string, runtime: Runtime): Promise<FolderTrust> {
  const path = join(clientHome(adapters.codex, runtime), 'config.toml')
  const file = readClientText(path)
  if (file.state === 'broken') return file.trust
  let projects: unknown
  try {
    const { parse } = await import('smol-toml')
    projects = file.state === 'read' ? valueAt(parse(file.text), 'projects') : undefined
  } catch (error) {
    return unreadable(`${path} is no TOML: ${messageOf(error).split('\n')[0]}`)
  }
  const candidates = [folder, repositoryRoot(folder) ?? folder]
  for (const candidate of candidates) {
    const level = valueAt(projects, candidate, 'trust_level')
    if (level === 'trusted' || level === 'untrusted') {
      return { state: level, reason: `${path} has ${candidate} as ${level}` }
    }
  }
  return { state: 'open', reason: `${path} says nothing about it` }
}
