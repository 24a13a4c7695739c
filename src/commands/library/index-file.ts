import { defineCommand, option } from '#core/command'
import { exitCode } from '#core/errors'
import { amount, count, estimateTokens, linesText, safeText } from '#core/text'
import { type IndexFile, writeIndex } from '#project/skill-index'
import { skillsFor } from '#project/skills'
import { tierZeroBlock, type TierZeroLine, tierZeroLine } from '#trigger/tier-zero'

interface IndexResult {
  skills: readonly TierZeroLine[]
  tokens: number
  /** Empty if the command only prints the block. */
  files: readonly IndexFile[]
  text: string
  check: boolean
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
  examples: [
    'triggers index',
    'triggers index --write AGENTS.md CLAUDE.md',
    'triggers index --check',
  ],
  async run(context, { write, check, dryRun, all }) {
    const installed = skillsFor(context, []).skills
    const skills = installed
      .filter(({ scope, trustLevel }) => scope === 'project' || (all && trustLevel === 'trusted'))
      .filter(({ fields }) => !fields.disableModelInvocation)
      .map(({ name, fields }) => tierZeroLine(name, fields))
    const text = tierZeroBlock(skills)
    const tokens = estimateTokens(text)
    const usesFiles = write !== undefined || check || dryRun
    // An empty block would claim that there are no skills.
    const hasContent = skills.length > 0 || installed.length === 0
    if (usesFiles && !hasContent) context.note('The project has no skills; --all takes your own.')
    const files =
      usesFiles && hasContent
        ? writeIndex(context.runtime, text, { files: write, dryRun, check })
        : []
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
