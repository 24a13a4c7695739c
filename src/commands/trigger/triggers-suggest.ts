import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineCommand, option } from '#core/command'
import { codeOfErrors, type Diagnostic } from '#core/errors'
import { readRegularFile } from '#core/read-files'
import { amount, linesText, safeLine, safeText } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import { measureLine } from '#trigger/prompt-cases'
import { readTranscript, type Suggestion, suggestTriggers, withTriggers } from '#trigger/suggest'
import { readText, skillsFor } from '#project/skills'
import { skillArguments } from './options.ts'

interface Result {
  transcripts: number
  prompts: number
  suggestions: readonly (Suggestion & { diff?: string | undefined })[]
  diagnostics: readonly Diagnostic[]
}

const maxTranscripts = 1000
const longestTranscript = 64 * 1024 * 1024

export const command = defineCommand<Result>()({
  arguments: skillArguments,
  options: {
    transcripts: option.list(
      '--transcripts <path...>',
      'directories or files (default: those of Claude Code and Codex)',
    ),
  },
  examples: ['triggers suggest deploy', 'triggers suggest --transcripts ./sessions'],
  async run(context, { arguments: references, transcripts: given }) {
    const { cwd, home, env } = context.runtime
    const usual = [
      join(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), 'projects'),
      join(env['CODEX_HOME'] ?? join(home, '.codex'), 'sessions'),
    ].filter(existsSync)
    const places = given.length > 0 ? given.map((path) => resolve(cwd, path)) : usual
    const files = places.flatMap(transcriptsIn)
    const diagnostics: Diagnostic[] = []
    const warn = (path: string, message: string) => {
      diagnostics.push({ code: 'transcript-unreadable', severity: 'warning', path, message })
    }
    const turns = newest(files).flatMap((path) => {
      const reading = readRegularFile(path, { maxBytes: longestTranscript })
      if (!reading.ok) warn(path, reading.message)
      const { turns: read, broken } = readTranscript(reading.ok ? reading.text : '')
      if (broken > 0) warn(path, `${amount(broken, 'line')} of it cannot be read`)
      return read
    })
    if (files.length > maxTranscripts) {
      context.note(`Of ${files.length} transcripts only the newest ${maxTranscripts} are read.`)
    }
    const all = skillsFor(context, []).skills
    const chosen = references.length === 0 ? all : skillsFor(context, references).skills
    const suggestions = chosen.map((skill) => {
      const others = all.filter(({ name }) => name !== skill.name)
      const suggestion = suggestTriggers([skill, ...others], turns)
      const { path } = skill
      const before = suggestion.entries && readText(path)
      const after = before && withTriggers(before, path, suggestion.entries)
      return { ...suggestion, diff: after && unifiedDiff(path, before, after) }
    })
    return { transcripts: files.length, prompts: turns.length, suggestions, diagnostics }
  },
  exitCode: codeOfErrors,
  render({ transcripts, prompts, suggestions }) {
    const useful = suggestions.filter(({ entries }) => entries !== '')
    const few = suggestions.length - useful.length
    return linesText([
      ...useful.flatMap(suggestionLines),
      `${amount(prompts, 'prompt')} in ${amount(transcripts, 'transcript')}, ${amount(useful.length, 'suggestion')}`,
      few > 0 && `${amount(few, 'skill')} with fewer than 4 prompts that used it`,
      useful.length > 0 && 'Nothing was changed.',
    ])
  },
  notes: ({ diagnostics }) => [...diagnostics],
})

function suggestionLines(suggestion: Result['suggestions'][number]) {
  const { skill, prompts, entries, heldOut, diff } = suggestion
  const used = amount(prompts.used, 'prompt')
  return [
    safeLine(`${skill}: used after ${used}, not after ${prompts.others} others`),
    heldOut && `now:       ${measureLine(heldOut.now)}, on prompts held out`,
    heldOut && `suggested: ${measureLine(heldOut.suggested)}`,
    safeText(diff || `triggers:\n${entries.trimEnd()}`),
    '',
  ]
}

function transcriptsIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(path, name))
}

function newest(files: readonly string[]): string[] {
  const timeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const dated = files.map((path) => ({ path, time: timeOf(path) }))
  const sorted = dated.toSorted((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1))
  return sorted.slice(0, maxTranscripts).map(({ path }) => path)
}
