import { adapters, platforms } from '../src/hooks/adapters.ts'
import { railFacts } from '../src/hooks/rail-facts.ts'

/** What each client does for a rail, for the pages that show it. */
export function railsTable() {
  const head = [
    'client',
    'starts a chain',
    'denies',
    'one turn',
    'check at its end',
    'your line is shown by',
    'the step again after a compaction',
    'a subagent obeys',
  ]
  const rows = platforms.map((platform) => {
    const { start, denies, checkSeconds, blocks, tells, recalls, subagents } = railFacts(platform)
    if (start === undefined)
      return [adapters[platform].title, 'no', denies, '-', '-', '-', '-', '-']
    return [
      adapters[platform].title,
      `\`${start}\``,
      denies,
      blocks === undefined ? 'no limit met' : `${blocks} blocks`,
      `${checkSeconds} s`,
      tells,
      recalls ?? 'never',
      subagents,
    ]
  })
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  )
  const line = (cells) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')
}
