import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fromSources } from './command-line.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Builds before the tests where dist/ is older than what it is made from. */
export default function setup(): void {
  if (fromSources || newest(['src', 'dev/build.mjs', 'package.json']) < built()) return
  execFileSync(process.execPath, ['dev/build.mjs'], { cwd: root, stdio: 'inherit' })
}

function newest(places: readonly string[]): number {
  return Math.max(...places.map((place) => newestBelow(join(root, place))))
}

/** Folders count too: what was removed shows only in them. */
function newestBelow(path: string): number {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestBelow(join(path, name))))
}

/** When the last file of a build was written; 0 where there was none. */
function built(): number {
  return (
    statSync(join(root, 'dist/hook/libraries/re2js.cjs'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  )
}
