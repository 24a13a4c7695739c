// Builds if dist/ is older than its sources.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

process.chdir(join(import.meta.dirname, '..'))

const sources = ['src', 'dev/build.mjs', 'package.json']
if (Math.max(...sources.map(newestBelow)) >= built()) await import('./build.mjs')

/** Folders count too: only they show that a file was removed. */
function newestBelow(path) {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestBelow(join(path, name))))
}

/** When the last file of a build was written; 0 if there is none. */
function built() {
  return statSync('dist/hook/libraries/re2js.cjs', { throwIfNoEntry: false })?.mtimeMs ?? 0
}
