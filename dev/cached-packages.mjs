import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'

/**
 * A folder whose node_modules holds packages that only one script needs: in the user's cache,
 * installed once, without their scripts and, by default, without their peers. Undefined, and a
 * sentence, where they cannot be had.
 *
 * @param {string} purpose the folder's name
 * @param {Record<string, string>} packages names and exact versions
 * @param {{ peers?: boolean }} options
 */
export function cachedPackages(purpose, packages, { peers = false } = {}) {
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache')
  const folder = path.resolve(cache, 'skillrail', purpose)
  const missing = Object.keys(packages).filter((name) => !isThere(folder, name, packages[name]))
  if (missing.length === 0) return folder
  try {
    mkdirSync(folder, { recursive: true })
    const manifest = path.join(folder, 'package.json')
    if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n')
    const wanted = missing.map((name) => `${name}@${packages[name]}`)
    const options = ['--ignore-scripts', '--no-audit', '--no-fund']
    if (!peers) options.push('--legacy-peer-deps')
    execFileSync('npm', ['install', '--prefix', folder, ...options, ...wanted], { stdio: 'ignore' })
    return folder
  } catch {
    console.log(`${missing.join(', ')} could not be installed`)
    return undefined
  }
}

function isThere(folder, name, version) {
  try {
    const manifest = path.join(folder, 'node_modules', name, 'package.json')
    return JSON.parse(readFileSync(manifest, 'utf8')).version === version
  } catch {
    return false
  }
}
