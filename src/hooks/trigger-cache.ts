import { fingerprint } from '#core/fingerprint'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { clientVariables, sessionFolders } from '#core/client-folders'
import { readRegularFile, statsOf } from '#core/read-files'
import { pluginOfHook, type Runtime, userDirectories } from '#core/runtime'
import { ownVariables } from '#core/variables'
import type { TriggerOccasion } from '#skill/model'
import type { TriggerSkill } from '#trigger/match'
import { allSkillsMark, launcherName } from './adapters.ts'
import type { ChainSkill } from './rail-hook.ts'

/** The triggers of the skills of a working directory, ready to be tested. */
export interface TriggerCache {
  repeat: CacheHeader['repeat']
  /** Tokens that one answer may add. */
  budget: number
  notice: CacheHeader['notice']
  /** Problems with skills that cannot be used; only if the cache was just made. */
  problems: readonly string[]
  pathOf(name: string): string | undefined
  /** The skills with a trigger that can fire on the prompt, in order of precedence. */
  candidates(prompt: string): Iterable<CachedSkill>
  /** The index of examples, if the prompt has words in common with any of them. */
  indexFor(prompt: string): StoredIndex | undefined
  /** The skills with triggers: any, on tool calls, or on tools of MCP servers. */
  skills(on: 'anything' | 'tools' | 'mcp'): Iterable<CachedSkill>
  /** The chain that a user or an agent calls by this name. */
  chainNamed(name: string): ChainSkill | undefined
  /** The projects that have workflows, or had some when they were trusted. */
  workflows: readonly string[]
  named(name: string): CachedSkill | undefined
}

export interface StoredIndex {
  head: string
  read(start: number, end?: number): string
}

export interface CachedSkill extends TriggerSkill {
  trust: TrustMark
}

/** `+` trusted, `?` trusted while everything that can run equals the accepted files, `-` not trusted. */
export type TrustMark = '+' | '?' | '-'

export interface CacheHeader {
  /** Everything that the content depends on, apart from files. */
  key: string
  /** Whether the files had been unchanged for so long that a later change shows in their times. */
  settled: boolean
  repeat: 'prompt' | 'session'
  budget: number
  /** Whether the user sees a line about the references. */
  notice: 'none' | 'line'
  problems: readonly string[]
  /** One list for each fact, because thousands of objects take longer to parse. */
  skills: {
    path: readonly string[]
    changed: readonly number[]
    size: readonly number[]
    name: readonly string[]
    trust: readonly TrustMark[]
    /** A prompt that fires a trigger of the skill contains one of these. */
    needs: readonly (readonly string[])[]
    /** 3 with triggers on tools of MCP servers, 2 with others on tool calls, 1 with others only. */
    triggers: readonly number[]
    /** 1 for a chain, 2 for one that only a person starts, else 0. */
    chain: readonly number[]
  }
  /** Projects that may have workflows. */
  workflows: readonly string[]
  /** How the words of all examples begin; the index of examples has the same number. */
  examples: { beginnings: string; number: number }
  others: readonly StampedFile[]
  /** Paths that only have to exist, or not, as before. */
  existing: readonly { path: string; exists: boolean }[]
}

interface StampedFile {
  path: string
  /** Change time in milliseconds; -1 for a missing file. */
  changed: number
  size: number
}

export type CachedTrigger = [
  match: string,
  inject: string,
  line: number,
  when: TriggerOccasion | null,
  base?: string | null | undefined,
]

export interface CachePlace {
  path: string
  key: string
}

/** The hook of a package keeps its place when the package is updated. */
const headerForm = 2

/** Variables besides our own that decide where skills and configuration are stored. */
const variables = ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', ...clientVariables]

/** One cache for each working directory, home, set of `SKILLRAIL_*` variables, and version of the hook. */
export function cachePlace(runtime: Runtime): CachePlace {
  const { cwd, home, env } = runtime
  // No setting of a hook is a secret, and a cache keeps none. A misspelled one counts as an error.
  const settings = [...variables, ...ownVariables(env).toSorted()].map((name) =>
    /KEY|TOKEN/i.test(name) ? name : `${name}=${env[name] ?? ''}`,
  )
  const folders = sessionFolders(runtime)
  const key = JSON.stringify([headerForm, import.meta.url, cwd, home, ...settings, ...folders])
  return { path: join(cacheDirectory(runtime), `${fingerprint(key)}.jsonl`), key }
}

/** The plugin with skills of its own that this hook is a part of: it serves those, and no others. */
export function ownPlugin(runtime: Pick<Runtime, 'env' | 'cwd'>): string | undefined {
  const root = pluginOfHook(runtime)
  if (root === undefined) return undefined
  const holds = (name: string): boolean => doesExist(join(root, name))
  // A file that was installed for OpenCode or pi also passes its own path.
  const isPlugin = holds(launcherName) && holds('skills') && !holds(allSkillsMark)
  return isPlugin ? root : undefined
}

function readerOf(path: string): StoredIndex['read'] {
  return (start, end = statSync(path).size) => {
    const bytes = Buffer.alloc(end - start)
    const descriptor = openSync(path, 'r')
    const length = readSync(descriptor, bytes, 0, bytes.length, start)
    closeSync(descriptor)
    return bytes.toString('utf8', 0, length)
  }
}

export function indexPath(cache: string): string {
  return `${cache}.index`
}

export function cacheDirectory(runtime: Runtime): string {
  return join(userDirectories(runtime).cache, 'hooks')
}

export function stateDirectory(runtime: Runtime): string {
  return join(userDirectories(runtime).state, 'hooks')
}

/** Reads the cache; undefined if it is missing or damaged, or if any file has changed. */
export function readCache({ path, key }: CachePlace): TriggerCache | undefined {
  try {
    const reading = readRegularFile(path, { maxBytes: Infinity, binary: true, own: true })
    if (!reading.ok) return undefined
    const file = reading.bytes
    const header = headerOf(file)
    const { beginnings: known, number } = header.examples
    const hasIndex =
      known.trim() === '' || readerOf(indexPath(path))(0, 32).startsWith(`${number}\n`)
    const isUsable = header.key === key && header.settled && hasIndex && isCurrent(header)
    return isUsable ? openCache(file, path, header) : undefined
  } catch {
    return undefined
  }
}

/** @param index the index of examples, or its path */
export function openCache(
  file: Buffer,
  index: Buffer | string,
  header = headerOf(file),
): TriggerCache {
  const { path: paths, name: names, trust, needs, triggers, chain: chains } = header.skills
  let lines: readonly string[] | undefined
  const lineAt = (number: number): string => {
    lines ??= file.toString().split('\n')
    return lines[number] ?? ''
  }
  const skillAt = (place: number): CachedSkill => {
    const cached: CachedTrigger[] = JSON.parse(lineAt(place + 1))
    const declared = cached.map(([match, inject, line, when, base]) => {
      return { match, inject, line, when: when ?? undefined, base: base ?? undefined }
    })
    const [name = '', path = '', mark = '-'] = [names[place], paths[place], trust[place]]
    return { name, path, directory: dirname(path), triggers: declared, trust: mark }
  }
  return {
    repeat: header.repeat,
    budget: header.budget,
    notice: header.notice,
    problems: typeof index === 'string' ? [] : header.problems,
    workflows: header.workflows,
    pathOf: (name: string): string | undefined => paths[names.indexOf(name)],
    *candidates(prompt: string) {
      for (const index of paths.keys()) {
        if ((needs[index] ?? []).some((part) => prompt.includes(part))) yield skillAt(index)
      }
    },
    indexFor(prompt: string): StoredIndex | undefined {
      const words = beginnings(prompt.slice(0, 2000))
      const known = words.filter((word) => header.examples.beginnings.includes(` ${word} `))
      if (known.length < Math.min(2, Math.max(1, words.length))) return undefined
      const read =
        typeof index === 'string' ? readerOf(indexPath(index)) : index.toString.bind(index, 'utf8')
      return { head: lineAt(paths.length + 1), read }
    },
    *skills(on) {
      const least = { anything: 1, tools: 2, mcp: 3 }[on]
      for (const [index, kind] of triggers.entries()) {
        if (kind >= least) yield skillAt(index)
      }
    },
    chainNamed(name: string): ChainSkill | undefined {
      const place = names.indexOf(name)
      const [path, kind = 0] = [paths[place], chains[place]]
      return path === undefined || kind === 0 ? undefined : { name, path, personOnly: kind === 2 }
    },
    named(name: string): CachedSkill | undefined {
      const place = names.indexOf(name)
      return place < 0 ? undefined : skillAt(place)
    },
  }
}

/** The first letters of each longer word: they show whether the index of examples must be read. */
export function beginnings(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return [...new Set(words.map((word) => word.slice(0, 4)))]
}

export function stampOf(path: string): StampedFile {
  const stats = statsOf(path)
  return { path, changed: Math.floor(stats?.ctimeMs ?? -1), size: stats?.size ?? -1 }
}

export function doesExist(path: string): boolean {
  return statsOf(path) !== undefined
}

function headerOf(file: Buffer): CacheHeader {
  return JSON.parse(file.toString('utf8', 0, file.indexOf('\n')))
}

function isCurrent({ skills, others, existing }: CacheHeader): boolean {
  const { path: paths, changed, size } = skills
  const isSame = (path: string, oldChanged?: number, oldSize?: number): boolean => {
    const now = stampOf(path)
    return now.changed === oldChanged && now.size === oldSize
  }
  return (
    existing.every(({ path, exists }) => doesExist(path) === exists) &&
    others.every((file) => isSame(file.path, file.changed, file.size)) &&
    paths.every((path, index) => isSame(path, changed[index], size[index]))
  )
}
