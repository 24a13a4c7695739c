import { defineCommand, option } from '#core/command'
import { type Diagnostic, exitCode } from '#core/errors'
import { amount, linesText, safeLine } from '#core/text'
import { refreshToolIndex, type RefreshReport } from '#tools/cache/refresh'
import type { ServerDefinition } from '#tools/config/model'
import { ToolError } from '#tools/errors'
import type { ListingEvent } from '#tools/model'
import {
  isUnreadable,
  configurationDiagnostics,
  requireServers,
  ServerNotFoundError,
} from '#tools/server/errors'
import { openServers } from '#tools/server/pool'
import { openProjectServers } from '#tools/server/project-servers'
import { toolProject } from '#tools/project-tools'
import { indented, whereTheRestIs } from './servers.ts'

const maxListed = 20

export const command = defineCommand<RefreshReport, ListingEvent>()({
  options: {
    server: option.text('--server <name>', 'refresh only this server'),
    dryRun: option.flag('--dry-run', 'show what would change and write nothing'),
    accept: option.flag('--accept', 'accept added and changed tools as they are now'),
  },
  examples: ['tools refresh --dry-run'],
  async run(context, { server, dryRun, accept }) {
    const { runtime, settings, signal } = context
    const project = toolProject(context)
    const all = openProjectServers({ project, runtime, settings })
    const { servers, diagnostics } = all.configuration
    if (server === undefined) requireReadable(diagnostics)
    const enabled = servers.filter(({ disabled }) => !disabled)
    const chosenServers = chosen(enabled, server)
    try {
      requireServers({ servers: chosenServers.length === 0 ? servers : chosenServers, diagnostics })
    } catch (error) {
      context.diagnose(configurationDiagnostics(all.configuration))
      throw error
    }
    const pool = server === undefined ? all : openServers(chosenServers, { runtime, project })
    const onServer = (event: ListingEvent): void => context.emit(event)
    const options = { project, runtime, only: server, dryRun, accept, signal, onServer }
    try {
      const report = await refreshToolIndex({ pool, servers: enabled, ...options })
      return { ...report, diagnostics: [...diagnostics, ...report.diagnostics] }
    } finally {
      await Promise.all([pool.close(), all.close()])
    }
  },
  // One server that answers is enough; the others are in the report.
  exitCode: ({ refreshed }) => (refreshed ? exitCode.done : exitCode.failed),
  render(report) {
    const lines = report.refreshed
      ? [summaryLines(report), changeLines(report)]
      : ['Nothing was refreshed, because no server answered.']
    return linesText([...lines, failureLines(report)].flat().map(safeLine))
  },
  notes({ diagnostics, servers }) {
    const tails = servers.flatMap(({ failure }) => failure?.stderrTail || [])
    return [
      diagnostics.filter(({ severity }) => severity !== 'info'),
      tails.map((tail) => ({ detail: indented(tail) })),
      tails.length > 0 && whereTheRestIs,
    ]
  },
  progress() {
    const started = new Set<string>()
    const waiting = new Set<string>()
    return {
      event({ server, state }) {
        started.add(server)
        if (state === 'starting') waiting.add(server)
        else waiting.delete(server)
        return undefined
      },
      live() {
        if (waiting.size === 0) return ''
        const up = amount(started.size - waiting.size, 'server')
        return safeLine(`${up} of ${started.size} up; waiting for ${[...waiting].join(', ')}`)
      },
    }
  },
})

function requireReadable(diagnostics: readonly Diagnostic[]): void {
  const unreadable = diagnostics.filter(isUnreadable)
  if (unreadable.length === 0) return
  throw new ToolError({
    code: 'configuration-unreadable',
    message: 'nothing was refreshed, because a configuration of servers cannot be read',
    hint: 'Fix the file, or refresh one server: skillrail tools refresh --server NAME',
    diagnostics: unreadable,
  })
}

function chosen(enabled: readonly ServerDefinition[], only: string | undefined) {
  const found = enabled.filter(({ name }) => only === undefined || name === only)
  const names = enabled.map(({ name }) => name)
  if (only !== undefined && found.length === 0) throw new ServerNotFoundError(only, names)
  return found
}

function summaryLines({ movedAside, uncategorized, ...report }: RefreshReport) {
  const rest = uncategorized > 0 ? [{ name: 'uncategorized', tools: uncategorized }] : []
  const categories = [...report.categories, ...rest]
  return [
    movedAside === undefined
      ? []
      : `The old cache was corrupt and is kept at ${movedAside}. Workflows in it no longer guard calls.`,
    `Agent Skill Tools Index ${report.dryRun ? '(nothing written)' : 'Refreshed'}:`,
    'Categories:',
    categories.map(({ name, tools }) => `  - ${name}: ${amount(tools, 'tool')}`),
    'Summary:',
    `  - Total tools: ${report.tools}`,
    `  - Categories: ${report.categories.length}`,
    `  - Cache: ${report.path}`,
  ].flat()
}

function changeLines({ changes, held }: RefreshReport) {
  const { added, removed, changed, accepted } = changes
  const lines = [
    idsLine('added', added),
    idsLine('removed', removed),
    idsLine(
      'changed',
      changed.map(({ id, what }) => `${id} (${what.join(' and ')})`),
    ),
    idsLine('accepted as they are now', accepted),
  ].flat()
  const holding =
    `${amount(held.length, 'tool')} held back, added or changed since first seen: \`skillrail tools list --changed\`,` +
    ' then `skillrail tools refresh --accept`.'
  const heading = lines.length > 0 ? 'Changes:' : 'Nothing changed.'
  return [heading, ...lines, held.length > 0 ? holding : []].flat()
}

function idsLine(kind: string, ids: readonly string[]) {
  if (ids.length === 0) return []
  const more = ids.length > maxListed ? `, and ${ids.length - maxListed} more` : ''
  return `  - ${ids.length} ${kind}: ${ids.slice(0, maxListed).join(', ')}${more}`
}

function failureLines({ servers }: RefreshReport) {
  const lines = servers.flatMap(({ name, tools, failure }) => {
    if (!failure) return []
    const kept =
      tools > 0 ? ` Its ${amount(tools, 'tool')} of before stay, marked unavailable.` : ''
    return [`  - ${name}: ${failure.message}${kept}`]
  })
  return lines.length === 0 ? [] : ['Servers that could not be listed:', ...lines]
}
