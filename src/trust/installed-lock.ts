import { createHash } from 'node:crypto'
import { type Dirent, readdirSync, readlinkSync } from 'node:fs'
import { basename, isAbsolute, join, posix } from 'node:path'
import { compareText, type Diagnostic } from '../core/diagnostic.ts'
import { isObject } from '../core/json.ts'
import { readRegularFile } from '../core/read-files.ts'
import type { Runtime } from '../core/runtime.ts'
import { cannotBe, readInChunks } from './digest-file.ts'
import { type JsonProblem, parseProjectJson, problemAt } from './project-json.ts'
import { maxBytes, maxEntries } from './skill-files.ts'

interface InstalledSkill {
  name: string
  /** `owner/repo`, an address or a path, as it was recorded; only for the reader. */
  source: string
  /** Lower-case hexadecimal: SHA-256 of the files, or the 40 digits of their tree in Git. Empty: none was recorded. */
  computedHash: string
}

interface InstalledReading {
  /** `none`: there is no such file. */
  state: 'none' | 'read' | 'unreadable'
  path: string
  skills: readonly InstalledSkill[]
  diagnostics: readonly Diagnostic[]
}

/** `missing`: no skill lies in such a directory. `unrecorded`: there is no hash to compare with. */
export interface InstalledState extends InstalledSkill {
  state: 'same' | 'changed' | 'missing' | 'unrecorded'
  /** Absolute; of each copy that is not the same, else of all. */
  directories: readonly string[]
  problem?: string | undefined
}

const projectLock = {
  fileName: 'skills-lock.json',
  version: 1,
  hash: 'computedHash',
  looks: /^[0-9a-f]{64}$/,
  words: 'a computedHash of 64 hexadecimal digits',
  followSymlinks: false,
}

/**
 * Reads `skills-lock.json`, version 1, which the `skills` command keeps in a project. An entry that
 * cannot be understood is an error of its own; an unknown version makes the whole file one.
 */
export function readInstalledLock(directory: string): InstalledReading {
  return readLockOf(directory, projectLock)
}

/** The same of `.skill-lock.json`, version 3, for what a user installed for all projects. */
export function readUserInstalledLock(runtime: Pick<Runtime, 'env' | 'home'>): InstalledReading {
  const state = runtime.env['XDG_STATE_HOME'] ?? ''
  return readLockOf(!isAbsolute(state) ? join(runtime.home, '.agents') : join(state, 'skills'), {
    fileName: '.skill-lock.json',
    version: 3,
    hash: 'skillFolderHash',
    looks: /^(?:[0-9a-f]{64}|[0-9a-f]{40})?$/,
    words: 'a skillFolderHash of 64 or 40 hexadecimal digits',
    followSymlinks: true,
  })
}

export function userSkillDirectory(name: string, { home }: Pick<Runtime, 'home'>): string {
  return join(home, '.agents', 'skills', directoryName(name))
}

function readLockOf(directory: string, form: typeof projectLock): InstalledReading {
  const { fileName, version, hash, looks, words, followSymlinks } = form
  const path = join(directory, fileName)
  const errorOf = (code: string, problem: Partial<JsonProblem>): Diagnostic => {
    const hint = 'The skills command writes this file: install the skills again with it.'
    const message = `${fileName} ${problem.message}`
    return { code, severity: 'error', ...problem, message, path, hint }
  }
  const unreadable = (code: string, problem: Partial<JsonProblem>): InstalledReading => {
    return { state: 'unreadable', path, skills: [], diagnostics: [errorOf(code, problem)] }
  }
  const file = readRegularFile(path, { maxBytes: 16 * 1024 * 1024, followSymlinks })
  if (!file.ok && file.code === 'file-missing') {
    return { state: 'none', path, skills: [], diagnostics: [] }
  }
  if (!file.ok) return unreadable('installed-lock-unreadable', file)
  const parsed = parseProjectJson(file.text)
  if (!parsed.ok) return unreadable('installed-lock-corrupt', parsed.problem)
  const at = (place: readonly string[], message: string) => problemAt(file.text, place, message)
  const { version: found, skills: entries } = isObject(parsed.value) ? parsed.value : {}
  if (found !== version) {
    const message = `has version ${JSON.stringify(found)}; this Skillrail knows ${version}`
    return unreadable('installed-lock-version', at(['version'], message))
  }
  if (!isObject(entries)) {
    return unreadable('installed-lock-corrupt', at(['skills'], 'must have skills by name here'))
  }
  const skills: InstalledSkill[] = []
  const diagnostics: Diagnostic[] = []
  for (const [name, entry] of Object.entries(entries)) {
    const { source, [hash]: computedHash } = isObject(entry) ? entry : {}
    if (typeof computedHash === 'string' && looks.test(computedHash)) {
      skills.push({ name, source: typeof source === 'string' ? source : '', computedHash })
    } else {
      const problem = at(['skills', name], `has a skill here without ${words}`)
      diagnostics.push(errorOf('installed-lock-entry', problem))
    }
  }
  const sorted = skills.toSorted((a, b) => compareText(a.name, b.name))
  return { state: 'read', path, skills: sorted, diagnostics }
}

/**
 * Compares what was installed with what is there. The hash was taken from where a skill came from, so
 * one whose source had `metadata.json`, links or `__pycache__` never has it again.
 * @param directories of the skills that are there, absolute.
 */
export function installedStates(
  installed: readonly InstalledSkill[],
  directories: readonly string[],
): InstalledState[] {
  return installed.map((skill) => {
    const { name, computedHash } = skill
    const here = directories.filter((directory) => basename(directory) === directoryName(name))
    if (here.length === 0) return { ...skill, state: 'missing', directories: [] }
    if (computedHash === '') return { ...skill, state: 'unrecorded', directories: here }
    const hashOf = computedHash.length === 40 ? gitTreeHash : installedHash
    const different = here
      .map((directory) => ({ directory, hash: hashOf(directory) }))
      .filter(({ hash }) => !hash.ok || !hash.hashes.includes(computedHash))
    if (different.length === 0) return { ...skill, state: 'same', directories: here }
    const [problem] = different.flatMap(({ hash }) => (hash.ok ? [] : [hash.problem]))
    const changed = different.map(({ directory }) => directory)
    return { ...skill, state: 'changed', directories: changed, problem }
  })
}

/** The directory that the `skills` command (1.7) installs a skill of this name in. */
function directoryName(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9._]+/g, '-')
  return plain.replaceAll(/^[.-]+|(?<![.-])[.-]+$/g, '').slice(0, 255) || 'unnamed-skill'
}

type InstalledHash = { ok: true; hashes: readonly string[] } | { ok: false; problem: string }

const installedLimits = { entries: maxEntries, bytes: maxBytes }

class Unreadable extends Error {}

function hashOrProblem(hash: () => readonly string[]): InstalledHash {
  try {
    return { ok: true, hashes: hash() }
  } catch (error) {
    const problem = error instanceof Unreadable ? error.message : cannotBe('listed', error)
    return { ok: false, problem }
  }
}

type LimitedReader = ReturnType<typeof limitedReader>

/** Lists and reads the files of one skill, of which neither number nor bytes may be too large. */
function limitedReader(directory: string, { entries, bytes }: typeof installedLimits) {
  let entriesLeft = entries
  let bytesLeft = bytes
  return {
    list(way: string): Dirent[] {
      const found = readdirSync(join(directory, way), { withFileTypes: true })
      entriesLeft -= found.length
      if (entriesLeft < 0) throw new Unreadable(`has more than ${entries} entries`)
      return found
    },
    /** Returns whether the file may be executed. */
    read(path: string, take: (chunk: Buffer) => void): boolean {
      const reading = readInChunks(join(directory, path), (chunk) => {
        bytesLeft -= chunk.length
        take(chunk)
      })
      if (bytesLeft < 0) throw new Unreadable(`has more than ${bytes / 1024 / 1024} MiB`)
      if (!reading.ok) throw new Unreadable(`${path} ${reading.problem}`)
      return reading.executable
    },
  }
}

/**
 * The `computedHash` of the `skills` command (1.7) for a directory: SHA-256 over path and content of
 * every regular file, without `.git`, `node_modules` and links, in the order of `localeCompare`. That
 * order depends on the language of the machine, so there may be two: English, then this machine's.
 */
export function installedHash(directory: string, limits = installedLimits): InstalledHash {
  return hashOrProblem(() => {
    const paths = filePaths(limitedReader(directory, limits), '')
    const english = paths.toSorted((a, b) => a.localeCompare(b, 'en-US'))
    const local = paths.toSorted((a, b) => a.localeCompare(b))
    const isSame = local.every((path, index) => path === english[index])
    return (isSame ? [english] : [english, local]).map((order) => {
      const reader = limitedReader(directory, limits)
      const hash = createHash('sha256')
      for (const path of order) {
        hash.update(path)
        reader.read(path, (chunk) => hash.update(chunk))
      }
      return hash.digest('hex')
    })
  })
}

function filePaths(reader: LimitedReader, way: string): string[] {
  return reader.list(way).flatMap((entry) => {
    const path = posix.join(way, entry.name)
    if (entry.isFile()) return [path]
    const isOpen = entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules'
    return isOpen ? filePaths(reader, path) : []
  })
}

/**
 * The name that Git (with SHA-1) gives the tree of a directory: every file with its executable bit,
 * links by where they lead, no `.git` and no directory without files.
 */
export function gitTreeHash(directory: string, limits = installedLimits): InstalledHash {
  const reader = limitedReader(directory, limits)
  return hashOrProblem(() => [(treeOf('') ?? objectName('tree', [])).toString('hex')])

  function treeOf(way: string): Buffer | undefined {
    // Git compares a directory as if its name ended with a slash.
    const sortedAs = (entry: Dirent) => Buffer.from(entry.name + (entry.isDirectory() ? '/' : ''))
    const lines = reader
      .list(way)
      .filter(({ name }) => name !== '.git')
      .toSorted((a, b) => Buffer.compare(sortedAs(a), sortedAs(b)))
      .flatMap((entry) => {
        const path = posix.join(way, entry.name)
        const [mode, name] = entry.isDirectory() ? ['40000', treeOf(path)] : blobOf(path, entry)
        return name === undefined ? [] : [Buffer.from(`${mode} ${entry.name}\0`), name]
      })
    return lines.length === 0 ? undefined : objectName('tree', lines)
  }

  function blobOf(path: string, entry: Dirent): [mode: string, name: Buffer] {
    if (entry.isSymbolicLink()) {
      return ['120000', objectName('blob', [readlinkSync(join(directory, path), 'buffer')])]
    }
    const chunks: Buffer[] = []
    const executable = reader.read(path, (chunk) => void chunks.push(chunk))
    return [executable ? '100755' : '100644', objectName('blob', chunks)]
  }
}

function objectName(kind: 'blob' | 'tree', parts: readonly Uint8Array[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  const hash = createHash('sha1').update(`${kind} ${size}\0`)
  for (const part of parts) hash.update(part)
  return hash.digest()
}
