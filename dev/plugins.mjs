// Skillrail as a package of each client that has packages, with the commands that `skillrail hooks install` registers.
// plugins/CLIENT are the frames that `skillrail hooks pack` fills with the skills of others; this writes them, and with
// --check it only fails when a file is out of date. `packageFiles` are those of Skillrail's own packages, which are one
// folder for all clients: see dev/release-branch.mjs.
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

const railSkill = readText('plugins/source/rail.md')
const allSkillsText = `The hook of this package serves all skills; a plugin with skills of its own serves those alone.\n`

function npmPackage(client) {
  const more = { license, homepage, repository, type: 'module' }
  return { ...facts, name: `${name}-${client}`, ...more }
}

/** Every file of the frames for the skills of others, as { path, text, mode? }. */
export function pluginFiles() {
  return Object.entries(packages).flatMap(([client, { root, hooks, manifests }]) => {
    const at = (path) => `plugins/${client}/${path}`
    return [
      ...Object.entries(manifests).map(([path, value]) => ({ path: at(path), text: json(value) })),
      { path: at(hooks), text: registrationText(client, `${root}${launcherName}"`) },
      { path: at(launcherName), text: launcher(), mode: 0o755 },
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

/** The launcher of an installation, in a package: it finds the hook beside itself. */
function launcher() {
  const { head, search, tries } = launcherParts('"${0%/*}/hook/hook.cjs"')
  const end = readText('plugins/launcher/package-hook-end.sh')
  const tellers = Object.entries(adapters).flatMap(([client, { tell }]) => (tell ? [client] : []))
  return [
    head
      .replace('Written by skillrail hooks install.', 'Part of a package of Skillrail.')
      .replace(/^entry=/m, 'export SKILLRAIL_PLUGIN="${0%/*}"\n$&'),
    search,
    'if [ -f "$entry" ] && [ "$3" != old-node ]; then\n',
    tries,
    end.replace('@TELLERS@', tellers.join(' | ')),
  ].join('')
}

/** The command line of a package, which may be called by a symbolic link. */
function programLauncher() {
  const { search, tries } = launcherParts('')
  const [start = '', end = ''] = readText('plugins/launcher/package-program.sh').split('@SEARCH@\n')
  return start + search + tries.replaceAll(/^ {2}/gm, '') + end
}

/** The parts of the launcher of an installation that those of a package share. */
function launcherParts(entry) {
  const text = launcherText('sh', { node: "''", entry })
  const [head = '', afterHead = ''] = text.split(/(?=^# Looks on the path)/m)
  const [search = '', rest = ''] = afterHead.split(/^if \[ -f .*\n/m)
  const [tries = ''] = rest.split(/^ {2}echo/m)
  return { head, search, tries: tries.replace(/^ {2}try '' .*\n/m, '') }
}

/** Writes the hook and the program for rails, which the build made as one file each. */
export function writeHook({ hook, rail }) {
  rmSync('plugins/hook', { recursive: true, force: true })
  write('plugins/hook/hook.cjs', hook)
  write('plugins/hook/rail.cjs', rail)
}

/**
 * How each client finds its part of the one folder. Each has its own file of hooks, because clients look for
 * different events in a file of the same name; `hooks/hooks.json` belongs to the one that cannot name another.
 */
const shared = {
  claude: {
    root: packages.claude.root,
    hooks: 'hooks/claude.json',
    manifests: {
      '.claude-plugin/plugin.json': { ...plugin, hooks: './hooks/claude.json' },
      '.claude-plugin/marketplace.json': marketplace,
    },
  },
  codex: {
    root: '"${PLUGIN_ROOT}/',
    hooks: 'hooks/codex.json',
    manifests: {
      '.codex-plugin/plugin.json': {
        ...plugin,
        skills: './skills',
        hooks: './hooks/codex.json',
      },
      '.agents/plugins/marketplace.json': {
        name: 'skillrail',
        plugins: [
          {
            name,
            source: { source: 'local', path: './' },
            policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
            category: 'Productivity',
          },
        ],
      },
    },
  },
  copilot: {
    root: packages.copilot.root,
    hooks: 'hooks/copilot.json',
    manifests: {
      '.github/plugin/plugin.json': { ...plugin, hooks: 'hooks/copilot.json' },
      '.github/plugin/marketplace.json': marketplace,
    },
  },
  gemini: { ...packages.gemini },
  opencode: { root: own, hooks: 'index.js', manifests: {} },
  pi: { root: own, hooks: 'index.ts', manifests: {} },
  qwen: {
    root: packages.qwen.root,
    hooks: 'hooks/qwen.json',
    manifests: { 'qwen-extension.json': { ...facts, hooks: 'hooks/qwen.json' } },
  },
}

/** The files of Skillrail's own packages that are not copied, as { path, text, mode? }. */
export function packageFiles() {
  const ofClients = Object.entries(shared).flatMap(([client, { root, hooks, manifests }]) => [
    ...Object.entries(manifests).map(([path, value]) => ({ path, text: json(value) })),
    { path: hooks, text: registrationText(client, `${root}${launcherName}"`) },
  ])
  const manifest = {
    ...facts,
    keywords: ['pi-package'],
    license,
    homepage,
    repository,
    type: 'module',
    bin: { skillrail: './dist/cli/bin.cjs' },
    main: './index.js',
    pi: { extensions: ['./index.ts'], skills: ['./skills'] },
    engines: { node: '>=22.18' },
  }
  return [
    ...ofClients,
    { path: 'package.json', text: json(manifest) },
    { path: launcherName, text: launcher(), mode: 0o755 },
    { path: 'bin/skillrail', text: programLauncher(), mode: 0o755 },
    { path: allSkillsMark, text: allSkillsText },
    { path: 'skills/rail/SKILL.md', text: railSkill },
  ]
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

function readText(path) {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
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
