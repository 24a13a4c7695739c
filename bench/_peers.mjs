import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'

/**
 * A folder whose node_modules holds the packages that a benchmark measures us against: the one named
 * by SKILLRAIL_BENCH_PEERS, else one in the user's cache, installed once. Undefined, and a sentence,
 * where they cannot be had.
 *
 * @param {Record<string, string>} packages names and exact versions
 */
export function findPeers(packages) {
  const given = process.env.SKILLRAIL_BENCH_PEERS
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache')
  const folder = path.resolve(given ?? path.join(cache, 'skillrail/bench'))
  const missing = Object.keys(packages).filter(
    (name) => !existsSync(path.join(folder, 'node_modules', name)),
  )
  if (missing.length === 0) return folder
  try {
    mkdirSync(folder, { recursive: true })
    const manifest = path.join(folder, 'package.json')
    if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n')
    const wanted = missing.map((name) => `${name}@${packages[name]}`)
    const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund']
    execFileSync('npm', ['install', ...options, ...wanted], { stdio: 'ignore' })
    return folder
  } catch {
    console.log(`${missing.join(', ')} could not be installed: only our own times follow`)
    return undefined
  }
}
