// Writes the packages for agent clients as one folder, which needs no build step:
//
//   node dev/release-branch.mjs DIR                 writes it to a new folder
//   node dev/release-branch.mjs --branch NAME       commits it on top of a local branch, without a checkout
//   … --dry-run                                     prints its files and sizes, and changes nothing
//
// It copies the programs that the build made: run `node dev/build.mjs` first.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
await import('./need-node.mjs')
const { bundleCommandLine } = await import('./bundles.mjs')
const { packageFiles } = await import('./plugins.mjs')

/** What the packages need from the repository as it is, beside the programs. */
const copied = {
  'CHANGELOG.md': 'CHANGELOG.md',
  LICENSE: 'LICENSE',
  'dist/hook': 'hook',
  ...Object.fromEntries(
    ['claude', 'copilot', 'gemini', 'launcher', 'opencode', 'pi', 'qwen'].map((name) => [
      `plugins/${name}`,
      `plugins/${name}`,
    ]),
  ),
  'plugins/portable': 'plugins/portable',
  'plugins/source': 'plugins/source',
  schema: 'schema',
}

/** Writes the packages into a folder. */
export async function writePackages(directory) {
  for (const [path, place] of Object.entries(copied)) {
    if (!existsSync(path)) throw new Error(`${path} is missing: run node dev/build.mjs first`)
    cpSync(path, join(directory, place), { recursive: true })
  }
  await bundleCommandLine(join(directory, 'dist/cli'))
  for (const { path, text, mode = 0o644 } of packageFiles()) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
  }
}

/** Commits a folder on top of a branch, which need not exist; returns the commit, or undefined without a change. */
function commitFolder(directory, branch) {
  const parent = revision(`refs/heads/${branch}`) ?? revision(`refs/remotes/origin/${branch}`)
  const index = join(mkdtempSync(join(tmpdir(), 'skillrail-index-')), 'index')
  const repository = git(['rev-parse', '--absolute-git-dir'])
  const more = { GIT_INDEX_FILE: index, GIT_DIR: repository, GIT_WORK_TREE: directory }
  try {
    git(['add', '--all', '--force', '.'], { cwd: directory, env: { ...process.env, ...more } })
    const tree = git(['write-tree'], { env: { ...process.env, ...more } })
    if (parent !== undefined && git(['rev-parse', `${parent}^{tree}`]) === tree) return undefined
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const message = `Packages of ${version}, from ${git(['rev-parse', 'HEAD'])}`
    const commit = git([
      'commit-tree',
      tree,
      ...(parent === undefined ? [] : ['-p', parent]),
      '-m',
      message,
    ])
    git(['update-ref', `refs/heads/${branch}`, commit])
    return commit
  } finally {
    rmSync(dirname(index), { recursive: true, force: true })
  }
}

function revision(name) {
  try {
    return git(['rev-parse', '--verify', '--quiet', name])
  } catch {
    return undefined
  }
}

function git(args, options = {}) {
  return execFileSync('git', args, { encoding: 'utf8', ...options }).trim()
}

function filesIn(directory) {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(directory, path)).isFile())
    .toSorted()
}

function sizeOf(directory, files) {
  const bytes = files.reduce((sum, path) => sum + statSync(join(directory, path)).size, 0)
  return `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`
}

async function main() {
  const { values, positionals } = parseArgs({
    options: { branch: { type: 'string' }, 'dry-run': { type: 'boolean' } },
    allowPositionals: true,
  })
  const [target] = positionals
  const isDry = values['dry-run'] === true
  if (!isDry && (target === undefined) === (values.branch === undefined)) {
    throw new Error('usage: node dev/release-branch.mjs DIR | --branch NAME | --dry-run')
  }
  if (target !== undefined && existsSync(target) && readdirSync(target).length > 0) {
    throw new Error(`${target} is not empty`)
  }
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-packages-'))
  try {
    await writePackages(directory)
    const files = filesIn(directory)
    if (isDry)
      for (const path of files) console.log(`${statSync(join(directory, path)).size} ${path}`)
    const size = sizeOf(directory, files)
    if (isDry) return console.log(`${size}; nothing was written`)
    if (target !== undefined) {
      cpSync(directory, resolve(target), { recursive: true })
      return console.log(`${target}: ${size}`)
    }
    const commit = commitFolder(directory, values.branch)
    console.log(
      commit ? `${values.branch} is ${commit}: ${size}` : `${values.branch} is up to date`,
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

if (import.meta.filename === process.argv[1]) {
  await main().catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
