import { type Context, defineCommand, option, type Screen } from '#core/command'
import { codeOfErrors, type Diagnostic, exitCode, hasErrors, messageOf } from '#core/errors'
import { amount, safeLine, safeText } from '#core/text'
import type { ServerConfiguration, ShadowedServer } from '#tools/config/model'
import { readServerConfiguration } from '#tools/config/read-configuration'
import { ToolCallError } from '#tools/errors'
import { requireServers } from '#tools/server/errors'
import { openProjectServers, type ProjectServers } from '#tools/server/project-servers'
import type { IndexedServer } from '#tools/cache/tool-index'
import {
  addressOf,
  serverRows,
  rowOf,
  type ServerRow,
  type MaskedServer,
  maskedServer,
  standingOf,
} from '#tools/server/server-rows'

interface ServersResult {
  servers: readonly ServerRow[]
  life: ProjectServers['life']
  diagnostics: readonly Diagnostic[]
}

export const servers = defineCommand<ServersResult>()({
  options: {
    start: option.flag('--start', 'start each server, and show its answer'),
  },
  examples: ['tools servers --start'],
  async run(context, { start }) {
    const { runtime, settings } = context
    const pool = openProjectServers({ project: runtime.cwd, runtime, settings })
    try {
      if (start) requireServers(pool.configuration)
      const servers = start
        ? await startAll(pool, context)
        : await serverRows(context, pool.definitions)
      return { servers, life: pool.life, diagnostics: pool.configuration.diagnostics }
    } finally {
      await pool.close()
    }
  },
  exitCode: ({ servers, diagnostics }) =>
    servers.some(({ state }) => state === 'failed')
      ? exitCode.failed
      : codeOfErrors({ diagnostics }),
  render({ servers }, screen) {
    if (servers.length === 0) return ''
    return screen.table([['SERVER', 'STATE', 'TOOLS', 'FROM'], ...servers.map(cells)])
  },
  notes: ({ servers, diagnostics }) => [
    diagnostics,
    servers.length === 0 &&
      !hasErrors(diagnostics) &&
      'No servers are configured here. `skillrail tools import --all` shows where they are looked for.',
    servers.flatMap(({ name, message, stderrTail = '' }) => {
      if (message === undefined) return []
      const isSaid = stderrTail === '' || message.includes(stderrTail)
      const note = `\n${safeLine(name)}: ${safeText(message)}`
      return isSaid ? [note] : [note, indented(stderrTail)]
    }),
  ],
})

function startAll(pool: ProjectServers, { runtime, signal }: Context): Promise<ServerRow[]> {
  return Promise.all(
    pool.definitions.map(async (definition): Promise<ServerRow> => {
      const { name, disabled, blocked } = definition
      const row = rowOf(definition, runtime)
      if (disabled || blocked) {
        return { ...row, state: standingOf(definition), message: blocked?.message }
      }
      const begin = performance.now()
      try {
        const { tools } = await (await pool.get(name, { signal })).list({ signal })
        const durationMs = Math.round(performance.now() - begin)
        return { ...row, state: 'running', tools: tools.length, durationMs }
      } catch (error) {
        signal.throwIfAborted()
        const { stderrTail = '' } = error instanceof ToolCallError ? error.failure : {}
        return { ...row, state: 'failed', message: messageOf(error), stderrTail }
      }
    }),
  )
}

function cells({ name, state, signIn, tools, durationMs, client, path }: ServerRow) {
  const signed = signIn === 'signed in' || signIn === 'expired' ? `${state}, ${signIn}` : state
  const time = durationMs === undefined ? '' : ` in ${(durationMs / 1000).toFixed(1)} s`
  const count = tools === undefined ? '' : `${tools}${time}`
  return [safeLine(name), signed, count, `${client} ${safeLine(path)}`]
}

interface ImportResult extends Pick<ServerConfiguration, 'files' | 'diagnostics'> {
  servers: readonly MaskedServer[]
  shadowed: readonly HiddenServer[]
}

/** A server that another one hides. */
interface HiddenServer extends MaskedServer, Pick<ShadowedServer, 'by' | 'reason'> {}

export const imported = defineCommand<ImportResult>()({
  options: {
    all: option.flag('--all', 'also show places where nothing was found'),
  },
  details: `Reads the files of clients and writes none. Files of the project take precedence over those of the user, then the first of the table; a server that is not allowed to start does not hide one that is.`,
  examples: ['tools import'],
  run: async (context, { all }) => importServers(context, all),
  exitCode: codeOfErrors,
  render: (result, screen) => filesText(result, screen) + serversText(result, screen),
  notes: ({ servers, diagnostics }) => [
    servers.length === 0 &&
      !hasErrors(diagnostics) &&
      'No servers are configured here. `--all` shows where they are looked for.',
    diagnostics,
  ],
})

function importServers({ runtime, settings }: Context, all: boolean): ImportResult {
  const place = { project: runtime.cwd, runtime, trust: settings.workspaceTrust }
  const { servers: found, shadowed, files, diagnostics } = readServerConfiguration(place)
  return {
    servers: found.map(maskedServer),
    shadowed: shadowed.map(({ server, by, reason }) => ({ ...maskedServer(server), by, reason })),
    files: files.filter(({ state }) => all || state !== 'missing'),
    diagnostics,
  }
}

function filesText({ files }: ImportResult, screen: Screen) {
  if (files.length === 0) return ''
  const rows = files.map(({ client, scope, path, state, servers }) => {
    return [client, scope, safeLine(path), state === 'read' ? String(servers) : state]
  })
  return `${screen.table([['CLIENT', 'SCOPE', 'FILE', 'SERVERS'], ...rows])}\n`
}

function serversText({ servers, shadowed }: ImportResult, screen: Screen) {
  if (servers.length === 0) return ''
  const usable = servers.filter(({ disabled, blocked }) => !disabled && blocked === undefined)
  const table = screen.table([
    ['SERVER', 'STATE', 'ADDRESS', 'FROM'],
    ...servers.map((server) => importRow(server, standingOf(server))),
    ...shadowed.map((server) => importRow(server, `hidden: ${shadowWords[server.reason]}`)),
  ])
  return `${table}\n${amount(usable.length, 'server')} of ${servers.length} can be used.\n`
}

const shadowWords = {
  earlier: 'another comes first',
  untrusted: 'may not start',
  disabled: 'disabled',
} as const

function importRow(server: MaskedServer, state: string) {
  const { client, path, line } = server.source
  const place = line === undefined ? path : `${path}:${line}`
  return [safeLine(server.name), state, safeLine(addressOf(server)), `${client} ${safeLine(place)}`]
}

export function unavailableNotes(servers: readonly IndexedServer[]): string[] {
  const notes = servers.flatMap(({ name, unavailable }) => {
    if (!unavailable) return []
    return unavailable.notTrusted === true
      ? [`${name} was not trusted at the last refresh, and not asked`]
      : [`${name} is configured and failing: ${safeLine(unavailable.message)}`]
  })
  const isSaid = servers.some(({ unavailable }) => unavailable?.stderrTail)
  return isSaid ? [...notes, whereTheRestIs] : notes
}

export const whereTheRestIs = '`skillrail tools servers` shows all that they said.'

export function indented(text: string): string {
  return safeText(text)
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}
