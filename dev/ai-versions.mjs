// Runs the tests of skillrail/ai with the oldest and the newest 7.x of the AI SDK, each installed
// into a cache of its own.
import { execFileSync, spawnSync } from 'node:child_process'
import { cachedPackages } from './cached-packages.mjs'

const published = execFileSync('npm', ['view', 'ai', 'versions', '--json'], { encoding: 'utf8' })
const stable = JSON.parse(published)
  .filter((version) => /^7\.\d+\.\d+$/.test(version))
  .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))

for (const version of [stable.at(0), stable.at(-1)]) {
  const folder = cachedPackages(`ai-${version}`, { ai: version, zod: '4.6.7' }, { peers: true })
  if (folder === undefined) process.exit(1)
  console.log(`ai ${version}`)
  const command = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'ai']
  const env = { ...process.env, SKILLRAIL_AI: folder }
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit', env })
  if (status !== 0) process.exit(1)
}
