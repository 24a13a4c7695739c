import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isInside } from '#core/read-files'
import { createDiskLookup } from '#chain/lookup'
import { planRun } from '#chain/plan'
import { type PlannedChain, wholeChain } from '#chain/plan-model'
import type { Git } from './git.ts'

/** A chain as a commit declares it. */
export interface CommittedChain {
  name: string
  root: PlannedChain
  /** The directories of its skills, relative to the repository. */
  directories: readonly string[]
}

/**
 * Plans the chain of a commit from its files alone: neither the working tree nor a program is involved.
 *
 * @param directory of the chain, relative to the repository
 * @returns undefined if the commit has no such skill
 * @throws {GitError} if the commit cannot be read
 */
export function chainOfCommit(
  git: Git,
  commit: string,
  directory: string,
): CommittedChain | undefined {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-base-')))
  try {
    writeSkills(git, commit, root)
    const place = resolve(root, directory)
    if (!isInside(root, place)) return undefined
    const trust = { level: 'trusted', reason: '' } as const
    const lookup = createDiskLookup({ workspace: root, trustOf: () => trust })
    const { facts } = lookup.load(place)
    if (!facts) return undefined
    const { plan } = planRun(facts, lookup, { instructions: { kind: 'driven' } })
    const paths = wholeChain(plan.root).flatMap(({ path }) => (path === '' ? [] : [dirname(path)]))
    return { name: plan.skill, root: plan.root, directories: [...new Set(paths)] }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Returns the files below some directories that differ between two commits. */
export function differingFiles(
  git: Git,
  commits: readonly [string, string],
  directories: readonly string[],
): string[] {
  const words = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', ...commits]
  const listed = git.read(['--literal-pathspecs', ...words, '--', ...directories])
  return listed.split('\0').filter((path) => path !== '')
}

interface Entry {
  mode: string
  id: string
  path: string
}

/** Writes the files of all skills of a commit, as they are stored: no filter changes them. */
function writeSkills(git: Git, commit: string, root: string): void {
  const listed = git.read(['ls-tree', '-r', '-z', '--full-tree', commit])
  const entries = listed.split('\0').flatMap((line): Entry[] => {
    const [, mode = '', id = '', path = ''] = /^(\d+) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? []
    // A link could lead out of the directory.
    return mode.startsWith('100') ? [{ mode, id, path }] : []
  })
  const skills = new Set(
    entries.flatMap(({ path }) => (/(?:^|\/)skill\.md$/i.test(path) ? [dirname(path)] : [])),
  )
  const wanted = entries.filter(({ path }) => isBelow(path, skills))
  const contents = readBlobs(
    git,
    wanted.map(({ id }) => id),
  )
  for (const { mode, id, path } of wanted) {
    const target = join(root, path)
    const content = contents.get(id)
    if (!isInside(root, target) || content === undefined) continue
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, content, { mode: mode === '100755' ? 0o755 : 0o644 })
  }
}

function isBelow(path: string, directories: ReadonlySet<string>): boolean {
  for (let above = dirname(path); ; above = dirname(above)) {
    if (directories.has(above)) return true
    if (above === '.' || above === dirname(above)) return false
  }
}

/** Reads objects in one call: `ID blob SIZE`, a line break, the content, a line break. */
function readBlobs(git: Git, ids: readonly string[]): Map<string, Buffer> {
  const contents = new Map<string, Buffer>()
  if (ids.length === 0) return contents
  const output = git.bytes(['cat-file', '--batch'], { stdin: ids.map((id) => `${id}\n`).join('') })
  for (let at = 0; at < output.length;) {
    const end = output.indexOf('\n', at)
    const [id = '', , size = ''] = output.subarray(at, end).toString('utf8').split(' ')
    const start = end + 1
    const length = Number(size) || 0
    contents.set(id, output.subarray(start, start + length))
    at = start + length + (size === '' ? 0 : 1)
  }
  return contents
}
