import { safeLine } from '../base/index.ts'
import type { RefreshReport } from '../tools/index.ts'
import { amount } from '../base/text.ts'
import { indented, whereTheRestIs } from './_server-rows.ts'
import type { Output } from './output.ts'

/** Ids that a report names of each kind; all of them are in `--json`. */
const shown = 20

/**
 * The report in the seed's words, then what changed and which servers failed. Where no server
 * answered there is nothing to report but that.
 */
export function printRefreshReport(report: RefreshReport, output: Output): void {
  if (!report.refreshed) {
    output.line('Nothing was refreshed, because no server answered.')
    printFailures(report, output)
    return
  }
  if (report.movedAside !== undefined) {
    output.line(`The old cache was corrupt and is kept at ${safeLine(report.movedAside)}`)
  }
  output.line(
    report.dryRun
      ? 'Agent Skill Tools Index (nothing written):'
      : 'Agent Skill Tools Index Refreshed:',
  )
  output.line('Categories:')
  for (const { name, tools } of report.categories) {
    output.line(`  - ${safeLine(name)}: ${amount(tools, 'tool')}`)
  }
  if (report.uncategorized > 0) {
    output.line(`  - uncategorized: ${amount(report.uncategorized, 'tool')}`)
  }
  output.line('Summary:')
  output.line(`  - Total tools: ${report.tools}`)
  output.line(`  - Categories: ${report.categories.length}`)
  output.line(`  - Cache: ${safeLine(report.path)}`)
  printChanges(report, output)
  printFailures(report, output)
}

function printChanges({ changes, held }: RefreshReport, output: Output): void {
  const { added, removed, changed, accepted } = changes
  const count = added.length + removed.length + changed.length + accepted.length
  output.line(count > 0 ? 'Changes:' : 'Nothing changed.')
  printIds('added', added, output)
  printIds('removed', removed, output)
  printIds(
    'changed',
    changed.map(({ id, what }) => `${id} (${what.join(' and ')})`),
    output,
  )
  printIds('accepted as they are now', accepted, output)
  if (held.length > 0) {
    output.line(
      `${amount(held.length, 'tool')} changed since first seen: look with \`skillrail tools list --changed\`,` +
        ' accept with `skillrail tools refresh --accept`.',
    )
  }
}

function printIds(kind: string, ids: readonly string[], output: Output): void {
  if (ids.length === 0) return
  const named = ids.slice(0, shown).map((id) => safeLine(id))
  const more = ids.length > shown ? `, and ${ids.length - shown} more` : ''
  output.line(`  - ${ids.length} ${kind}: ${named.join(', ')}${more}`)
}

function printFailures({ servers }: RefreshReport, output: Output): void {
  const failed = servers.filter(({ failure }) => failure !== undefined)
  if (failed.length > 0) output.line('Servers that could not be listed:')
  for (const { name, tools, failure } of failed) {
    const kept =
      tools > 0 ? ` Its ${amount(tools, 'tool')} of before stay, marked unavailable.` : ''
    output.line(`  - ${safeLine(name)}: ${safeLine(failure?.message ?? '')}${kept}`)
    if (failure !== undefined && failure.stderrTail !== '')
      output.detail(indented(failure.stderrTail))
  }
  const isCut = failed.some(({ failure }) => failure !== undefined && failure.stderrTail !== '')
  if (isCut) output.note(whereTheRestIs)
}
