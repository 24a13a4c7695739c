import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Runtime, sha256, SkillrailError, writeFileAtomic } from '../base/index.ts'
import { launcherDirectory, launcherName, launcherPath } from './launcher-place.ts'
import { posixLauncher, windowsLauncher } from './launcher-text.ts'

/** What is copied, and where to below the directory of one version. It mirrors the package. */
const copiedFiles = {
  'hook.cjs': 'dist/hook/hook.cjs',
  'index-work.cjs': 'dist/hook/index-work.cjs',
  'yaml.cjs': 'node_modules/yaml/index.js',
  're2js.cjs': 'node_modules/re2js/index.js',
  'jsonc-parser.cjs': 'node_modules/jsonc-parser/index.js',
} as const

const manifest = 'package.json'
/** A version that was replaced stays as long as a process may still be starting from it. */
const graceMs = 24 * 3600 * 1000

/**
 * Copies the hook out of the package into the user's data directory and points the launcher at it.
 * Nobody else may write, or look into, what the user's clients start. Does nothing where this very version is there already; several processes may do it at once.
 * Throws the system error where the directory cannot be written.
 */
export async function installLauncher(runtime: Runtime): Promise<'installed' | 'unchanged'> {
  const files = packagedFiles()
  const home = join(launcherDirectory(runtime), versionOf(files))
  const entry = join(home, copiedFiles['hook.cjs'])
  const launchers = launcherTexts(runtime, entry)
  const isThere = [...launchers].every(([path, text]) => readIfThere(path) === text)
  if (existsSync(entry) && isThere) return 'unchanged'
  for (const [path, content] of files) {
    const file = join(home, path)
    if (!existsSync(file)) await writeFileAtomic(file, content, { mode: 0o600 })
  }
  for (const [path, text] of launchers) await writeFileAtomic(path, text, { mode: 0o700 })
  removeOldVersions(runtime, home)
  return 'installed'
}

/** Whether the launcher is there and starts this version of the hook. */
export function launcherState(runtime: Runtime): 'current' | 'outdated' | 'missing' {
  const text = readIfThere(launcherPath(runtime))
  if (text === undefined) return 'missing'
  const version = versionOf(packagedFiles())
  const entry = join(launcherDirectory(runtime), version, copiedFiles['hook.cjs'])
  return text.includes(version) && existsSync(entry) ? 'current' : 'outdated'
}

/** Takes the launcher and every version of the hook away. */
export function removeLauncher(runtime: Runtime): void {
  rmSync(launcherDirectory(runtime), { recursive: true, force: true })
}

/** The content of every file by its path below the directory of the version. */
function packagedFiles(): ReadonlyMap<string, string> {
  const directory = packagedDirectory()
  const files = Object.entries(copiedFiles).map(
    ([name, path]) => [path, readFileSync(join(directory, name), 'utf8')] as const,
  )
  const { name, version } = packageFacts(directory)
  return new Map([[manifest, `${JSON.stringify({ name, version })}\n`], ...files])
}

/** Below `dist` from a bundle, and beside `src` from a checkout. */
function packagedDirectory(): string {
  const places = ['../hook/', '../../dist/hook/'].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  )
  const found = places.find((place) => existsSync(join(place, 'hook.cjs')))
  if (found !== undefined) return found
  throw new SkillrailError({
    code: 'hook-not-built',
    message: 'the hook is missing from this installation of skillrail',
    hint: 'Install the package again; in a checkout run: npm run build',
  })
}

function packageFacts(directory: string): { name: unknown; version: unknown } {
  const value: unknown = JSON.parse(readFileSync(join(directory, '../..', manifest), 'utf8'))
  return { name: undefined, version: undefined, ...Object(value) }
}

function versionOf(files: ReadonlyMap<string, string>): string {
  return sha256([...files].flat().join('\0')).slice('sha256:'.length, 'sha256:'.length + 16)
}

/** On Windows also the one for POSIX shells, which is what the command in a project's file calls. */
function launcherTexts(runtime: Runtime, entry: string): ReadonlyMap<string, string> {
  const directory = launcherDirectory(runtime)
  const node = process.execPath
  if (runtime.platform !== 'win32') {
    return new Map([[launcherPath(runtime), posixLauncher({ node, entry })]])
  }
  const forward = (path: string): string => path.replaceAll('\\', '/')
  const posix = posixLauncher({ node: forward(node), entry: forward(entry) })
  return new Map([
    [launcherPath(runtime), windowsLauncher({ node, entry: relative(directory, entry) })],
    [join(directory, launcherName), posix],
  ])
}

function removeOldVersions(runtime: Runtime, current: string): void {
  const directory = launcherDirectory(runtime)
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    const isOld = stats?.isDirectory() === true && runtime.now() - stats.mtimeMs > graceMs
    if (isOld && path !== current) rmSync(path, { recursive: true, force: true })
  }
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
