import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { RecordedTree } from '#chain/run-journal'
import { Git, GitError } from './git.ts'

/** Where proofs are stored in a project. Their files do not count as a part of a tree. */
export const proofsFolder = '.skillrail/proofs'

type TreeRuntime = Pick<Runtime, 'env' | 'platform' | 'cwd'>

/**
 * Returns the tree that a commit of all files of the working tree would have, without proofs. Files that Git
 * ignores do not count. The repository is not changed.
 *
 * @param workspace its root
 * @returns undefined if it is not a repository; a `problem` if the tree cannot be read
 */
export function recordedTree(workspace: string, runtime: TreeRuntime): RecordedTree | undefined {
  if (!existsSync(join(workspace, '.git'))) return undefined
  const git = Git.in(workspace, runtime)
  if (!git) return { problem: 'git is not installed' }
  try {
    const places = placesOf(git)
    refuseOwnPrograms(git, workspace, places)
    return withIndex(places, (index) => treeOfFiles(git, index, places))
  } catch (error) {
    if (error instanceof GitError) return { problem: error.message }
    throw error
  }
}

/** Returns the tree of a commit without proofs. @throws {GitError} if it cannot be read */
export function treeOfCommit(git: Git, commit: string): string {
  return withIndex(placesOf(git), (index) => {
    git.read(['read-tree', commit], index)
    return writtenTree(git, index)
  })
}

/** Absolute paths of a repository. */
interface Places {
  root: string
  index: string
  objects: string
}

function placesOf(git: Git): Places {
  const questions = ['--show-toplevel', '--git-path', 'index', '--git-path', 'objects']
  const lines = git.read(['rev-parse', '--path-format=absolute', ...questions]).split('\n')
  const [root = '', index = '', objects = ''] = lines
  return { root, index, objects }
}

/** An index and an object store of our own, so that nothing in the repository changes. */
interface OwnIndex {
  env: Readonly<Record<string, string>>
}

function treeOfFiles(git: Git, index: OwnIndex, places: Places): RecordedTree {
  if (existsSync(places.index)) copyFileSync(places.index, String(index.env['GIT_INDEX_FILE']))
  readEveryFile(git, index)
  git.read(['-c', 'advice.addEmbeddedRepo=false', 'add', '--all'], index)
  const commit = git.line('rev-parse', '--verify', '--quiet', 'HEAD^{commit}') ?? null
  const changed = changedPaths(git, index, commit).filter((path) => !isProof(path))
  return {
    commit,
    tree: writtenTree(git, index),
    uncommitted: { count: changed.length, paths: changed.slice(0, maxPaths) },
  }
}

const maxPaths = 20

/** Removes the marks by which Git believes that a file is unchanged, or not there. */
function readEveryFile(git: Git, index: OwnIndex): void {
  const listed = fields(git.read(['ls-files', '-v', '-z'], index))
  const marked = listed.filter((line) => /^(?:S|[a-z]) /.test(line)).map((line) => line.slice(2))
  if (marked.length === 0) return
  const stdin = marked.map((path) => `${path}\0`).join('')
  for (const flag of ['--no-assume-unchanged', '--no-skip-worktree']) {
    git.read(['update-index', flag, '-z', '--stdin'], { ...index, stdin })
  }
}

function changedPaths(git: Git, index: OwnIndex, commit: string | null): string[] {
  if (commit === null) return fields(git.read(['ls-files', '-z'], index))
  return fields(git.read(['diff-index', '--cached', '--name-only', '-z', commit], index))
}

/** Removes the proofs from the index, and returns its tree. */
function writtenTree(git: Git, index: OwnIndex): string {
  const entries = fields(git.read(['ls-files', '--stage', '-z', '--', proofsFolder], index))
  const proofs = entries.flatMap((entry) => {
    const [, mode, path = ''] = /^(\d+) [^\t]*\t(.*)$/s.exec(entry) ?? []
    return mode === '100644' && isProof(path) ? [`${path}\0`] : []
  })
  if (proofs.length > 0) {
    const stdin = proofs.join('')
    git.read(['update-index', '--force-remove', '-z', '--stdin'], { ...index, stdin })
  }
  return git.read(['write-tree', '--missing-ok'], index).trim()
}

/** A proof or its signature, directly in the folder: nothing else can be there without counting. */
function isProof(path: string): boolean {
  return (
    path.startsWith(`${proofsFolder}/`) &&
    /^[^/]+\.json(?:\.sig)?$/.test(path.slice(proofsFolder.length + 1))
  )
}

/** @throws {GitError} if reading the files would start a program that the repository names */
function refuseOwnPrograms(git: Git, workspace: string, { root }: Places): void {
  if (realPathOf(root) !== realPathOf(workspace)) {
    throw new GitError(`the root of the repository is ${root}`)
  }
  const listing = ['config', '--includes', '--show-scope', '--name-only', '--get-regexp', pattern]
  const filters = git.line(...listing)?.split('\n') ?? []
  const own = filters.find((line) => !/^(?:global|system)\t/.test(line))
  if (own === undefined) return
  const name = own.slice(own.indexOf('\t') + 1)
  throw new GitError(`the configuration of the repository names a program: ${name}`)
}

/** Your own configuration may name programs that change files for Git, such as those of Git LFS. */
const pattern = String.raw`^filter\..*\.(clean|process)$`

function withIndex<T>({ objects }: Places, use: (index: OwnIndex) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-tree-'))
  const own = join(directory, 'objects')
  mkdirSync(own)
  try {
    return use({
      env: {
        GIT_INDEX_FILE: join(directory, 'index'),
        GIT_OBJECT_DIRECTORY: own,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
      },
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function fields(text: string): string[] {
  return text.split('\0').filter((field) => field !== '')
}
