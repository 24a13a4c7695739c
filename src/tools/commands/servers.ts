import { type Context, defineCommand, type Note, option } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { exitCode, messageOf } from '../../core/errors.ts'
import { safeLine, safeText } from '../../core/text.ts'
import { requireServers } from '../server/errors.ts'
import { openProjectServers, type ProjectServers } from '../server/project-servers.ts'
import { indented, knownServers, rowOf, type ServerRow, standingOf } from './server-rows.ts'

interface ServersResult {
  servers: readonly ServerRow[]
  life: ProjectServers['life']
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<ServersResult>()({
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
        : await knownServers(context, pool.definitions)
      return { servers, life: pool.life, diagnostics: pool.configuration.diagnostics }
    } finally {
      await pool.close()
    }
  },
  exitCode: ({ servers }) =>
    servers.some(({ state }) => state === 'failed') ? exitCode.badAnswer : exitCode.done,
  render({ servers }, screen) {
    if (servers.length === 0) return ''
    return screen.table([['SERVER', 'STATE', 'TOOLS', 'FROM'], ...servers.map(cells)])
  },
  notes: ({ servers, diagnostics }): Note[] => [
    ...diagnostics,
    ...(servers.length === 0
      ? [
          'No servers are configured here. `skillrail tools import --all` shows where they are looked for.',
        ]
      : []),
    ...servers.flatMap(({ name, message, stderrTail = '' }) => {
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
      if (disabled || blocked !== undefined) {
        return { ...row, state: standingOf(definition), message: blocked?.message }
      }
      const begin = performance.now()
      try {
        const { tools } = await (await pool.get(name, { signal })).list({ signal })
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

function cells({ name, state, signIn, tools, durationMs, client, path }: ServerRow): string[] {
  const signed = signIn === 'signed in' || signIn === 'expired' ? `${state}, ${signIn}` : state
  const time = durationMs === undefined ? '' : ` in ${(durationMs / 1000).toFixed(1)} s`
  const count = tools === undefined ? '' : `${tools}${time}`
  return [safeLine(name), signed, count, `${client} ${safeLine(path)}`]
}
