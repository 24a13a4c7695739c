import { nearest } from '../core/text.ts'
import { UsageError } from '../core/errors.ts'
import { type CommandEntry, type CommandGroup, commands, groupSummaries } from './registry.ts'

const groups: readonly CommandGroup[] = ['Run', 'Tools', 'Library', 'Author', 'Triggers', 'Machine']

/** The commands that most people need; `--all` shows the others. */
const common =
  'run runs chain agent tools workflow mcp list show new validate audit match inject triggers hooks trust view doctor completion'.split(
    ' ',
  )

export function rootHelp(all: boolean): string {
  const sections = groups.map((group) => {
    const entries = commands.filter((command) => command.group === group)
    return `${group}\n${entryLines(all ? entries : shortened(entries))}`
  })
  const rest = all ? '' : 'skillrail help --all lists every command.\n'
  return `Usage: skillrail <command> [arguments] [options]

Makes Agent Skills deterministic: references, chains and tool calls follow declared rules.
Without a command it shows how this project stands.

${sections.join('\n')}
Options
  --json               print one JSON document
  -q, --quiet          print only results and errors
  -v, --verbose        print more diagnostics to stderr
  -C, --directory DIR  run in this directory
  --trust-workspace    trust the skills of this project for this command
  --config FILE        read settings from this file; it takes precedence
  -V, --version        print the version

Exit codes
  0  done
  1  the check or run failed: a failed step, an invalid skill
  2  the command line is invalid
  3  the requested item does not exist or cannot be planned
  4  refused by trust, an approval or a gate
  5  time or budget used up
  6  waits for approval
  130  interrupted

Example
  $ skillrail run release-check

${rest}skillrail <command> --help shows the options of a command, with an example.
`
}

/** Groups in one line each, without what few people need. */
function shortened(entries: readonly CommandEntry[]): Pick<CommandEntry, 'name' | 'summary'>[] {
  const names = [...new Set(entries.map(({ name }) => name.split(' ')[0] ?? name))]
  return names
    .filter((name) => common.includes(name))
    .map((name) => {
      const single = entries.find((entry) => entry.name === name)?.summary
      return { name, summary: groupSummaries[name] ?? single ?? '' }
    })
}

export function groupHelp(group: string, entries: readonly CommandEntry[]): string {
  return `Usage: skillrail ${group} <command> [arguments] [options]\n\n${entryLines(entries)}`
}

export function unknownCommand(words: readonly string[]): UsageError {
  const called = words.join(' ')
  const names = commands.map((command) => command.name)
  const meant = nearest(called, names) ?? nearest(words[0] ?? '', names)
  return new UsageError({
    code: 'unknown-command',
    message: `unknown command ${called}`,
    hint:
      meant === undefined
        ? 'List the commands with: skillrail --help'
        : `Did you mean skillrail ${meant}?`,
  })
}

function entryLines(entries: readonly Pick<CommandEntry, 'name' | 'summary'>[]): string {
  return entries.map(({ name, summary }) => `  ${name.padEnd(20)} ${summary}\n`).join('')
}
