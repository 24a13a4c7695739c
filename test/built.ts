import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fromSources } from './command-line.ts'

const build = fileURLToPath(new URL('../dev/build-if-stale.mjs', import.meta.url))

/** Builds before the tests if dist/ is older than its sources. */
export default function setup(): void {
  if (!fromSources) execFileSync(process.execPath, [build], { stdio: 'inherit' })
}
