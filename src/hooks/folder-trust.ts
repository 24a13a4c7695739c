import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, parse } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import { isInside, readRegularFile, realPathOf } from '../core/read-files.ts'
import { isObject } from '../core/json.ts'
import { messageOf } from '../core/errors.ts'
import type { Runtime } from '../core/runtime.ts'
import { upTo } from '../trust/project-files.ts'
import { adapters, type Platform } from './adapters.ts'
import { clientHome } from './registration.ts'

/** What a client thinks of a folder, as its own files say it. We only read them. */
export interface FolderTrust {
  state:
    | 'trusted'
    /** The user, or a setting, has decided against it. */
    | 'untrusted'
    /** Nobody has been asked yet. */
    | 'open'
    /** The client asks about no folder, or is set not to. */
    | 'not-asked'
    /** There is nothing that could be read, or it could not be read. */
    | 'unknown'
  reason: string
}

/** Whether a client trusts a folder, given as a real path. A missing or broken file is an answer. */
export async function folderTrust(platform: Platform, folder: string, runtime: Runtime) {
  try {
    return await readers[platform](folder, runtime)
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error
    return { state: 'unknown', reason: error.message } satisfies FolderTrust
  }
}

/** A reader throws {@link UnreadableFile} for a file that is there and cannot be read. */
type Reader = (folder: string, runtime: Runtime) => FolderTrust | Promise<FolderTrust>

const readers = {
  claude: claudeTrust,
  codex: codexTrust,
  copilot: copilotTrust,
  cursor: () => ({
    state: 'unknown',
    reason: 'Cursor stores it where other programs cannot read it',
  }),
  gemini: geminiTrust,
  opencode: () => ({ state: 'not-asked', reason: 'OpenCode asks about no folder' }),
  pi: () => ({ state: 'not-asked', reason: 'pi asks about no folder' }),
  qwen: qwenTrust,
} as const satisfies Record<Platform, Reader>

/**
 * Claude Code 2.1.197: `projects` of its own file, of the folder, of one above it, or of the root of
 * the repository. What is not there has not been asked.
 */
function claudeTrust(folder: string, runtime: Runtime): FolderTrust {
  // Beside its directory, or in it where a variable moves it; an older name in the directory takes precedence.
  const older = join(clientHome(adapters.claude, runtime), '.config.json')
  const newer = join(runtime.env['CLAUDE_CONFIG_DIR'] || runtime.home, '.claude.json')
  const path = existsSync(older) ? older : newer
  const projects = valueAt(readObject(path), 'projects')
  const isAccepted = (candidate: string): boolean => {
    const key = runtime.platform === 'win32' ? candidate.replaceAll('\\', '/') : candidate
    return valueAt(projects, key, 'hasTrustDialogAccepted') === true
  }
  const candidates = [...upTo(folder, parse(folder).root), repositoryRoot(folder) ?? folder]
  const accepted = candidates.find(isAccepted)
  return inFolder(accepted, path, 'accepted')
}

function inFolder(found: string | undefined, path: string, word: string): FolderTrust {
  if (found === undefined) {
    return { state: 'open', reason: `it is in no folder that ${path} has as ${word}` }
  }
  return { state: 'trusted', reason: `${path} has ${found} as ${word}` }
}

/** Codex 0.169.0: `projects` in its configuration, of the folder or of the root of the repository. */
async function codexTrust(folder: string, runtime: Runtime): Promise<FolderTrust> {
  const path = join(clientHome(adapters.codex, runtime), 'config.toml')
  const { parse: parseToml } = await import('smol-toml')
  const text = readText(path) ?? ''
  let projects: unknown
  try {
    projects = valueAt(parseToml(text), 'projects')
  } catch (error) {
    throw new UnreadableFile(`${path} is not TOML: ${messageOf(error).split('\n')[0]}`)
  }
  for (const candidate of [folder, repositoryRoot(folder) ?? folder]) {
    const level = valueAt(projects, candidate, 'trust_level')
    if (level === 'trusted' || level === 'untrusted') {
      return { state: level, reason: `${path} has ${candidate} as ${level}` }
    }
  }
  return { state: 'open', reason: `${path} says nothing about it` }
}

/**
 * Copilot CLI 1.0.102: a list in the file that it manages itself, under a new name and an older one,
 * which it moves to the new one when it starts. A folder above counts too.
 */
function copilotTrust(folder: string, runtime: Runtime): FolderTrust {
  const path = join(clientHome(adapters.copilot, runtime), 'config.json')
  const file = readObject(path)
  const trusted = ['trustedFolders', 'trusted_folders']
    .map((key) => valueAt(file, key))
    .flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
    .filter((item) => typeof item === 'string')
    .find((candidate) => isInside(realPathOf(candidate) ?? candidate, folder))
  return inFolder(trusted, path, 'trusted')
}

/**
 * Gemini CLI 0.61.0: variables first, then whether it asks at all (it does where no setting says
 * otherwise), then the rule with the longest path that has the folder in it.
 */
function geminiTrust(folder: string, runtime: Runtime): FolderTrust {
  const { env } = runtime
  const variable = env['GEMINI_CLI_TRUST_WORKSPACE']
  const reason = `GEMINI_CLI_TRUST_WORKSPACE is ${variable}`
  if (env['GEMINI_RESTRICTED_MODE'] === 'true') {
    return { state: 'untrusted', reason: 'GEMINI_RESTRICTED_MODE is true' }
  }
  if (variable === 'true') return { state: 'trusted', reason }
  if (variable === 'false') return { state: 'untrusted', reason }
  const home = clientHome(adapters.gemini, runtime)
  const settings = asksFor(home)
  if (settings.asks === false) {
    return { state: 'not-asked', reason: `${settings.path} turns the question off` }
  }
  const path = env['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] || join(home, 'trustedFolders.json')
  const [rule] = rulesIn(path)
    .filter(({ covers }) => isInside(realPathOf(covers) ?? covers, folder))
    .toSorted((a, b) => b.place.length - a.place.length)
  return verdictOf(rule, path)
}

/**
 * Qwen Code 0.15.10: it asks only where a setting says so; a rule that trusts holds for everything
 * below, one that does not for its folder alone, and trust takes precedence.
 */
function qwenTrust(folder: string, runtime: Runtime): FolderTrust {
  const home = clientHome(adapters.qwen, runtime)
  const settings = asksFor(home)
  if (settings.asks !== true) {
    return { state: 'not-asked', reason: `${settings.path} does not turn the question on` }
  }
  const path = runtime.env['QWEN_CODE_TRUSTED_FOLDERS_PATH'] || join(home, 'trustedFolders.json')
  const rules = rulesIn(path)
  const rule =
    rules.find(({ covers, level }) => trusting.has(level) && isInside(covers, folder)) ??
    rules.find(({ place, level }) => level === 'DO_NOT_TRUST' && place === folder)
  return verdictOf(rule, path)
}

/** Whether Gemini CLI, or Qwen Code, which began as a copy of it, is set to ask about folders. */
function asksFor(home: string): { path: string; asks: unknown } {
  const path = join(home, 'settings.json')
  return { path, asks: valueAt(readObject(path), 'security', 'folderTrust', 'enabled') }
}

interface FolderRule {
  place: string
  level: unknown
  covers: string
}

const trusting: ReadonlySet<unknown> = new Set(['TRUST_FOLDER', 'TRUST_PARENT'])

function rulesIn(path: string): FolderRule[] {
  return Object.entries(readObject(path) ?? {}).map(([place, level]) => {
    return { place, level, covers: level === 'TRUST_PARENT' ? dirname(place) : place }
  })
}

function verdictOf(rule: FolderRule | undefined, path: string): FolderTrust {
  if (rule === undefined || !(trusting.has(rule.level) || rule.level === 'DO_NOT_TRUST')) {
    return { state: 'open', reason: `no rule in ${path} is about it` }
  }
  const state = trusting.has(rule.level) ? 'trusted' : 'untrusted'
  return { state, reason: `${path} says ${String(rule.level)} of ${rule.place}` }
}

/** The root of the repository around a folder; of a linked work tree the root of its main one. */
function repositoryRoot(folder: string): string | undefined {
  const root = upTo(folder, parse(folder).root).find((candidate) =>
    existsSync(join(candidate, '.git')),
  )
  if (root === undefined) return undefined
  const link = readRegularFile(join(root, '.git'), { maxBytes: 65_536 })
  const main = /^gitdir: (.+)[/\\]\.git[/\\]worktrees[/\\][^/\\]+$/.exec(link.ok ? link.text : '')
  return main?.[1] ?? root
}

class UnreadableFile extends Error {}

function readText(path: string): string | undefined {
  const reading = readRegularFile(path, { maxBytes: 64 * 1024 * 1024 })
  if (reading.ok) return reading.text
  if (reading.code === 'file-missing') return undefined
  throw new UnreadableFile(reading.message)
}

/** The object in a client's JSON file, which may have comments; undefined where there is no file. */
function readObject(path: string): Readonly<Record<string, unknown>> | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  const parser: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const errors: Jsonc.ParseError[] = []
  const value: unknown = parser.parse(text, errors, { allowTrailingComma: true })
  if (errors.length === 0 && isObject(value)) return value
  throw new UnreadableFile(`${path} holds no JSON object`)
}

function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}
