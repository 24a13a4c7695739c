import { adapters } from './adapters.ts'
import { fileTexts } from './client-files.ts'
import { withEntries } from './edit-entries.ts'
import { launcherName, launcherText } from './launcher.ts'
import { guardedCommand, hookArguments } from './registration.ts'

/** What a package says of itself; further fields are those that npm and Claude Code know. */
export interface PackageFacts {
  name: string
  version: string
  description: string
  [field: string]: unknown
}

export interface PackageFile {
  /** Below the package. */
  path: string
  text: string
  mode?: number | undefined
}

interface ClientPackage {
  /** How a command names the package. */
  root: string
  /** The file that registers the hook. */
  hooks: string
  manifests(facts: PackageFacts): Readonly<Record<string, object>>
}

function claudeManifests(facts: PackageFacts): Readonly<Record<string, object>> {
  const { name, description, author = { name } } = facts
  const marketplace = { name, owner: author, plugins: [{ name, source: './', description }] }
  return {
    '.claude-plugin/plugin.json': facts,
    '.claude-plugin/marketplace.json': marketplace,
  }
}

function extensionManifest(file: string): ClientPackage['manifests'] {
  return ({ name, version, description }) => ({ [file]: { name, version, description } })
}

function npmManifest(client: string, more: object): ClientPackage['manifests'] {
  return (facts) => {
    const name = `${facts.name}-${client}`
    return { 'package.json': { ...facts, name, author: undefined, type: 'module', ...more } }
  }
}

/** A module that a client loads says itself where it is; the others are told by their client. */
const own = '"${SKILLRAIL_PLUGIN}/'

/** The clients that can install a package which brings the hook. */
export const clientPackages = {
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
    manifests: extensionManifest('gemini-extension.json'),
  },
  opencode: {
    root: own,
    hooks: 'index.js',
    manifests: npmManifest('opencode', { main: './index.js' }),
  },
  pi: {
    root: own,
    hooks: 'index.ts',
    manifests: npmManifest('pi', {
      keywords: ['pi-package'],
      pi: { extensions: ['./index.ts'] },
    }),
  },
  qwen: {
    root: '"${CLAUDE_PLUGIN_ROOT}/',
    hooks: 'hooks/hooks.json',
    manifests: extensionManifest('qwen-extension.json'),
  },
} as const satisfies Readonly<Record<string, ClientPackage>>

export type PackagedClient = keyof typeof clientPackages

/** Every file of a package but the hook itself. */
export function packageFiles(client: PackagedClient, facts: PackageFacts): PackageFile[] {
  const { root, hooks, manifests }: ClientPackage = clientPackages[client]
  return [
    ...Object.entries(manifests(facts)).map(([path, value]) => {
      return { path, text: `${JSON.stringify(value, null, 2)}\n` }
    }),
    { path: hooks, text: registrationText(client, `${root}${launcherName}"`) },
    { path: launcherName, text: launcher(), mode: 0o755 },
  ]
}

function registrationText(client: PackagedClient, launcherWord: string): string {
  const { registration, limit } = adapters[client]
  const parts = hookArguments(client, limit.parts)
  const commands = parts.map((argument) => guardedCommand(launcherWord, argument))
  if (registration.kind === 'file') return fileTexts[registration.text](commands[0] ?? '')
  return withEntries(undefined, registration, commands, '')
}

/** The launcher of an installation, which finds the hook beside itself and says nothing where it is gone. */
function launcher(): string {
  const text = launcherText('sh', {
    node: '"$(command -v node)"',
    entry: '"${0%/*}/hook/hook.cjs"',
  })
  return text
    .replace('Written by skillrail hooks install.', 'Part of a package of Skillrail.')
    .replace(/^entry=/m, 'export SKILLRAIL_PLUGIN="${0%/*}"\n$&')
    .replaceAll(/echo .*$/gm, ':')
}
