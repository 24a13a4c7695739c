import { readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type * as Zod from 'zod'
import { compareText } from '#core/errors'
import { isObject, type JsonObject } from '#core/json'
import { isPresent, readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { zod } from '#core/zod'
import { claudeSettings } from '#trust/workspace-files'
import { readDocument } from './document.ts'
import type { ClientToolRule, ServerDefinition } from './model.ts'
import { denialRules } from './tool-rules.ts'

export interface ClaudeSwitches {
  /** Whether Claude Code does not start a server that is configured for it. */
  isOff(server: ServerDefinition): boolean
  /** Rules of `permissions.deny` for the server's tools. */
  denials(server: ServerDefinition): ClientToolRule[]
  inputs: readonly string[]
  problems: readonly { message: string; path: string }[]
}

/**
 * Reads the settings that make Claude Code leave out servers (https://code.claude.com/docs/en/managed-mcp).
 * Its approvals (`enabledMcpjsonServers`, `enableAllProjectMcpServers`) restrict nothing here: workspace
 * trust does that. The project's shared file applies only to the project's servers, so that a repository
 * cannot remove a server of the user. A file that cannot be read turns off the servers that it applies to.
 */
export function readClaudeSwitches(options: {
  /** Real path of the workspace. */
  project: string
  runtime: Pick<Runtime, 'env' | 'home' | 'platform'>
  managed?: string | undefined
}): ClaudeSwitches {
  const { project, runtime } = options
  const { CLAUDE_CONFIG_DIR: configPath = '' } = runtime.env
  const folder = isAbsolute(configPath) ? configPath : undefined
  const managed = options.managed ?? managedFolder(runtime)
  const [sharedFile = '', ...local] = claudeSettings.map((name) => join(project, name))
  const ofProject = (root: JsonObject): unknown =>
    isObject(root['projects']) ? root['projects'][project] : undefined
  const files: readonly SettingsFile[] = [
    ...managedFiles(managed).map((path) => ({ path, isManaged: true })),
    { path: join(folder ?? join(runtime.home, '.claude'), 'settings.json') },
    { path: join(folder ?? runtime.home, '.claude.json'), partOf: ofProject },
    ...local.map((path) => ({ path })),
    { path: sharedFile, isShared: true },
  ]
  const fileReadings = files.map((file) => ({ ...file, reading: readSwitches(file) }))
  const exclusive = join(managed, 'managed-mcp.json')
  const isExclusive = isPresent(exclusive)
  const applicableTo = ({ source }: ServerDefinition) =>
    fileReadings.filter(({ isShared }) => source.scope === 'project' || !isShared)
  return {
    inputs: [exclusive, managed, ...files.map(({ path }) => path)],
    problems: fileReadings.flatMap(({ path, reading }) =>
      reading.ok ? [] : { path, message: reading.message },
    ),
    isOff(server) {
      // Claude Code then starts only the servers of that file.
      if (isExclusive) return true
      const isOfProject = server.source.scope === 'project'
      const applicable = applicableTo(server)
      if (applicable.some(({ reading }) => !reading.ok)) return true
      const levels = applicable.flatMap(({ reading, isManaged }) =>
        reading.ok ? { ...reading.switches, isManaged } : [],
      )
      const names = levels.flatMap((level) => [
        ...(level.disabledMcpServers ?? []),
        ...(isOfProject ? (level.disabledMcpjsonServers ?? []) : []),
      ])
      const isDenied = levels.some(({ deniedMcpServers = [] }) =>
        deniedMcpServers.some((rule) => matchesRule(rule, server)),
      )
      const isManagedOnly = levels.some(
        (level) => level.isManaged && level.allowManagedMcpServersOnly,
      )
      const lists = levels.flatMap(({ allowedMcpServers, isManaged }) =>
        allowedMcpServers && (isManaged || !isManagedOnly) ? [allowedMcpServers] : [],
      )
      const isAllowed = lists.length === 0 || allows(lists.flat(), server)
      return names.includes(server.name) || isDenied || !isAllowed
    },
    denials: (server) =>
      applicableTo(server).flatMap(({ reading }) =>
        reading.ok ? (reading.switches.permissions?.deny ?? []).flatMap(denialRules) : [],
      ),
  }
}

interface SettingsFile {
  path: string
  isManaged?: boolean
  /** Whether the file comes with the project. */
  isShared?: boolean
  /** The part of the file that has the settings; default: all of it. */
  partOf?: (root: JsonObject) => unknown
}

type Switches = Zod.infer<ReturnType<typeof switchesSchema>>
type Rule = NonNullable<Switches['deniedMcpServers']>[number]

function switchesSchema(z: typeof Zod) {
  const names = z.array(z.string()).optional()
  const rule = z.union([
    z.strictObject({ serverName: z.string() }),
    z.strictObject({ serverCommand: z.array(z.string()).min(1) }),
    z.strictObject({ serverUrl: z.string() }),
  ])
  return z.object({
    disabledMcpServers: names,
    disabledMcpjsonServers: names,
    deniedMcpServers: z.array(rule).optional(),
    allowedMcpServers: z.array(rule).optional(),
    allowManagedMcpServersOnly: z.boolean().optional(),
    permissions: z.object({ deny: names }).optional(),
  })
}

let cachedSchema: ReturnType<typeof switchesSchema> | undefined

function readSwitches({
  path,
  partOf = (root) => root,
}: SettingsFile): { ok: true; switches: Switches } | { ok: false; message: string } {
  const file = readRegularFile(path, { maxBytes: 16 * 1024 * 1024 })
  if (!file.ok && file.code === 'file-missing' && !isPresent(path))
    return { ok: true, switches: {} }
  if (!file.ok) return { ok: false, message: file.message }
  const document = readDocument(file.text, 'json')
  if (!document.ok) return { ok: false, message: document.message }
  const part = partOf(document.root)
  if (part === undefined || !/Mcp|"deny"/.test(JSON.stringify(part)))
    return { ok: true, switches: {} }
  cachedSchema ??= switchesSchema(zod())
  const { data, error } = cachedSchema.safeParse(part)
  if (data) return { ok: true, switches: data }
  const [issue] = error.issues
  return { ok: false, message: `"${String(issue?.path[0] ?? '')}" cannot be used` }
}

/** If a list has entries for commands or addresses, only these decide for servers of that kind. */
function allows(rules: readonly Rule[], server: ServerDefinition): boolean {
  const key = server.transport.kind === 'stdio' ? 'serverCommand' : 'serverUrl'
  const specific = rules.filter((rule) => key in rule)
  const deciding = specific.length > 0 ? specific : rules.filter((rule) => 'serverName' in rule)
  return deciding.some((rule) => matchesRule(rule, server))
}

function matchesRule(rule: Rule, { name, transport }: ServerDefinition): boolean {
  if ('serverName' in rule) return rule.serverName === name
  if ('serverCommand' in rule) {
    if (transport.kind !== 'stdio') return false
    const words = [transport.command, ...transport.args]
    return JSON.stringify(words) === JSON.stringify(rule.serverCommand)
  }
  return transport.kind !== 'stdio' && matchesAddress(rule.serverUrl, transport.url)
}

/** `*` matches any characters. */
function matchesAddress(pattern: string, url: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  if (parts.length === 0) return pattern === url
  if (!url.startsWith(first)) return false
  const last = parts.pop() ?? ''
  let at = first.length
  for (const part of parts) {
    const start = url.indexOf(part, at)
    if (start < 0) return false
    at = start + part.length
  }
  return url.length - last.length >= at && url.endsWith(last)
}

function managedFolder({ env, platform }: Pick<Runtime, 'env' | 'platform'>): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode'
  return platform === 'win32'
    ? join(env['ProgramFiles'] ?? 'C:\\Program Files', 'ClaudeCode')
    : '/etc/claude-code'
}

function managedFiles(folder: string): string[] {
  const more = join(folder, 'managed-settings.d')
  return [join(folder, 'managed-settings.json'), ...jsonFilesIn(more)]
}

function jsonFilesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
    return names.toSorted(compareText).map((name) => join(folder, name))
  } catch {
    return []
  }
}
