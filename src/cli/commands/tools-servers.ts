import { exitCode, type ExitCode, messageOf, safeLine, safeText } from '../../base/index.ts'
import { openProjectServers, type ProjectServers, requireServers } from '../../tools/index.ts'
import { knownServers, type ServerRow } from '../_known-servers.ts'
import { indented, standingOf } from '../_server-rows.ts'
import { packageVersion } from '../../base/runtime.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  start?: boolean | undefined
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
      if (options.start === true) requireServers(pool.configuration)
      const rows =
        options.start === true
          ? await started(pool, signal)
          : await knownServers(context, pool.definitions)
      const { diagnostics } = pool.configuration
      if (context.options.json) output.json({ servers: rows, life: pool.life, diagnostics })
      else {
        output.diagnostics(diagnostics)
        if (rows.length === 0)
          output.note(
            'No servers are configured here. `skillrail tools import --all` shows where they are looked for.',
          )
        else output.table([['SERVER', 'STATE', 'TOOLS', 'FROM'], ...rows.map(cells)])
        for (const { name, message, stderrTail = '' } of rows) {
          if (message === undefined) continue
          output.note(`\n${safeLine(name)}: ${safeText(message)}`)
          if (stderrTail !== '' && !message.includes(stderrTail)) output.note(indented(stderrTail))
        }
      }
      return codeOf(rows)
    } finally {
      await pool.close()
    }
  },
})

function codeOf(rows: readonly ServerRow[]): ExitCode {
  return rows.some(({ state }) => state === 'failed') ? exitCode.badAnswer : exitCode.done
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
