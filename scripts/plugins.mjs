// Writes plugins/CLIENT: Skillrail as a package of each client that has packages, with the commands that
// `skillrail hooks install` registers. With --check it writes nothing and fails when a file is out of date.
// The hook itself is copied into the packages by the build, and is not kept in the repository.
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { clientPackages, packageFiles } from '../src/hooks/packages.ts'

const { name, version, description, license, homepage, repository } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)
const facts = { name, version, description, author: { name: 'Skillrail' }, homepage, license }

/** Every file of the packages that the repository keeps, as { path, text, mode? }. */
export function pluginFiles() {
  return Object.keys(clientPackages).flatMap((client) => {
    // Plugins of Claude Code have another form of it.
    const isNpm = client === 'opencode' || client === 'pi'
    const files = packageFiles(client, isNpm ? { ...facts, repository } : facts)
    return files.map((file) => ({ ...file, path: `plugins/${client}/${file.path}` }))
  })
}

/** Puts the hook, which the build made as one file, into every package. */
export function copyHook(text) {
  for (const client of Object.keys(clientPackages)) {
    rmSync(`plugins/${client}/hook`, { recursive: true, force: true })
    write(`plugins/${client}/hook/hook.cjs`, text)
  }
}

/** Writes the file, or only says whether it is as it should be. */
export function isUpToDate({ path, text, mode }, check) {
  const isSame = readIfThere(path) === text && (mode === undefined || modeOf(path) === mode)
  if (!isSame && !check) write(path, text, mode)
  return isSame
}

function write(path, text, mode) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  if (mode !== undefined) chmodSync(path, mode)
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Who is allowed to execute it: the rest depends on the mask of whoever made the file. */
function modeOf(path) {
  return (statSync(path).mode & 0o111) === 0o111 ? 0o755 : undefined
}

if (import.meta.filename === process.argv[1]) {
  const check = process.argv.includes('--check')
  const stale = pluginFiles().filter((file) => !isUpToDate(file, check))
  for (const { path } of stale) {
    console.log(check ? `${path} is out of date: run node scripts/plugins.mjs` : `wrote ${path}`)
  }
  process.exitCode = check && stale.length > 0 ? 1 : 0
}
