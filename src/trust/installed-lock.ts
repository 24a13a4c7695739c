import { createHash } from 'node:crypto'
import { type Dirent, readdirSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compareText, type Diagnostic } from '../core/diagnostic.ts'
import { isObject } from '../core/json.ts'
import { messageOf, systemCode } from '../core/errors.ts'
import { readRegularFile } from '../core/read-files.ts'
import type { Runtime } from '../core/runtime.ts'
import { readInChunks } from './skill-files.ts'
import { type JsonPlace, type JsonProblem, parseProjectJson, problemAt } from './project-json.ts'

/** What the `skills` command recorded about a skill when it installed it. */
interface InstalledSkill {
  name: string
  /** `owner/repo`, an address or a path, as it was recorded; only for the reader. */
  source: string
  /** Lower-case hexadecimal: SHA-256 of the files, or the 40 digits of their tree in Git. Empty: none was recorded. */
  computedHash: string
}

export interface InstalledReading {
  /** `none`: there is no such file. */
  state: 'none' | 'read' | 'unreadable'
  path: string
  /** In the order of names. */
  skills: readonly InstalledSkill[]
  diagnostics: readonly Diagnostic[]
}

/**
 * `changed`: not what was installed. `missing`: no skill lies in such a directory. `unrecorded`: there
 * is nothing to compare it with.
 */
export interface InstalledState extends InstalledSkill {
  state: 'same' | 'changed' | 'missing' | 'unrecorded'
  /** Absolute; of each copy that is not the same, else of all. */
  directories: readonly string[]
  /** Why a copy cannot be read. */
  problem?: string | undefined
}

/** One of the two files that the `skills` command writes. */
interface LockForm {
  fileName: string
  version: number
  /** The member with the hash of a skill, and what it looks like. */
  hash: 'computedHash' | 'skillFolderHash'
  looks: RegExp
  words: string
  followSymlinks: boolean
}

const ofProject: LockForm = {
  fileName: 'skills-lock.json',
  version: 1,
  hash: 'computedHash',
  looks: /^[0-9a-f]{64}$/,
  words: 'a computedHash of 64 hexadecimal digits',
  followSymlinks: false,
}

const ofUser: LockForm = {
  fileName: '.skill-lock.json',
  version: 3,
  hash: 'skillFolderHash',
  looks: /^(?:[0-9a-f]{64}|[0-9a-f]{40})?$/,
  words: 'a skillFolderHash of 64 or 40 hexadecimal digits',
  followSymlinks: true,
}

const maxBytes = 16 * 1024 * 1024

/**
 * Reads `skills-lock.json`, version 1, which the `skills` command keeps in a project. An entry that
 * cannot be understood is an error of its own; a version that is not known makes all of it one.
 */
export function readInstalledLock(directory: string): InstalledReading {
  return readLockOf(ofProject, directory)
}

/** The same of `.skill-lock.json`, version 3, which it keeps for what a user installed for all projects. */
export function readUserInstalledLock({
  env,
  home,
}: Pick<Runtime, 'env' | 'home'>): InstalledReading {
  const state = env['XDG_STATE_HOME'] ?? ''
  return readLockOf(ofUser, state === '' ? join(home, '.agents') : join(state, 'skills'))
}

/** Where the `skills` command puts what a user installed for all projects. */
export function userSkillDirectory(name: string, { home }: Pick<Runtime, 'home'>): string {
  return join(home, '.agents', 'skills', directoryName(name))
}

function readLockOf(form: LockForm, directory: string): InstalledReading {
  const { fileName, version, followSymlinks } = form
  const path = join(directory, fileName)
  const file = readRegularFile(path, { maxBytes, followSymlinks })
  if (!file.ok && file.code === 'file-missing') {
    return { state: 'none', path, skills: [], diagnostics: [] }
  }
  if (!file.ok) return unreadable(errorOf('installed-lock-unreadable', { message: file.message }))
  const { text } = file
  const parsed = parseProjectJson(text)
  if (!parsed.ok) return unreadable(errorOf('installed-lock-corrupt', parsed.problem))
  const { value } = parsed
  const found = isObject(value) ? value['version'] : undefined
  if (found !== version) {
    const message = `has version ${JSON.stringify(found)}; this Skillrail knows ${version}`
    return unreadable(errorAt('installed-lock-version', ['version'], message))
  }
  const entries = isObject(value) ? value['skills'] : undefined
  if (!isObject(entries)) {
    return unreadable(
      errorAt('installed-lock-corrupt', ['skills'], 'must have skills by name here'),
    )
  }
  const skills: InstalledSkill[] = []
  const diagnostics: Diagnostic[] = []
  for (const [name, entry] of Object.entries(entries)) {
    const skill = readEntry(form, name, entry)
    if (skill !== undefined) skills.push(skill)
    else {
      const message = `has a skill here without ${form.words}`
      diagnostics.push(errorAt('installed-lock-entry', ['skills', name], message))
    }
  }
  const sorted = skills.toSorted((a, b) => compareText(a.name, b.name))
  return { state: 'read', path, skills: sorted, diagnostics }

  function unreadable(diagnostic: Diagnostic): InstalledReading {
    return { state: 'unreadable', path, skills: [], diagnostics: [diagnostic] }
  }

  function errorAt(code: string, place: JsonPlace, message: string): Diagnostic {
    return errorOf(code, problemAt(text, place, message))
  }

  function errorOf(
    code: string,
    { message, ...position }: Partial<JsonProblem> & { message: string },
  ): Diagnostic {
    const hint = 'The skills command writes this file: install the skills again with it.'
    return { code, severity: 'error', message: `${fileName} ${message}`, path, ...position, hint }
  }
}

/**
 * Compares what was installed with what is there. The hash was taken from where a skill came from, so
 * one whose source had `metadata.json`, links or `__pycache__`, which are not installed as they are,
 * never has it again.
 *
 * @param directories of the skills that are there, absolute.
 */
export function installedStates(
  installed: readonly InstalledSkill[],
  directories: readonly string[],
): InstalledState[] {
  return installed.map((skill) => {
    const wanted = directoryName(skill.name)
    const here = directories.filter((directory) => basename(directory) === wanted)
    if (here.length === 0) return { ...skill, state: 'missing', directories: [] }
    if (skill.computedHash === '') return { ...skill, state: 'unrecorded', directories: here }
    const results = here.map((directory) => ({ directory, hash: hashLike(skill, directory) }))
    const different = results.filter(
      ({ hash }) => !hash.ok || !hash.hashes.includes(skill.computedHash),
    )
    if (different.length === 0) return { ...skill, state: 'same', directories: here }
    const problem = different
      .map(({ hash }) => (hash.ok ? undefined : hash.problem))
      .find((each) => each !== undefined)
    const changed = different.map(({ directory }) => directory)
    return { ...skill, state: 'changed', directories: changed, problem }
  })
}

/** The hash of what is there, of the kind that was recorded. */
function hashLike({ computedHash }: InstalledSkill, directory: string): InstalledHash {
  const isTree = computedHash.length === 40
  return isTree ? gitTreeHash(directory, installedLimits) : installedHash(directory)
}

function readEntry(form: LockForm, name: string, entry: unknown): InstalledSkill | undefined {
  if (!isObject(entry)) return undefined
  const { source, [form.hash]: computedHash } = entry
  if (typeof computedHash !== 'string' || !form.looks.test(computedHash)) return undefined
  return { name, source: typeof source === 'string' ? source : '', computedHash }
}

/** The directory that the `skills` command (1.7) installs a skill of this name in. */
function directoryName(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9._]+/g, '-')
  return plain.replaceAll(/^[.-]+|(?<![.-])[.-]+$/g, '').slice(0, 255) || 'unnamed-skill'
}

type InstalledHash = { ok: true; hashes: readonly string[] } | { ok: false; problem: string }

interface InstalledLimits {
  /** Files and directories. */
  entries: number
  bytes: number
}

/** Of a skill, as where it is locked. */
const installedLimits: InstalledLimits = { entries: 20_000, bytes: 256 * 1024 * 1024 }

/**
 * The `computedHash` of the `skills` command (1.7) for a directory: SHA-256 over path and content of
 * every regular file, without `.git`, `node_modules` and links, in the order of `localeCompare`. That
 * order depends on the language of the machine, so there may be two: English, then this machine's.
 */
export function installedHash(
  directory: string,
  limits: InstalledLimits = installedLimits,
): InstalledHash {
  const listing: Listing = { paths: [], left: limits.entries }
  const problem = listFiles(directory, '', listing)
  const { paths } = listing
  if (listing.left < 0) return { ok: false, problem: `has more than ${limits.entries} entries` }
  if (problem !== undefined) return { ok: false, problem }
  const orders = [paths.toSorted(inEnglish), paths.toSorted((a, b) => a.localeCompare(b))]
  const different = new Map(orders.map((order) => [order.join('\0'), order]))
  const hashes: string[] = []
  for (const order of different.values()) {
    const hash = createHash('sha256')
    let size = 0
    for (const path of order) {
      hash.update(path)
      const take = (bytes: Buffer): void => {
        hash.update(bytes)
        size += bytes.length
      }
      const reading = readInChunks(join(directory, path), take)
      if (size > limits.bytes) {
        return { ok: false, problem: `has more than ${limits.bytes / 1024 / 1024} MiB` }
      }
      if (!reading.ok) return { ok: false, problem: `${path} ${reading.problem}` }
    }
    hashes.push(hash.digest('hex'))
  }
  return { ok: true, hashes }
}

function inEnglish(a: string, b: string): number {
  return a.localeCompare(b, 'en-US')
}

interface Listing {
  paths: string[]
  /** Number of further entries that may be read. */
  left: number
}

/** Why the files cannot be listed, or undefined. */
function listFiles(directory: string, way: string, listing: Listing): string | undefined {
  try {
    for (const entry of readdirSync(join(directory, way), { withFileTypes: true })) {
      const path = way === '' ? entry.name : `${way}/${entry.name}`
      listing.left--
      if (listing.left < 0) return undefined
      if (entry.isFile()) listing.paths.push(path)
      if (!entry.isDirectory() || entry.name === '.git' || entry.name === 'node_modules') continue
      const problem = listFiles(directory, path, listing)
      if (problem !== undefined) return problem
    }
    return undefined
  } catch (error) {
    return `cannot be listed: ${systemCode(error) ?? messageOf(error)}`
  }
}

/**
 * The name that Git (with SHA-1) gives the tree of a directory: every file with its executable bit,
 * links by where they lead, no `.git` and no directory without files.
 */
export function gitTreeHash(directory: string, limits: InstalledLimits): InstalledHash {
  let { entries, bytes } = limits
  try {
    return { ok: true, hashes: [(treeOf('') ?? objectName('tree', [])).toString('hex')] }
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: error.message }
    return { ok: false, problem: `cannot be listed: ${systemCode(error) ?? messageOf(error)}` }
  }

  function treeOf(way: string): Buffer | undefined {
    const lines = readdirSync(join(directory, way), { withFileTypes: true })
      .filter(({ name }) => name !== '.git')
      .toSorted((a, b) => Buffer.compare(sortedAs(a), sortedAs(b)))
      .flatMap((entry) => {
        entries--
        if (entries < 0) throw new Unreadable(`has more than ${limits.entries} entries`)
        const path = way === '' ? entry.name : `${way}/${entry.name}`
        const found = entry.isDirectory()
          ? { mode: '40000', name: treeOf(path) }
          : blobOf(path, entry)
        return found.name === undefined
          ? []
          : [Buffer.from(`${found.mode} ${entry.name}\0`), found.name]
      })
    return lines.length === 0 ? undefined : objectName('tree', lines)
  }

  function blobOf(path: string, entry: Dirent): { mode: string; name: Buffer | undefined } {
    const place = join(directory, path)
    if (entry.isSymbolicLink()) {
      return { mode: '120000', name: objectName('blob', [readlinkSync(place, 'buffer')]) }
    }
    const chunks: Buffer[] = []
    const reading = readInChunks(place, (chunk) => void chunks.push(Buffer.from(chunk)))
    if (!reading.ok) throw new Unreadable(`${path} ${reading.problem}`)
    bytes -= chunks.reduce((size, chunk) => size + chunk.length, 0)
    if (bytes < 0) throw new Unreadable(`has more than ${limits.bytes / 1024 / 1024} MiB`)
    return { mode: reading.executable ? '100755' : '100644', name: objectName('blob', chunks) }
  }
}

class Unreadable extends Error {}

/** Git compares a directory as if its name ended with a slash. */
function sortedAs(entry: Dirent): Buffer {
  return Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name)
}

function objectName(kind: 'blob' | 'tree', parts: readonly Uint8Array[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  const hash = createHash('sha1').update(`${kind} ${size}\0`)
  for (const part of parts) hash.update(part)
  return hash.digest()
}
