import { exitCode, messageOf, safeLine, safeText } from '../../base/index.ts'
import { openProjectServers, type ProjectServers, servedStatus } from '../../tools/index.ts'
import { standingOf } from '../_server-rows.ts'
import { packageVersion } from '../version.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  start?: boolean | undefined
}

interface ServerRow {
  name: string
  state: string
  tools?: number | undefined
  durationMs?: number | undefined
  client: string
  path: string
  message?: string | undefined
  stderrTail?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--start', 'start each of them, and say what it answers')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail tools servers\n  $ skillrail tools servers --start\n',
      )
  },
  async run(context, _positionals, options) {
    const { runtime, settings, output, signal } = context
    const clientInfo = { name: 'skillrail', version: packageVersion() }
    const pool = openProjectServers({ project: runtime.cwd, runtime, settings, clientInfo })
    try {
      const rows = options.start === true ? await started(pool, signal) : await known(context, pool)
      const { diagnostics } = pool.configuration
      if (context.options.json) output.json({ servers: rows, life: pool.life, diagnostics })
      else {
        output.diagnostics(diagnostics)
        if (rows.length === 0)
          output.note(
            'No servers are configured here. `skillrail tools import --all` shows where they are looked for.',
          )
        else output.table([['SERVER', 'STATE', 'TOOLS', 'FROM'], ...rows.map(cells)])
        for (const { name, message } of rows) {
          if (message !== undefined) output.note(`\n${safeLine(name)}: ${safeText(message)}`)
        }
      }
      return rows.some(({ state }) => state === 'failed') ? exitCode.badAnswer : exitCode.done
    } finally {
      await pool.close()
    }
  },
})

async function known(
  { runtime }: { runtime: Parameters<typeof servedStatus>[0]['runtime'] },
  pool: ProjectServers,
): Promise<ServerRow[]> {
  const status = await servedStatus({ project: runtime.cwd, runtime })
  return pool.definitions.map((definition) => {
    const { name, source, blocked } = definition
    const kept = status?.servers.find((server) => server.name === name)
    const state =
      kept?.state === 'running' || kept?.state === 'failed' ? kept.state : standingOf(definition)
    const message = kept?.message ?? blocked?.message
    return { name, state, client: source.client, path: source.path, message }
  })
}

function started(pool: ProjectServers, signal: AbortSignal): Promise<ServerRow[]> {
  return Promise.all(
    pool.definitions.map(async (definition): Promise<ServerRow> => {
      const { name, source, disabled, blocked } = definition
      const row = { name, client: source.client, path: source.path }
      if (disabled || blocked !== undefined) {
        return { ...row, state: standingOf(definition), message: blocked?.message }
      }
      const begin = performance.now()
      try {
        const tools = await (await pool.get(name, { signal })).list({ signal })
        const durationMs = Math.round(performance.now() - begin)
        return { ...row, state: 'running', tools: tools.length, durationMs }
      } catch (error) {
        signal.throwIfAborted()
        const stderrTail =
          error instanceof Error && 'stderrTail' in error ? String(error.stderrTail) : ''
        return { ...row, state: 'failed', message: messageOf(error), stderrTail }
      }
    }),
  )
}

function cells({ name, state, tools, durationMs, client, path }: ServerRow): string[] {
  const time = durationMs === undefined ? '' : ` in ${(durationMs / 1000).toFixed(1)} s`
  const count = tools === undefined ? '' : `${tools}${time}`
  return [safeLine(name), state, count, `${client} ${safeLine(path)}`]
}
