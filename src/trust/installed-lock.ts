import { basename, join } from 'node:path'
import {
  compareText,
  type Diagnostic,
  isObject,
  readRegularFile,
  type Runtime,
} from '../base/index.ts'
import { gitTreeHash } from './_git-tree-hash.ts'
import { type InstalledHash, installedHash, installedLimits } from './_installed-hash.ts'
import type { JsonPlace } from './_json-offset.ts'
import { type JsonProblem, parseProjectJson, problemAt } from './_project-json.ts'

/** What the `skills` command recorded about a skill when it installed it. */
export interface InstalledSkill {
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
