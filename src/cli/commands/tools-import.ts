import { exitCode, hasErrors, safeLine } from '../../base/index.ts'
import {
  readServerConfiguration,
  type ServerConfiguration,
  type ServerDefinition,
} from '../../tools/index.ts'
import { amount } from '../../base/text.ts'
import { addressOf, shownServer, standingOf } from '../_server-rows.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  all?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program.option('--all', 'show the places too where nothing was found').addHelpText(
      'after',
      `
Servers are used where their owner keeps them: nothing is copied, and no file is written.
Files of the project come before those of the user, then the order of the table holds; the
first definition of a name wins, except that one that may not start hides none that may.

Examples:
  $ skillrail tools import
  $ skillrail tools import --json
`,
    )
  },
  run(context, _positionals, options) {
    const { runtime, settings, output } = context
    const found = readServerConfiguration({
      project: runtime.cwd,
      runtime,
      trust: settings.workspaceTrust,
    })
    if (context.options.json) output.json(report(found))
    else print(context, found, options.all === true)
    return Promise.resolve(hasErrors(found.diagnostics) ? exitCode.badAnswer : exitCode.done)
  },
})

function report({ servers, shadowed, files, diagnostics }: ServerConfiguration): object {
  return {
    servers: servers.map(shownServer),
    shadowed: shadowed.map(({ server, by, reason }) => ({ ...shownServer(server), by, reason })),
    files: files.filter(({ state }) => state !== 'missing'),
    diagnostics,
  }
}

function print({ output }: CommandContext, found: ServerConfiguration, all: boolean): void {
  const { servers, shadowed, files, diagnostics } = found
  const read = files.filter(({ state }) => all || state !== 'missing')
  if (read.length > 0) {
    output.table([
      ['CLIENT', 'SCOPE', 'FILE', 'SERVERS'],
      ...read.map(({ client, scope, path, state, servers: count }) => {
        return [client, scope, safeLine(path), state === 'read' ? String(count) : state]
      }),
    ])
    output.line()
  }
  if (servers.length === 0)
    output.note('No servers are configured here. `--all` shows where they are looked for.')
  else {
    output.table([
      ['SERVER', 'STATE', 'ADDRESS', 'FROM'],
      ...servers.map((server) => row(server, standingOf(server))),
      ...shadowed.map(({ server, reason }) => row(server, `hidden: ${shadowWords[reason]}`)),
    ])
    const usable = servers.filter(({ disabled, blocked }) => !disabled && blocked === undefined)
    output.line(`\n${amount(usable.length, 'server')} of ${servers.length} can be used.`)
  }
  output.diagnostics(diagnostics)
}

const shadowWords = {
  earlier: 'another comes first',
  untrusted: 'may not start',
  disabled: 'disabled',
} as const

function row(server: ServerDefinition, state: string): string[] {
  const { client, path, line } = server.source
  const place = line === undefined ? path : `${path}:${line}`
  return [safeLine(server.name), state, safeLine(addressOf(server)), `${client} ${safeLine(place)}`]
}
