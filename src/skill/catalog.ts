import {
  checkArgument,
  checkOptions,
  listOf,
  oneOf,
  type OptionOwner,
  required,
  rule,
} from '#core/api-options'
import { isObject } from '#core/json'
import { withoutLastWord } from '#core/text'

export interface CatalogEntry {
  name: string
  description: string
  location: string
}

interface CatalogOptions {
  format: 'xml' | 'markdown' | 'json'
  /** The estimated tokens the whole text may have; absent means no limit. */
  tokenBudget?: number | undefined
}

const catalogOptions: OptionOwner<CatalogOptions> = {
  of: 'renderCatalog',
  rules: { format: required(oneOf('xml', 'markdown', 'json')), tokenBudget: rule.amount },
}

interface Catalog {
  text: string
  omitted: readonly string[]
  shortened: readonly string[]
}

type CatalogContent = { skills: readonly CatalogEntry[] } & Pick<Catalog, 'omitted'>

/** A description is never cut below this; a skill that still does not fit is left out. */
const leastDescription = 40

type FoundSkill = Omit<CatalogEntry, 'location'> & { path: string }

/**
 * The skills that a model can choose from: entries, or what `discover()` and `list()` return. The XML is the one of the reference library: names and
 * descriptions escaped, the location as it is.
 * @throws {UsageError} for an option that is unknown or of a wrong kind, such as a negative budget.
 */
export function renderCatalog(
  skills: readonly (CatalogEntry | FoundSkill)[],
  given: CatalogOptions,
): Catalog {
  checkArgument(skills, 'The skills of a catalogue', listOf('skills', isObject))
  const options = checkOptions(given, catalogOptions)
  const entries = skills.map((skill) => {
    const { name, description } = skill
    return { name, description, location: 'path' in skill ? skill.path : skill.location }
  })
  const { shortened, ...content } = fitCatalog(entries, options)
  return { text: catalogText(content, options.format), omitted: content.omitted, shortened }
}

/**
 * Fits skills into a budget: all descriptions are cut to one length first. If that does not suffice,
 * skills are left out from the end, so that the order given is the order of importance.
 * @throws RangeError if the budget is negative or no number.
 */
export function fitCatalog(
  skills: readonly CatalogEntry[],
  { format, tokenBudget }: CatalogOptions,
): CatalogContent & Pick<Catalog, 'shortened'> {
  const budget = tokenBudget === undefined ? Infinity : tokenBudget * 4
  if (Number.isNaN(budget) || budget < 0) {
    throw new RangeError(`The token budget is ${tokenBudget}; it must be 0 or more.`)
  }
  const contentOf = (length: number, kept = skills.length): CatalogContent => ({
    skills: skills.slice(0, kept).map((skill) => {
      return { ...skill, description: shorten(skill.description, length) }
    }),
    omitted: skills.slice(kept).map(({ name }) => name),
  })
  const fits = (content: CatalogContent) => catalogText(content, format).length <= budget
  const longest = Math.max(0, ...skills.map(({ description }) => description.length))
  let content = contentOf(Infinity)
  if (!fits(content)) {
    const length = largest(leastDescription, longest, (most) => fits(contentOf(most)))
    const kept = (most: number) => fits(contentOf(leastDescription, most))
    content =
      length === undefined
        ? contentOf(leastDescription, largest(0, skills.length, kept) ?? 0)
        : contentOf(length)
  }
  const shortened = content.skills.filter(
    ({ description }, index) => description !== skills[index]?.description,
  )
  return { ...content, shortened: shortened.map(({ name }) => name) }
}

/** The largest number for which a condition holds that holds up to some point and not after. */
function largest(low: number, high: number, holds: (value: number) => boolean): number | undefined {
  let best: number | undefined
  let [from, to] = [low, high]
  while (from <= to) {
    const middle = Math.floor((from + to) / 2)
    if (holds(middle)) {
      best = middle
      from = middle + 1
    } else to = middle - 1
  }
  return best
}

export function catalogText(
  { skills, omitted }: CatalogContent,
  format: CatalogOptions['format'],
): string {
  if (format === 'json') return JSON.stringify({ skills, omitted }, undefined, 2)
  const note = omitted.length === 0 ? [] : [omission(omitted)]
  if (format === 'markdown') {
    const items = skills.map(({ name, description, location }) => {
      return `- **${name}**: ${description.replace(/\s+/g, ' ').trim()} (${location})`
    })
    return [...items, ...note].join('\n')
  }
  // The reference escapes without joining lines.
  const escapeLines = (text: string) => text.split('\n').map(escapeXml).join('\n')
  const lines = skills.flatMap(({ name, description, location }) => [
    '<skill>',
    `<name>\n${escapeLines(name)}\n</name>`,
    `<description>\n${escapeLines(description)}\n</description>`,
    `<location>\n${location}\n</location>`,
    '</skill>',
  ])
  const left = note.map((text) => `<omitted>${escapeXml(text)}</omitted>`)
  return ['<available_skills>', ...lines, ...left, '</available_skills>'].join('\n')
}

/** Names as far as they are few; a budget is not for a list of what is missing. */
function omission(left: readonly string[]): string {
  const count = left.length === 1 ? '1 skill is' : `${left.length} skills are`
  return `${count} not listed here: ${left.slice(0, 5).join(', ')}${left.length > 5 ? ', …' : ''}.`
}

function shorten(description: string, length: number): string {
  if (description.length <= length) return description
  const cut = description.slice(0, Math.max(0, length - 1)).replace(/[\ud800-\udbff]$/, '')
  const word = withoutLastWord(cut)
  return `${(word.length > length / 2 ? word : cut).trimEnd()}…`
}

export interface SkillContent {
  name: string
  directory: string
  body: string
  resources: readonly string[]
  /** Whether `resources` was cut where it was read; default false. */
  incomplete?: boolean | undefined
}

/** How many resources a model is told of; the rest it lists itself. */
const resourceLimit = 50

/**
 * The content of an activated skill as a model gets it: the body between tags that name the skill,
 * its directory, and its files. A `skill_content` or `skill_resources` tag in the body loses its `<`,
 * so that what follows is never taken for text from outside the skill.
 */
export function wrapSkillContent(content: SkillContent): string {
  const { name, directory, body } = content
  return [
    `<skill_content name="${escapeXml(name)}">`,
    disarm(body.trim()),
    ...directoryLines(directory),
    ...resourceLines(content),
    '</skill_content>',
  ].join('\n')
}

/** What a model gets in place of content that its conversation still holds. */
export function alreadyActiveNote(name: string): string {
  const shown = escapeXml(name)
  return `The skill "${shown}" is already active with the same content and arguments; follow the instructions given above.`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
}

function escapeXml(text: string): string {
  return oneLine(text).replace(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** A skill that a program made has no directory. */
function directoryLines(directory: string): string[] {
  if (directory === '') return []
  return [
    '',
    `Skill directory: ${disarm(oneLine(directory))}`,
    'Relative paths in this skill are relative to the skill directory.',
  ]
}

function resourceLines({ resources, incomplete = false }: SkillContent): string[] {
  if (resources.length === 0 && !incomplete) return []
  const files = resources.slice(0, resourceLimit).map((path) => `<file>${escapeXml(path)}</file>`)
  const left = resources.length - files.length
  const more = incomplete ? 'more files' : `${left} more`
  const note = `This list is incomplete: the directory has ${more}.`
  const notes = incomplete || left > 0 ? [note] : []
  return ['', '<skill_resources>', ...files, ...notes, '</skill_resources>']
}

function disarm(text: string): string {
  return text.replace(/<(?=\s*(?:\/\s*)?skill_(?:content|resources)\b)/gi, '&lt;')
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}
