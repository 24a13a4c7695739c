// Writes plugins/CLIENT: Skillrail as a package of each client that has packages, with the commands that
// `skillrail hooks install` registers. With --check it writes nothing and fails when a file is out of date.
// The hook itself is copied into the packages by the build, and is not kept in the repository.
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { adapters, allSkillsMark, launcherName } from '../src/hooks/adapters.ts'
import { withEntries } from '../src/hooks/edit-entries.ts'
import { guardedCommand } from '../src/hooks/guarded-command.ts'
import { fileTexts, hookArguments, launcherText } from '../src/hooks/registration.ts'

const { name, version, description, license, homepage, repository } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)
const facts = { name, version, description }
const author = { name: 'Skillrail' }
const plugin = { ...facts, author, homepage, license }
const marketplace = {
  name: 'skillrail',
  owner: author,
  plugins: [{ name, source: './', description }],
}
const claudeManifests = {
  '.claude-plugin/plugin.json': plugin,
  '.claude-plugin/marketplace.json': marketplace,
}

/** A module that a client loads says itself where it is; the others are told by their client. */
const own = '"${SKILLRAIL_PLUGIN}/'

/** For each client its manifests, the file that registers the hook, and how a command names the package. */
const packages = {
  claude: {
    root: '"${CLAUDE_PLUGIN_ROOT}/',
    hooks: 'hooks/hooks.json',
    manifests: claudeManifests,
  },
  copilot: {
    root: '"${COPILOT_PLUGIN_ROOT}/',
    hooks: 'hooks/hooks.json',
    manifests: claudeManifests,
  },
  gemini: {
    root: '"${extensionPath}/',
    hooks: 'hooks/hooks.json',
    manifests: { 'gemini-extension.json': facts },
  },
  opencode: {
    root: own,
    hooks: 'index.js',
    manifests: { 'package.json': { ...npmPackage('opencode'), main: './index.js' } },
  },
  pi: {
    root: own,
    hooks: 'index.ts',
    manifests: {
      'package.json': {
        ...npmPackage('pi'),
        keywords: ['pi-package'],
        pi: { extensions: ['./index.ts'], skills: ['./skills'] },
      },
    },
  },
  qwen: {
    root: '"${CLAUDE_PLUGIN_ROOT}/',
    hooks: 'hooks/hooks.json',
    manifests: { 'qwen-extension.json': facts },
  },
}

const railSkill = readFileSync(new URL('../plugins/source/rail.md', import.meta.url), 'utf8')
const allSkillsText = `The hook of this package serves all skills; a plugin with skills of its own serves those alone.\n`

function npmPackage(client) {
  const more = { license, homepage, repository, type: 'module' }
  return { ...facts, name: `${name}-${client}`, ...more }
}

/** Every file of the packages that the repository keeps, as { path, text, mode? }. */
export function pluginFiles() {
  return Object.entries(packages).flatMap(([client, { root, hooks, manifests }]) => {
    const at = (path) => `plugins/${client}/${path}`
    return [
      ...Object.entries(manifests).map(([path, value]) => ({ path: at(path), text: json(value) })),
      { path: at(hooks), text: registrationText(client, `${root}${launcherName}"`) },
      { path: at(launcherName), text: launcher(), mode: 0o755 },
      { path: at(allSkillsMark), text: allSkillsText },
      // OpenCode takes no skills from a plugin: its module registers a command.
      ...(client === 'opencode' ? [] : [{ path: at('skills/rail/SKILL.md'), text: railSkill }]),
    ]
  })
}

function registrationText(client, launcherWord) {
  const { registration, limit } = adapters[client]
  const parts = hookArguments(client, limit.parts)
  const commands = parts.map((argument) => guardedCommand(launcherWord, argument))
  if (registration.kind === 'file') return fileTexts[registration.text](commands[0])
  return withEntries(undefined, registration, commands, '')
}

/** The launcher of an installation, which finds the hook beside itself and says nothing where it is gone. */
function launcher() {
  const text = launcherText('sh', {
    node: "''",
    entry: '"${0%/*}/hook/hook.cjs"',
  })
  return text
    .replace('Written by skillrail hooks install.', 'Part of a package of Skillrail.')
    .replace(/^entry=/m, 'export SKILLRAIL_PLUGIN="${0%/*}"\n$&')
    .replaceAll(/echo .*$/gm, ':')
}

/** Puts the hook and the program for rails, which the build made as one file each, into every package. */
export function copyHook({ hook, rail }) {
  for (const client of Object.keys(packages)) {
    rmSync(`plugins/${client}/hook`, { recursive: true, force: true })
    write(`plugins/${client}/hook/hook.cjs`, hook)
    write(`plugins/${client}/hook/rail.cjs`, rail)
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

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`
}

if (import.meta.filename === process.argv[1]) {
  const check = process.argv.includes('--check')
  const stale = pluginFiles().filter((file) => !isUpToDate(file, check))
  for (const { path } of stale) {
    console.log(check ? `${path} is out of date: run node dev/plugins.mjs` : `wrote ${path}`)
  }
  process.exitCode = check && stale.length > 0 ? 1 : 0
}
