import { closeSync, type Dirent, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../core/diagnostic.ts'
import { lookProblem } from '../core/errors.ts'
import { resolveInside } from '../core/read-files.ts'
import { interpreterFor } from './script.ts'

export interface Script {
  path: string
  relative: string
  file: string
  args: readonly string[]
}

export type ScriptSearch =
  | { kind: 'found'; script: Script }
  | { kind: 'none' }
  | { kind: 'broken'; diagnostic: Diagnostic }

/**
 * The script that executes a skill: what its `run` field names, else the one conventional file
 * `scripts/run`, `scripts/run.sh`, `.mjs`, `.js`, `.ts` or `.py`. It must lie inside the skill.
 */
export function findScript(directory: string, run: string | undefined): ScriptSearch {
  if (run !== undefined) return openScript(directory, run)
  return conventionalScript(directory, 'run')
}

export function findVerifyScript(directory: string): ScriptSearch {
  return conventionalScript(directory, 'verify')
}

const hints = {
  run: 'Keep one of them, or name it in the field run.',
  verify: 'Keep one of them.',
} as const

function conventionalScript(directory: string, stem: keyof typeof hints): ScriptSearch {
  const entries = entriesOf(directory)
  if (!Array.isArray(entries)) return entries
  const present = scriptsNamed(directory, entries, stem)
  const [only, second] = present
  if (only === undefined) return { kind: 'none' }
  if (second === undefined) return openScript(directory, only)
  const message = `there are ${present.length} scripts that could ${stem} this skill: ${present.join(', ')}`
  return broken('script-ambiguous', directory, message, hints[stem])
}

const extensions = ['', '.sh', '.mjs', '.js', '.ts', '.py']

/** What lies in `scripts`, or why that cannot be said. */
type Entries = Dirent[] | BrokenSearch
type BrokenSearch = Extract<ScriptSearch, { kind: 'broken' }>

/** One look at the directory is several times cheaper than one at each possible name. */
function entriesOf(directory: string): Entries {
  const path = join(directory, 'scripts')
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    const reason = lookProblem(error)
    return reason === undefined ? [] : unreadable(directory, 'scripts', reason)
  }
}

function scriptsNamed(directory: string, entries: readonly Dirent[], stem: string): string[] {
  return extensions.flatMap((extension) => {
    const name = `${stem}${extension}`
    const entry = entries.find((candidate) => candidate.name === name)
    return entry !== undefined && isMeant(directory, entry) ? [`scripts/${name}`] : []
  })
}

function openScript(directory: string, relative: string): ScriptSearch {
  const inside = resolveInside(directory, relative)
  if (!inside.ok) {
    const reason = inside.code === 'path-missing' ? problemAt(join(directory, relative)) : undefined
    if (reason !== undefined) return unreadable(directory, relative, reason)
    return broken(
      inside.code === 'path-missing' ? 'script-missing' : 'script-outside',
      directory,
      `the script ${relative} cannot be used: ${inside.message}`,
      'Name a file below the directory of the skill.',
    )
  }
  const { head, executable, problem } = lookInto(inside.path)
  const { platform } = process
  const interpreter = interpreterFor({ path: inside.path, head, executable, platform })
  // A program may be executed by whom it cannot be read; an interpreter has to read its script.
  if (problem !== undefined && interpreter?.file !== inside.path) {
    return unreadable(directory, relative, problem)
  }
  if (interpreter === undefined) {
    return broken(
      'script-not-executable',
      directory,
      `the script ${relative} names no interpreter`,
      'Begin it with a line such as #!/bin/sh, give it a known extension (.sh .mjs .js .ts .py), or set its run bit.',
    )
  }
  return { kind: 'found', script: { path: inside.path, relative, ...interpreter } }
}

/** A link that leads nowhere is meant too: whoever opens it says what is wrong with it. */
function isMeant(directory: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile()
  try {
    return statSync(join(directory, 'scripts', entry.name)).isFile()
  } catch {
    return true
  }
}

/** Why a path cannot be looked at; undefined where it can, or where there is nothing. */
function problemAt(path: string): string | undefined {
  try {
    statSync(path)
    return undefined
  } catch (error) {
    return lookProblem(error)
  }
}

interface Look {
  /** The first bytes, of which each is a character. */
  head: string
  executable: boolean
  problem?: string | undefined
}

const headBytes = 256

function lookInto(path: string): Look {
  try {
    const descriptor = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(headBytes)
      const head = bytes.toString('latin1', 0, readSync(descriptor, bytes))
      return { head, executable: isExecutable(path) }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    return { head: '', executable: isExecutable(path), problem: lookProblem(error) }
  }
}

function isExecutable(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & 0o111) !== 0
}

function unreadable(directory: string, relative: string, reason: string): BrokenSearch {
  return broken(
    'script-unreadable',
    directory,
    `${relative} cannot be read: ${reason}`,
    'Make it readable, or fix or remove the link.',
  )
}

function broken(code: string, path: string, message: string, hint: string): BrokenSearch {
  return { kind: 'broken', diagnostic: { code, severity: 'error', message, path, hint } }
}
