import { defineCommand, type Note, option, type Screen } from '../../core/command.ts'
import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { exitCode } from '../../core/errors.ts'
import { safeLine, amount } from '../../core/text.ts'
import type { ServerFile, ServerSource, ShadowedServer } from '../config/model.ts'
import { readServerConfiguration } from '../config/read-configuration.ts'
import { addressOf, type ShownServer, shownServer, standingOf } from './server-rows.ts'

interface ImportResult {
  servers: readonly ShownServer[]
  shadowed: readonly (ShownServer & { by: ServerSource; reason: ShadowedServer['reason'] })[]
  files: readonly ServerFile[]
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<ImportResult>()({
  options: {
    all: option.flag('--all', 'also show places where nothing was found'),
  },
  details: `Reads the files of clients and writes none. Files of the project take precedence over those of the user,
then the first of the table; a server that is not allowed to start does not hide one that is.`,
  examples: ['tools import'],
  run({ runtime, settings }, { all }) {
    const { servers, shadowed, files, diagnostics } = readServerConfiguration({
      project: runtime.cwd,
      runtime,
      trust: settings.workspaceTrust,
    })
    return Promise.resolve({
      servers: servers.map(shownServer),
      shadowed: shadowed.map(({ server, by, reason }) => ({ ...shownServer(server), by, reason })),
      files: files.filter(({ state }) => all || state !== 'missing'),
      diagnostics,
    })
  },
  exitCode: ({ diagnostics }) => (hasErrors(diagnostics) ? exitCode.badAnswer : exitCode.done),
  render: (result, screen) => filesText(result, screen) + serversText(result, screen),
  notes: ({ servers, diagnostics }): Note[] => [
    ...(servers.length === 0
      ? ['No servers are configured here. `--all` shows where they are looked for.']
      : []),
    ...diagnostics,
  ],
})

function filesText({ files }: ImportResult, screen: Screen): string {
  if (files.length === 0) return ''
  const rows = files.map(({ client, scope, path, state, servers }) => {
    return [client, scope, safeLine(path), state === 'read' ? String(servers) : state]
  })
  return `${screen.table([['CLIENT', 'SCOPE', 'FILE', 'SERVERS'], ...rows])}\n`
}

function serversText({ servers, shadowed }: ImportResult, screen: Screen): string {
  if (servers.length === 0) return ''
  const usable = servers.filter(({ disabled, blocked }) => !disabled && blocked === undefined)
  const table = screen.table([
    ['SERVER', 'STATE', 'ADDRESS', 'FROM'],
    ...servers.map((server) => row(server, standingOf(server))),
    ...shadowed.map((server) => row(server, `hidden: ${shadowWords[server.reason]}`)),
  ])
  return `${table}\n${amount(usable.length, 'server')} of ${servers.length} can be used.\n`
}

const shadowWords = {
  earlier: 'another comes first',
  untrusted: 'may not start',
  disabled: 'disabled',
} as const

function row(server: ShownServer, state: string): string[] {
  const { client, path, line } = server.source
  const place = line === undefined ? path : `${path}:${line}`
  return [safeLine(server.name), state, safeLine(addressOf(server)), `${client} ${safeLine(place)}`]
}
