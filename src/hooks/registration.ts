import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientFolder } from '#core/client-folders'
import { statsOf } from '#core/read-files'
import { inspectConfiguration } from '#core/configuration'
import { SkillrailError } from '#core/errors'
import { hexDigest, indentedJson } from '#core/json'
import { findProgram } from '#core/find-program'
import { isInProject, packageVersion, type Runtime, userDirectories } from '#core/runtime'
import { shellWord } from '#core/text'
import { writeFileAtomic } from '#core/write-files'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import {
  adapters,
  type FileText,
  launcherName,
  type Platform,
  timeLimitSeconds,
  turnEndSeconds,
} from './adapters.ts'
import { guardedCommand } from './guarded-command.ts'

export type HookScope = 'user' | 'project'
type Place = Pick<Runtime, 'cwd' | 'env' | 'home' | 'platform'>

/** The command line of each part. It must not change: clients that trust it by its text ask again. */
export function hookCommands(
  runtime: Place,
  platform: Platform,
  scope: HookScope,
  parts: number,
): string[] {
  return hookArguments(platform, parts).map((argument) => {
    const isWindows = runtime.platform === 'win32'
    if (scope === 'user' && isWindows) return `${windowsStart(runtime, platform)} ${argument}`
    const shared = `"$HOME/${sharedLauncher}"`
    return guardedCommand(scope === 'user' ? shellWord(launcherPath(runtime)) : shared, argument)
  })
}

/**
 * The launcher below the home directory, for commands that a team shares. The commands use no other variable: a
 * project can set variables for its clients, and could choose the program of the hook with one.
 */
const sharedLauncher = `.local/share/skillrail/hook/${launcherName}`

export function hookArguments(platform: Platform, parts: number): string[] {
  if (parts === 1) return [platform]
  return Array.from({ length: parts }, (_, index) => `${platform} ${index + 1}/${parts}`)
}

/** How a Windows shell starts the launcher, whose path may contain blanks. Not tested. */
function windowsStart(runtime: Place, platform: Platform): string {
  const path = launcherPath(runtime)
  const windowsPath = path.replaceAll('/', '\\')
  const { windowsShell } = adapters[platform]
  if (windowsShell === 'bash') return shellWord(path.replaceAll('\\', '/'))
  return windowsShell === 'cmd' ? `"${windowsPath}"` : `& '${windowsPath.replaceAll("'", "''")}'`
}

export function configurationPath(
  platform: Platform,
  runtime: Runtime,
  scope: HookScope,
  workspace: string,
): string {
  const { user, project } = adapters[platform].files
  return scope === 'user' ? join(clientFolder(platform, runtime), user) : join(workspace, project)
}

/** The size of all references of one skill, at most: one prompt can inject so many bytes. */
export function largestInjection(runtime: Runtime): number {
  // Only a size is measured: the status is shown with settings that have errors, too.
  const { settings } = inspectConfiguration(runtime)
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const sums = skills.map(({ directory, fields }) => {
    const files = new Set(fields.triggers.map(({ inject }) => join(directory, inject)))
    const stats = [...files].map((file) => statsOf(file))
    return stats.reduce((sum, file) => sum + (file?.isFile() ? file.size : 0), 0)
  })
  return Math.max(0, ...sums)
}

/** The text of a file that belongs to us, by the command that it calls. */
export const fileTexts = {
  'copilot-hooks': hooksText,
  'opencode-plugin': (command) => pluginText('opencode.js', command),
  'pi-extension': (command) => pluginText('pi.ts', command),
} as const satisfies Record<FileText, (command: string) => string>

/** A file with our hooks only; Copilot CLI reads every file in its folder. */
export function hooksText(command: string): string {
  const { prompt, ...others } = adapters.copilot.events
  const started = command.startsWith('& ') ? command : `& ${command}`
  // A project's command is for POSIX shells; on Windows it is only reported.
  const powershell = command.startsWith('if ') ? '$input | Out-Null' : started
  const handler = { type: 'command', bash: command, powershell, timeoutSec: timeLimitSeconds }
  // The client does not name the event to the hook.
  const at = command.lastIndexOf(' copilot') + ' copilot'.length
  const entries = Object.values(others).map((event) => {
    const bash = `${command.slice(0, at)} ${event}${command.slice(at)}`
    const named = command.startsWith('if ') ? powershell : `& ${bash.replace(/^& /, '')}`
    const timeoutSec = event === adapters.copilot.events.stop ? turnEndSeconds : timeLimitSeconds
    return [event, [{ ...handler, bash, powershell: named, timeoutSec }]]
  })
  const hooks = { [prompt]: [handler], ...Object.fromEntries(entries) }
  return indentedJson({ version: 1, hooks })
}

function pluginText(name: string, command: string): string {
  const path = fileURLToPath(new URL(`../../plugins/source/${name}`, import.meta.url))
  const call = `const command = ${JSON.stringify(command)}`
  return readFileSync(path, 'utf8').replace(/^const command = .*$/m, () => call)
}

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
  const manifest = { name: 'skillrail', version: packageVersion() }
  return new Map([
    ['package.json', `${JSON.stringify(manifest)}\n`],
    ...read(directory, (file) => `dist/hook/${file}`),
    ...read(join(directory, 'libraries'), (file) => `dist/hook/libraries/${file}`),
  ])
}

/** Below `dist` from a bundle, beside `src` from a checkout, and beside `dist` in a package for agent clients. */
function packagedDirectory(): string {
  const pathOf = (place: string): string => fileURLToPath(new URL(place, import.meta.url))
  const places = ['../hook/', '../../dist/hook/', '../../hook/'].map(pathOf)
  const bundle = places.find((place) => existsSync(join(place, 'hook.cjs')))
  if (bundle !== undefined) return bundle
  const message = 'the hook is missing from this installation of skillrail'
  const hint = 'Install the package again; in a checkout run: npm run build'
  throw new SkillrailError({ code: 'hook-not-built', message, hint })
}

function versionOf(files: ReadonlyMap<string, string>): string {
  return hexDigest([...files].flat().join('\0'), 16)
}

/** On Windows also the one for POSIX shells, which is what the command in a project's file calls. */
function launcherTexts(runtime: Runtime, entry: string): ReadonlyMap<string, string> {
  const directory = launcherDirectory(runtime)
  const node = nodeOutside(runtime)
  const isWindows = runtime.platform === 'win32'
  const word = (path: string) => shellWord(isWindows ? path.replaceAll('\\', '/') : path)
  const posix = launcherText('sh', { node: word(node), entry: word(entry) })
  const windows = windowsLauncher({ node, entry: relative(directory, entry) })
  return new Map([
    ...(isWindows ? [[launcherPath(runtime), windows] as const] : []),
    [join(directory, launcherName), posix],
    [join(runtime.home, sharedLauncher), posix],
  ])
}

/** The Node of this process, but never one inside the project. */
function nodeOutside(runtime: Runtime): string {
  const node = process.execPath
  return isInProject(node, runtime.cwd) ? (findProgram('node', runtime) ?? '') : node
}

/** Removes the launcher and the hook. */
export function removeLauncher(runtime: Runtime): void {
  const launchers = launcherDirectory(runtime)
  for (const directory of [launchers, dirname(join(runtime.home, sharedLauncher))]) {
    rmSync(directory, { recursive: true, force: true })
    const parent = dirname(directory)
    if (existsSync(parent) && readdirSync(parent).length === 0) rmdirSync(parent)
  }
}

function removeOldVersions(runtime: Runtime, current: string): void {
  const directory = launcherDirectory(runtime)
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    const stats = statsOf(path)
    const isOld = stats?.isDirectory() === true && runtime.now() - stats.mtimeMs > graceMs
    if (isOld && path !== current) rmSync(path, { recursive: true, force: true })
  }
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** `node` is the Node that installed it. It is tried first, because desktop programs often have a short PATH. */
type LauncherTarget = { node: string; entry: string }

/** The launcher for Windows, not tested: it uses the hook beside it, and Node from PATH only. */
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

/** The directory of the hook that clients call: a fixed path, independent of the package's. */
export function launcherDirectory(runtime: Pick<Runtime, 'cwd' | 'env' | 'home'>): string {
  return join(userDirectories(runtime).data, 'hook')
}

export function launcherPath(runtime: Pick<Runtime, 'cwd' | 'env' | 'home' | 'platform'>): string {
  const name = runtime.platform === 'win32' ? `${launcherName}.cmd` : launcherName
  return join(launcherDirectory(runtime), name)
}
