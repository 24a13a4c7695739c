import { existsSync } from 'node:fs'
import { writeLimit } from '#core/project-state'
import { join, resolve } from 'node:path'
import { defineCommand, option } from '#core/command'
import { exitCode } from '#core/errors'
import { readRegularFile } from '#core/read-files'
import { amount, count, estimateTokens, linesText, safeText } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import { writeFileAtomicSync } from '#core/write-files'
import { skillsFor } from '#trigger/commands/skills'
import { tierZeroBlock, tierZeroFiles, tierZeroLine, tierZeroMarkers } from '#trigger/tier-zero'
import { writeBlock } from '#trigger/export-triggers'

interface IndexResult {
  skills: readonly ReturnType<typeof tierZeroLine>[]
  tokens: number
  /** Empty where only the block was asked for. */
  files: readonly ReportedFile[]
  text: string
  check: boolean
}

interface ReportedFile {
  path: string
  /** `stale`: it would change; `written`: it was; `broken`: it cannot be read or its markers are damaged. */
  state: 'current' | 'stale' | 'written' | 'broken'
  problem?: string | undefined
  diff?: string | undefined
}

export const command = defineCommand<IndexResult>()({
  options: {
    write: option.optionalList(
      '--write [file...]',
      'into these files (default: CLAUDE.md, AGENTS.md, … that exist)',
    ),
    check: option.flag('--check', 'write nothing; exit with 1 when a file is out of date'),
    dryRun: option.flag('--dry-run', 'show the changes and write nothing'),
    all: option.flag('--all', 'also the user’s own skills; by default only the project’s'),
  },
  examples: ['index', 'index --write AGENTS.md CLAUDE.md', 'index --check'],
  async run(context, { write, check, dryRun, all }) {
    const found = skillsFor(context, []).skills
    const skills = found
      .filter(({ scope, trustLevel }) => scope === 'project' || (all && trustLevel === 'trusted'))
      .filter(({ fields }) => !fields.disableModelInvocation)
      .map(({ name, fields }) => tierZeroLine(name, fields))
    const text = tierZeroBlock(skills)
    const tokens = estimateTokens(text)
    const isWanted = write !== undefined || check || dryRun
    // An empty block would say that there are none.
    const isUsed = isWanted && (skills.length > 0 || found.length === 0)
    if (isWanted && !isUsed) context.note('The project has no skills; --all takes your own.')
    const targets = isUsed ? indexTargets(context.runtime.cwd, write) : []
    const files = targets.map((path): ReportedFile => {
      const file = resolve(context.runtime.cwd, path)
      const { before, text: after, problem } = planFile(file, text)
      if (problem !== undefined) return { path, state: 'broken', problem }
      if (after === before) return { path, state: 'current' }
      if (dryRun) return { path, state: 'stale', diff: unifiedDiff(path, before, after) }
      if (check) return { path, state: 'stale' }
      writeFileAtomicSync(file, after, { within: writeLimit(file, context.runtime) })
      return { path, state: 'written' }
    })
    context.note(`${amount(skills.length, 'skill')}, ${count(tokens)} tokens`)
    return { skills, tokens, files, text, check }
  },
  exitCode({ files, check }) {
    const isBad = files.some(({ state }) => state === 'broken' || (check && state === 'stale'))
    return isBad ? exitCode.failed : exitCode.done
  },
  render({ files, text }) {
    if (files.length === 0) return text
    return linesText(
      files.map(({ path, state, problem, diff }) =>
        diff === undefined ? [`${state} ${path}`, problem ?? []].flat().join(': ') : safeText(diff),
      ),
    )
  },
})

/** The files that are named; else those of the table that exist; else `AGENTS.md`. */
function indexTargets(cwd: string, named: true | readonly string[] | undefined): readonly string[] {
  if (Array.isArray(named) && named.length > 0) return named
  const present = tierZeroFiles.filter((name) => existsSync(join(cwd, name)))
  return present.length > 0 ? present : ['AGENTS.md']
}

const mostBytes = 4 * 1024 * 1024

function planFile(file: string, block: string) {
  const reading = readRegularFile(file, { maxBytes: mostBytes })
  const before = reading.ok ? reading.text : ''
  if (!reading.ok && reading.code !== 'file-missing') {
    return { before, problem: reading.message, text: before }
  }
  return { before, problem: undefined, text: before, ...writeBlock(before, block, tierZeroMarkers) }
}
