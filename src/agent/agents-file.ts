import { dirname, join } from 'node:path'
import { findWorkspace, isInside, readRegularFile, realPathOf } from '../core/read-files.ts'
import type { Runtime } from '../core/runtime.ts'
import { usageError } from './errors.ts'

const fileName = 'AGENTS.md'
const maxBytes = 256 * 1024

/**
 * What the files `AGENTS.md` of a project say, from its root down to a directory: the nearest has the
 * last word.
 *
 * @throws {AgentUsageError} for one that is there and cannot be read, or leads out of the project.
 */
export function projectInstructions(directory: string, runtime: Pick<Runtime, 'home'>): string {
  const root = findWorkspace(directory, runtime)
  const start = realPathOf(directory) ?? directory
  const texts: string[] = []
  for (let place = start; isInside(root, place); place = dirname(place)) {
    const path = join(place, fileName)
    const file = readRegularFile(path, { maxBytes })
    const isOutside = !isInside(root, realPathOf(path) ?? path)
    if (file.ok && !isOutside && file.text.trim() !== '') {
      texts.unshift(`# Instructions of the project (${path})\n\n${file.text.trim()}`)
    } else if (isOutside || (!file.ok && file.code !== 'file-missing')) {
      const why = file.ok ? `${path} leads out of the project` : file.message
      throw usageError('agents-file', `${why}.`, 'Fix the file, or do not ask for it.')
    }
    if (place === root) break
  }
  return texts.join('\n\n')
}
