import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Jsonc from 'jsonc-parser'
import type * as Toml from 'smol-toml'
import { clientFolder } from '#core/client-folders'
import { isList, isObject, parseJson } from '#core/json'
import { readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { withoutMark } from '#core/text'
import { managedClaudeSettings } from '#library/client-plugins'
import { adapters, type JsonForm, type Platform } from './adapters.ts'

/** A client setting that stops hooks. */
export interface SwitchedOff {
  path: string
  /** As it is written in the documentation of the client, such as `disableAllHooks`. */
  setting: string
}

interface ClientSwitch {
  /** The names of the setting; the first that is set counts. */
  names: readonly string[]
  /** Whether the client understands the value; it ignores others. */
  isValid(value: unknown): boolean
  isOff(value: unknown): boolean
}

type SwitchRuntime = Pick<Runtime, 'cwd' | 'env' | 'home' | 'platform'>

interface ClientSwitches {
  switches: readonly ClientSwitch[]
  /** Files that can have the switches; a later file takes precedence. */
  files(runtime: SwitchRuntime, workspace: string): readonly string[]
}

const isFlag = (value: unknown): boolean => typeof value === 'boolean'

function flag(off: boolean, ...names: readonly string[]): ClientSwitch {
  return { names, isValid: isFlag, isOff: (value) => value === off }
}

/** The name that our hooks have for the clients that can disable hooks by name. */
const hookName = 'skillrail'

/** Switches that stopped the hook in the real clients (`test/clients/switches.suite.ts`). */
const clientSwitches: Partial<Record<Platform, ClientSwitches>> = {
  claude: {
    switches: [flag(true, 'disableAllHooks')],
    files: (runtime) => [
      join(clientFolder('claude', runtime), 'settings.json'),
      join(runtime.cwd, '.claude/settings.json'),
      join(runtime.cwd, '.claude/settings.local.json'),
      managedClaudeSettings(runtime),
    ],
  },
  codex: {
    // The second name is that of earlier versions.
    switches: [flag(false, 'features.hooks', 'features.codex_hooks')],
    files: (runtime, workspace) => [
      join(clientFolder('codex', runtime), 'config.toml'),
      join(workspace, '.codex/config.toml'),
    ],
  },
  copilot: {
    // It reads the switch only in a project, including the project's settings for Claude Code.
    switches: [flag(true, 'disableAllHooks')],
    files: (_, workspace) =>
      ['.claude', '.github/copilot'].flatMap((folder) =>
        ['settings.json', 'settings.local.json'].map((name) => join(workspace, folder, name)),
      ),
  },
  gemini: {
    switches: [
      flag(false, 'hooksConfig.enabled'),
      {
        names: ['hooksConfig.disabled'],
        isValid: isList,
        isOff: (value) => isList(value) && value.includes(hookName),
      },
    ],
    files: (runtime) => inFolder('gemini', '.gemini', runtime),
  },
  qwen: {
    switches: [flag(true, 'disableAllHooks')],
    files: (runtime) => inFolder('qwen', '.qwen', runtime),
  },
}

function inFolder(client: Platform, folder: string, runtime: SwitchRuntime): string[] {
  return [clientFolder(client, runtime), join(runtime.cwd, folder)].map((place) =>
    join(place, 'settings.json'),
  )
}

/** The setting that stops a client from running hooks here; undefined if no setting does. */
export function switchedOff(
  platform: Platform,
  runtime: SwitchRuntime,
  workspace: string,
): SwitchedOff | undefined {
  const { switches, files } = clientSwitches[platform] ?? { switches: [], files: () => [] }
  const documents = [...new Set(files(runtime, workspace))].map((path) => {
    return { path, document: readSettings(platform, path) }
  })
  const [user] = documents
  // Codex reads no configuration of a project that is not trusted: there it can only switch hooks off.
  const isTrusted = (path: string): boolean =>
    platform !== 'codex' || path === user?.path || isTrustedByCodex(user?.document, workspace)
  for (const { names, isValid, isOff } of switches) {
    const layers = documents.flatMap(({ path, document }) => {
      const setting = names.find((name) => isValid(valueAt(document, name)))
      return setting === undefined
        ? []
        : [{ path, setting, off: isOff(valueAt(document, setting)) }]
    })
    const layer = layers.findLast(({ path, off }) => off || isTrusted(path))
    if (layer?.off) return { path: layer.path, setting: layer.setting }
  }
  return undefined
}

function isTrustedByCodex(document: unknown, workspace: string): boolean {
  const projects = valueAt(document, 'projects')
  const project = isObject(projects) ? projects[workspace] : undefined
  return valueAt(project, 'trust_level') === 'trusted'
}

/** Undefined for a file that its client cannot read: it disables nothing. */
function readSettings(platform: Platform, path: string): unknown {
  const reading = readRegularFile(path, { maxBytes: 16 * 1024 * 1024, keepMark: true })
  if (!reading.ok) return undefined
  if (path.endsWith('.toml')) return parseToml(reading.text)
  const isRead = fileProblem(platform, reading.text) === undefined
  return isRead ? loadJsonc().parse(withoutMark(reading.text)) : undefined
}

function parseToml(text: string): unknown {
  const toml: typeof Toml = createRequire(import.meta.url)('smol-toml')
  try {
    return toml.parse(text)
  } catch {
    return undefined
  }
}

/** Why a client cannot read a file that Skillrail can, as seen with the client; undefined if it can. */
export function fileProblem(platform: Platform, text: string): string | undefined {
  const { title, cannotRead = [] } = adapters[platform]
  const body = withoutMark(text)
  const found = [
    ...(body === text ? [] : (['a byte-order mark'] as const)),
    ...(parseJson(body) === undefined ? formsIn(body) : []),
  ].find((form) => cannotRead.includes(form))
  if (found !== undefined) return `${title} cannot read the file, because it has ${found}`
  const wrong = platform === 'claude' ? wrongSwitch(platform, body) : undefined
  return wrong && `${title} ignores the file, because ${wrong} must be true or false`
}

function formsIn(text: string): JsonForm[] {
  const parser = loadJsonc()
  const forms: JsonForm[] = []
  parser.visit(text, { onComment: () => void forms.push('a comment') })
  const errors: Jsonc.ParseError[] = []
  parser.parse(text, errors, { allowTrailingComma: false })
  return errors.length > 0 ? [...forms, 'a trailing comma'] : forms
}

/** A switch whose value has the wrong type makes Claude Code ignore all of the file. */
function wrongSwitch(platform: Platform, text: string): string | undefined {
  const document: unknown = loadJsonc().parse(text)
  const { switches = [] } = clientSwitches[platform] ?? {}
  return switches
    .flatMap(({ names, isValid }) => names.map((name) => ({ name, isValid })))
    .find(({ name, isValid }) => {
      const value = valueAt(document, name)
      return value !== undefined && !isValid(value)
    })?.name
}

function loadJsonc(): typeof Jsonc {
  return createRequire(import.meta.url)('jsonc-parser')
}

function valueAt(value: unknown, setting: string): unknown {
  return setting
    .split('.')
    .reduce<unknown>((parent, key) => (isObject(parent) ? parent[key] : undefined), value)
}
