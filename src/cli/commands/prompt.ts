import { exitCode, safeLine, safeText, UsageError } from '../../base/index.ts'
import {
  discoverOptionsFrom,
  discoverSkills,
  findSkill,
  type SkillInfo,
} from '../../library/index.ts'
import { type CatalogFormat, renderCatalog } from '../../skill/index.ts'
import { amount } from '../../base/text.ts'
import { budgetRange, wholeNumber } from '../../base/option-values.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  format?: string | undefined
  budget?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[skill...]', 'names, directories or SKILL.md files (default: all a model may use)')
      .option('--format <name>', 'xml (as the reference library; the default), markdown or json')
      .option('--budget <tokens>', 'estimated tokens it may cost: descriptions are cut first')
      .addHelpText('after', '\nExample:\n  $ skillrail prompt --format markdown --budget 2000\n')
  },
  async run(context, references, options) {
    const { text, omitted, shortened } = renderCatalog(
      skillsFor(context, references).map(({ name, description, path }) => ({
        // A control character is illegal in XML, and hidden text has no place in a catalogue.
        name: safeLine(name),
        description: safeText(description),
        location: path,
      })),
      {
        format: readFormat(options.format, context.options.json),
        tokenBudget: wholeNumber('--budget', options.budget, budgetRange),
      },
    )
    context.output.line(context.output.isTerminal ? safeText(text) : text)
    if (shortened.length > 0) {
      context.output.note(`The description of ${amount(shortened.length, 'skill')} was cut.`)
    }
    if (omitted.length > 0) context.output.note(`Left out: ${omitted.join(', ')}.`)
    return exitCode.done
  },
})

/** What was named, or every skill that the model may activate by itself. */
function skillsFor(context: CommandContext, references: readonly string[]): readonly SkillInfo[] {
  const options = discoverOptionsFrom(context.runtime, context.settings)
  if (references.length > 0) return references.map((reference) => findSkill(reference, options))
  const { skills, diagnostics } = discoverSkills(options)
  context.output.diagnostics(diagnostics.filter(({ severity }) => severity === 'error'))
  return skills.filter(({ fields }) => !fields.disableModelInvocation)
}

function readFormat(value: string | undefined, json: boolean): CatalogFormat {
  if (json && value !== undefined && value !== 'json') {
    throw wrongUse(`--format ${value} and --json exclude each other`)
  }
  if (value === undefined) return json ? 'json' : 'xml'
  if (value === 'xml' || value === 'markdown' || value === 'json') return value
  throw wrongUse(`--format ${value} is not known; allowed: xml, markdown, json`)
}

function wrongUse(message: string): UsageError {
  const hint = 'skillrail prompt --help shows what is allowed.'
  return new UsageError({ code: 'wrong-use', message, hint })
}
