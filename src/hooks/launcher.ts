import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Runtime, userDirectories } from '../core/runtime.ts'
import { sha256 } from '../core/json.ts'
import { SkillrailError } from '../core/errors.ts'
import { shellWord } from '../core/text.ts'
import { writeFileAtomic } from '../core/write-files.ts'

/** The entry, below the directory of one version, which mirrors the package. */
const entryFile = 'dist/hook/hook.cjs'
/** A version that was replaced stays as long as a process may still be starting from it. */
const graceMs = 24 * 3600 * 1000

/** Copies the hook into the user's data directory and points the launcher at it. */
export async function installLauncher(runtime: Runtime): Promise<'installed' | 'unchanged'> {
  const files = packagedFiles()
  const home = join(launcherDirectory(runtime), versionOf(files))
  const entry = join(home, entryFile)
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

export function launcherState(runtime: Runtime): 'current' | 'outdated' | 'missing' {
  const text = readIfThere(launcherPath(runtime))
  if (text === undefined) return 'missing'
  const version = versionOf(packagedFiles())
  const entry = join(launcherDirectory(runtime), version, entryFile)
  return text.includes(version) && existsSync(entry) ? 'current' : 'outdated'
}

function packagedFiles(): ReadonlyMap<string, string> {
  const directory = packagedDirectory()
  const read = (folder: string, place: (name: string) => string): [string, string][] =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.cjs'))
      .toSorted()
      .map((file) => [place(file), readFileSync(join(folder, file), 'utf8')])
  const manifest = readFileSync(join(directory, '../../package.json'), 'utf8')
  const { name, version }: { name?: unknown; version?: unknown } = JSON.parse(manifest)
  return new Map([
    ['package.json', `${JSON.stringify({ name, version })}\n`],
    ...read(directory, (file) => `dist/hook/${file}`),
    ...read(join(directory, 'libraries'), (file) =>
      join('node_modules', file.replace(/\.cjs$/, ''), 'index.js'),
    ),
  ])
}

/** Below `dist` from a bundle, and beside `src` from a checkout. */
function packagedDirectory(): string {
  const pathOf = (place: string): string => fileURLToPath(new URL(place, import.meta.url))
  const places = ['../hook/', '../../dist/hook/'].map(pathOf)
  const found = places.find((place) => existsSync(join(place, 'hook.cjs')))
  if (found !== undefined) return found
  const message = 'the hook is missing from this installation of skillrail'
  const hint = 'Install the package again; in a checkout run: npm run build'
  throw new SkillrailError({ code: 'hook-not-built', message, hint })
}

function versionOf(files: ReadonlyMap<string, string>): string {
  return sha256([...files].flat().join('\0')).slice('sha256:'.length, 'sha256:'.length + 16)
}

/** On Windows also the one for POSIX shells, which is what the command in a project's file calls. */
function launcherTexts(runtime: Runtime, entry: string): ReadonlyMap<string, string> {
  const directory = launcherDirectory(runtime)
  const node = process.execPath
  const isWindows = runtime.platform === 'win32'
  const word = (path: string) => shellWord(isWindows ? path.replaceAll('\\', '/') : path)
  const posix = launcherText('sh', { node: word(node), entry: word(entry) })
  const windows = windowsLauncher({ node, entry: relative(directory, entry) })
  return new Map([
    ...(isWindows ? [[launcherPath(runtime), windows] as const] : []),
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

/** `node`: the one that installed it, tried first: clients started from a desktop have a poor PATH. */
type LauncherTarget = { node: string; entry: string }

/** The launcher for Windows, not run by us: it takes the hook beside it, and Node from PATH alone. */
export function windowsLauncher({ node, entry }: LauncherTarget): string {
  const escaped = (path: string): string => path.replaceAll('%', '%%')
  const places = { node: escaped(node), entry: escaped(entry.replaceAll('/', '\\')) }
  return launcherText('cmd', places).replaceAll('\n', '\r\n')
}

export function launcherText(kind: 'sh' | 'cmd', { node, entry }: LauncherTarget): string {
  const path = new URL(`../../plugins/launcher/skillrail-hook.${kind}`, import.meta.url)
  const text = readFileSync(fileURLToPath(path), 'utf8')
  return text.replaceAll('@NODE@', () => node).replaceAll('@ENTRY@', () => entry)
}

/** In every command that we register: by this an entry is known to be ours. */
export const launcherName = 'skillrail-hook'

/** The directory of the hook that clients call: a fixed path, independent of the package's. */
export function launcherDirectory(runtime: Pick<Runtime, 'env' | 'home'>): string {
  return join(userDirectories(runtime).data, 'hook')
}

export function launcherPath(runtime: Pick<Runtime, 'env' | 'home' | 'platform'>): string {
  const name = runtime.platform === 'win32' ? `${launcherName}.cmd` : launcherName
  return join(launcherDirectory(runtime), name)
}
