import { nearest } from '../core/text.ts'
import { UsageError } from '../core/errors.ts'
import { type CommandEntry, type CommandGroup, commands } from './registry.ts'

const groups: readonly CommandGroup[] = [
  'Run',
  'Chain',
  'Agent',
  'Tools',
  'Library',
  'Author',
  'Triggers',
  'Machine',
]

export function rootHelp(): string {
  const sections = groups.map((group) => {
    const entries = commands.filter((command) => command.group === group)
    return `${group}\n${entryLines(entries)}`
  })
  return `Usage: skillrail <command> [arguments] [options]

Runs Agent Skills on rails: what is loaded, in which order and through which gates
is decided by infrastructure and can always be explained.

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

skillrail <command> --help shows the options of a command, with an example.
`
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

function entryLines(entries: readonly CommandEntry[]): string {
  return entries.map(({ name, summary }) => `  ${name.padEnd(20)} ${summary}\n`).join('')
}
