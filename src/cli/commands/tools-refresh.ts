import { type Diagnostic, exitCode, safeLine } from '../../base/index.ts'
import {
  type ListingEvent,
  isUnreadable,
  openProjectServers,
  openServers,
  refreshToolIndex,
  remarksOn,
  requireServers,
  type ServerDefinition,
  ServerNotFoundError,
  ToolError,
} from '../../tools/index.ts'
import { amount } from '../../base/text.ts'
import { printRefreshReport } from '../_refresh-report.ts'
import { toolProject } from '../../tools/commands/project-tools.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'
import type { Output } from '../output.ts'

interface Options {
  server?: string | undefined
  dryRun?: boolean | undefined
  accept?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--server <name>', 'ask only this server; the tools of the others stay as they are')
      .option('--dry-run', 'say what would change and write nothing')
      .option('--accept', 'take tools that changed as they are now')
      .addHelpText('after', '\nExample:\n  $ skillrail tools refresh --dry-run\n')
  },
  async run(context, _positionals, options) {
    const { output, runtime, signal } = context
    const project = toolProject(context)
    const all = openProjectServers({ project, runtime, settings: context.settings })
    const { servers, diagnostics } = all.configuration
    if (options.server === undefined) requireReadable(diagnostics)
    if (!context.options.json) output.diagnostics(remarksOn(all.configuration))
    const asked = chosen(servers, options.server)
    requireServers({ servers: asked.length === 0 ? servers : asked, diagnostics })
    const pool = options.server === undefined ? all : openServers(asked, { runtime, project })
    const progress = showListing(output)
    try {
      const report = await refreshToolIndex({
        pool,
        servers,
        project,
        runtime,
        only: options.server,
        dryRun: options.dryRun,
        accept: options.accept,
        signal,
        onServer: progress.listener,
      })
      progress.close()
      if (context.options.json) {
        output.json({ ...report, diagnostics: [...diagnostics, ...report.diagnostics] })
      } else {
        output.diagnostics(report.diagnostics)
        printRefreshReport(report, output)
      }
      // One server that answers makes it done; the others are in the report.
      return report.refreshed ? exitCode.done : exitCode.badAnswer
    } finally {
      progress.close()
      await Promise.all([pool.close(), all.close()])
    }
  },
})

/** The tools of servers in a file that cannot be read would look as if they were gone. */
function requireReadable(diagnostics: readonly Diagnostic[]): void {
  const unreadable = diagnostics.filter(isUnreadable)
  if (unreadable.length === 0) return
  throw new ToolError({
    code: 'configuration-unreadable',
    message: 'nothing was refreshed, because a configuration of servers cannot be read',
    hint: 'Mend the file, or refresh one server: skillrail tools refresh --server NAME',
    diagnostics: unreadable,
  })
}

/** @throws {ServerNotFoundError} */
function chosen(
  servers: readonly ServerDefinition[],
  only: string | undefined,
): readonly ServerDefinition[] {
  const enabled = servers.filter(({ disabled }) => !disabled)
  if (only === undefined) return enabled
  const found = enabled.filter(({ name }) => name === only)
  if (found.length > 0) return found
  throw new ServerNotFoundError(
    only,
    enabled.map(({ name }) => name),
  )
}

interface ListingProgress {
  listener(event: ListingEvent): void
  close(): void
}

/** One live line on a terminal: which servers are still awaited. */
function showListing(output: Output): ListingProgress {
  const waiting = new Set<string>()
  let started = 0
  const draw = (): void => {
    const names = [...waiting].map((name) => safeLine(name)).join(', ')
    const text = `${amount(started - waiting.size, 'server')} of ${started} up; waiting for ${names}`
    output.live(names === '' ? '' : text)
  }
  return {
    listener({ server, state }) {
      if (state === 'starting') {
        started++
        waiting.add(server)
      } else waiting.delete(server)
      draw()
    },
    close() {
      waiting.clear()
      output.live('')
    },
  }
}
