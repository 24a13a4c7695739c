import { exitCode, safeText } from '../../base/index.ts'
import { estimateTokens } from '../../skill/index.ts'
import { tierZeroBlock, tierZeroLine } from '../../trigger/index.ts'
import { amount, count } from '../../base/text.ts'
import { indexTargets, planIndex, writeIndex } from '../_index-files.ts'
import { skillsFor } from '../../trigger/commands/skills.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  write?: boolean | readonly string[] | undefined
  check?: boolean | undefined
  dryRun?: boolean | undefined
  all?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--write [file...]', 'into these files (default: CLAUDE.md, AGENTS.md, … that exist)')
      .option('--check', 'write nothing; end with 1 when a file is out of date')
      .option('--dry-run', 'show the changes and write nothing')
      .option('--all', 'also the user’s own skills; by default only the project’s')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail index\n  $ skillrail index --write AGENTS.md CLAUDE.md\n  $ skillrail index --check\n',
      )
  },
  async run(context, _positionals, options) {
    const { skills } = skillsFor(context, [])
    const lines = skills
      .filter(({ info }) => options.all === true || info.scope === 'project')
      .filter(({ info }) => info.scope === 'project' || info.trustLevel === 'trusted')
      .filter(({ info }) => !info.fields.disableModelInvocation)
      .map(({ name, info }) => tierZeroLine(name, info.fields))
    const block = tierZeroBlock(lines)
    const tokens = estimateTokens(block)
    const isWanted =
      options.write !== undefined || options.check === true || options.dryRun === true
    const files = isWanted ? planIndex(indexTargets(context.runtime.cwd, options.write), block) : []
    const isDry = options.check === true || options.dryRun === true
    if (!isDry) writeIndex(files)
    const { output } = context
    const report = files.map(({ path, state, problem }) => ({ path, state, problem }))
    if (context.options.json) output.json({ skills: lines, tokens, files: report, text: block })
    else if (!isWanted) output.raw(block)
    for (const { path, state, diff, problem } of context.options.json ? [] : files) {
      if (options.dryRun === true && diff !== '') output.line(safeText(diff))
      else output.line(`${state} ${path}${problem === undefined ? '' : `: ${problem}`}`)
    }
    output.note(`${amount(lines.length, 'skill')}, ${count(tokens)} tokens`)
    const isStale = options.check === true && files.some(({ state }) => state !== 'current')
    const isBroken = files.some(({ state }) => state === 'broken')
    return isStale || isBroken ? exitCode.badAnswer : exitCode.done
  },
})
