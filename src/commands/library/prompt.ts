import { defineCommand, option } from '#core/command'
import { errorsIn } from '#core/errors'
import { budgetRange } from '#core/option-values'
import { amount, safeLine, safeText } from '#core/text'
import { type CatalogEntry, catalogText, fitCatalog } from '#skill/catalog'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { findSkill } from '#library/find-skill'

/** `omitted`: names that did not fit into the budget. */
type PromptResult = { skills: readonly CatalogEntry[]; omitted: readonly string[] }

export const command = defineCommand<PromptResult>()({
  arguments: {
    '[skill...]': 'names, directories or SKILL.md files (default: all a model may use)',
  },
  options: {
    format: option.choice(
      '--format <name>',
      'xml (as the reference library; the default), markdown or json',
      { choices: ['xml', 'markdown', 'json'] },
    ),
    budget: option.integer(
      '--budget <tokens>',
      'maximum estimated tokens: descriptions are cut first',
      budgetRange,
    ),
  },
  examples: ['list --prompt --format markdown --budget 2000'],
  async run(context, { arguments: references, format = 'xml', budget: tokenBudget }) {
    const options = discoverOptionsFrom(context.runtime, context.settings)
    const discovery = references.length > 0 ? undefined : discoverSkills(options)
    const { diagnostics = [] } = discovery ?? {}
    context.diagnose(errorsIn(diagnostics))
    // The skills in the arguments, or every skill that the model may activate by itself.
    const candidates =
      discovery?.skills.filter(({ fields }) => !fields.disableModelInvocation) ??
      references.map((reference) => findSkill(reference, options))
    const entries = candidates.map(({ name, path, description }) => ({
      // A control character is illegal in XML, and hidden text has no place in a catalogue.
      name: safeLine(name),
      description: safeText(description),
      location: path,
    }))
    const { skills, omitted, shortened } = fitCatalog(entries, { format, tokenBudget })
    if (shortened.length > 0) {
      context.note(`The description of ${amount(shortened.length, 'skill')} was cut.`)
    }
    if (omitted.length > 0) context.note(`Left out: ${omitted.join(', ')}.`)
    return { skills, omitted }
  },
  render(result, { isTerminal }) {
    const text = catalogText(result, 'xml')
    return `${isTerminal ? safeText(text) : text}\n`
  },
  formats: {
    xml: (result) => `${catalogText(result, 'xml')}\n`,
    markdown: (result) => `${catalogText(result, 'markdown')}\n`,
  },
})
