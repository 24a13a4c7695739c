import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

interface LockedPackage {
  resolved?: string
  libc?: readonly string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')
const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(text)

it('locks every dependency of every package, for all platforms', () => {
  const missing = Object.entries(packages).flatMap(([path, locked]) => {
    const peers = Object.keys(locked.peerDependencies ?? {}).filter(
      (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
    )
    const names = [
      ...Object.keys(locked.dependencies ?? {}),
      ...Object.keys(locked.optionalDependencies ?? {}),
      ...peers,
    ]
    return names
      .filter((name) => !isLocked(name, path))
      .map((name) => `${path || 'skillrail'} needs ${name}`)
  })
  expect(missing).toEqual([])
})

it('names no registry', () => {
  const addresses = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)
  expect(addresses).toEqual([])
})

// npm 10 removes `libc` from the lock file, so with it a plain `npm install` would change the file.
it('has no field that only newer versions of npm write', () => {
  const paths = Object.keys(packages).filter((path) => packages[path]?.libc !== undefined)
  expect(paths).toEqual([])
})

/** Whether a package at `path` finds `name` in a `node_modules` folder at or above its place. */
function isLocked(name: string, path: string): boolean {
  for (let folder = path; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (packages[place] !== undefined) return true
    if (folder === '') return false
    if (!folder.includes('/node_modules/')) return packages[`node_modules/${name}`] !== undefined
  }
}
