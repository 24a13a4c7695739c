import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readConfigurationFile, type RawSetting } from './_configuration-file.ts'
import { readSettingText } from './_setting-value.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { Runtime } from './runtime.ts'
import { type Setting, type Settings, settingTable, type SettingValue } from './settings.ts'
import { userDirectories } from './user-directories.ts'

export interface ConfigurationReading {
  settings: Settings
  diagnostics: readonly Diagnostic[]
  /** The files that were read, lowest precedence first. */
  sources: readonly string[]
}

export interface LoadConfigurationOptions {
  /** A file named by the user (`--config`); it wins over the variables and the other files. */
  file?: string | undefined
}

/**
 * Settings from, in rising precedence: defaults, the user's `skillrail/config.json` below the XDG
 * configuration directory, the project's `.skillrail/config.json` (the nearest one from the working
 * directory up to the repository root), the `SKILLRAIL_*` variables, the file that was named.
 * A setting with a wrong value is reported with its line and keeps the value from below.
 */
export function loadConfiguration(
  runtime: Runtime,
  options: LoadConfigurationOptions = {},
): ConfigurationReading {
  const diagnostics: Diagnostic[] = []
  const values = new Map<string, SettingValue>()
  const sources: string[] = []
  const files = [
    { path: join(userDirectories(runtime).config, 'config.json'), base: runtime.home, own: true },
    ...projectFile(runtime.cwd),
  ]
  for (const file of files) readFile(file.path, file.base, file.own)
  readVariables()
  if (options.file !== undefined) {
    readFile(resolve(runtime.cwd, options.file), runtime.cwd, true, true)
  }
  return { settings: toSettings(values), diagnostics, sources }

  function readFile(path: string, base: string, own: boolean, required = false): void {
    if (!required && !existsSync(path)) return
    const reading = readConfigurationFile(path, { base, home: runtime.home })
    // One by one: a hostile file has more of them than a call has room for.
    for (const each of reading.diagnostics) diagnostics.push(each)
    sources.push(path)
    for (const raw of reading.settings) {
      if (own || !raw.setting.userOnly) values.set(raw.setting.key, raw.value)
      else diagnostics.push(notForProjects(path, raw))
    }
  }

  function readVariables(): void {
    for (const setting of settingTable) {
      const text = runtime.env[setting.variable]
      if (text === undefined || text === '') continue
      const read = readSettingText(setting, text, { base: runtime.cwd, home: runtime.home })
      if (read.ok) values.set(setting.key, read.value)
      else diagnostics.push(wrongVariable(setting, read.expected))
    }
  }
}

function projectFile(cwd: string): { path: string; base: string; own: boolean }[] {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const path = join(directory, '.skillrail', 'config.json')
    if (existsSync(path)) return [{ path, base: directory, own: false }]
    if (existsSync(join(directory, '.git')) || directory === dirname(directory)) return []
  }
}

function toSettings(values: ReadonlyMap<string, SettingValue>): Settings {
  return {
    skills: {
      paths: list('skills.paths'),
      trustedPaths: list('skills.trustedPaths'),
      precedence: values.get('skills.precedence') === 'user' ? 'user' : 'project',
    },
    run: {
      environment: list('run.environment'),
      timeout: number('run.timeout'),
      outputLimit: number('run.outputLimit'),
      sandbox: sandbox(),
    },
    tools: {
      retryWaits: numbers('tools.retryWaits'),
      replaySafe: list('tools.replaySafe'),
      neverReplay: list('tools.neverReplay'),
      sessionHours: number('tools.sessionHours'),
      idleExit: number('tools.idleExit'),
      embeddings: embeddings(),
      embeddingsUrl: text('tools.embeddingsUrl'),
      embeddingsModel: text('tools.embeddingsModel'),
    },
    agent: {
      model: text('agent.model'),
      baseUrl: text('agent.baseUrl'),
      maxTurns: number('agent.maxTurns'),
      contextTokens: number('agent.contextTokens'),
      concurrency: number('agent.concurrency'),
    },
    hooks: { repeat: values.get('hooks.repeat') === 'session' ? 'session' : 'prompt' },
    restate: {
      url: text('restate.url'),
      adminUrl: text('restate.adminUrl'),
      token: text('restate.token'),
      workerHost: text('restate.workerHost'),
      workerPort: number('restate.workerPort'),
      workerAddress: text('restate.workerAddress'),
      identityKeys: list('restate.identityKeys'),
      via: list('restate.via'),
      models: list('restate.models'),
      patience: number('restate.patience'),
      resultLimit: number('restate.resultLimit'),
    },
    workspaceTrust: values.get('workspaceTrust') === 'trusted' ? 'trusted' : 'ask',
  }

  function sandbox(): Settings['run']['sandbox'] {
    const value = values.get('run.sandbox')
    return value === 'all' || value === 'refuse' ? value : 'untrusted'
  }

  function embeddings(): Settings['tools']['embeddings'] {
    const value = values.get('tools.embeddings')
    return value === 'local' || value === 'endpoint' ? value : 'off'
  }

  function list(key: string): readonly string[] {
    const value = values.get(key)
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
  }

  function numbers(key: string): readonly number[] {
    const value = values.get(key) ?? settingTable.find((setting) => setting.key === key)?.fallback
    return Array.isArray(value) ? value.filter((item) => typeof item === 'number') : []
  }

  function number(key: string): number {
    const value = valueOf(key)
    return typeof value === 'number' ? value : 0
  }

  function text(key: string): string {
    const value = valueOf(key)
    return typeof value === 'string' ? value : ''
  }

  function valueOf(key: string): SettingValue | undefined {
    return values.get(key) ?? settingTable.find((setting) => setting.key === key)?.fallback
  }
}

function notForProjects(path: string, raw: RawSetting): Diagnostic {
  return {
    code: 'setting-not-for-projects',
    severity: 'warning',
    message: `${raw.setting.key} is ignored here: a project cannot raise its own rights`,
    path,
    line: raw.line,
    column: raw.column,
    hint: `Set it in your own configuration file or with ${raw.setting.variable}.`,
  }
}

function wrongVariable(setting: Setting, expected: string): Diagnostic {
  return {
    code: 'setting-wrong-value',
    severity: 'error',
    message: `the variable ${setting.variable} must be ${expected}; it is ignored`,
    path: setting.variable,
  }
}
