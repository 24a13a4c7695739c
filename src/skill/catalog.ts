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
  /** The most estimated tokens that the whole text may have; absent means no limit. */
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
const minDescription = 40

type FoundSkill = Omit<CatalogEntry, 'location'> & { path: string }

/**
 * The skills that a model can choose from: entries, or what `discover()` and `list()` return. The
 * XML is the reference library's: names and descriptions are escaped, the location is not.
 * @throws {UsageError} for an option that is unknown or of a wrong kind, such as a negative budget.
 */
export function renderCatalog(
  skills: readonly (CatalogEntry | FoundSkill)[],
  rawOptions: CatalogOptions,
): Catalog {
  checkArgument(skills, 'The skills of a catalogue', listOf('skills', isObject))
  const options = checkOptions(rawOptions, catalogOptions)
  const entries = skills.map((skill) => {
    const { name, description } = skill
    return { name, description, location: 'path' in skill ? skill.path : skill.location }
  })
  const { shortened: shortenedNames, ...content } = fitCatalog(entries, options)
  return {
    text: catalogText(content, options.format),
    omitted: content.omitted,
    shortened: shortenedNames,
  }
}

/**
 * Fits skills into a budget: first all descriptions are cut to one length. If that is not enough,
 * the last skills are left out, so pass the most important skills first.
 * @throws RangeError if the budget is negative or not a number.
 */
export function fitCatalog(
  skills: readonly CatalogEntry[],
  { format, tokenBudget }: CatalogOptions,
): CatalogContent & Pick<Catalog, 'shortened'> {
  const budget = tokenBudget === undefined ? Infinity : tokenBudget * 4
  if (Number.isNaN(budget) || budget < 0) {
    throw new RangeError(`The token budget is ${tokenBudget}; it must be 0 or more.`)
  }
  const contentOf = (length: number, count = skills.length): CatalogContent => ({
    skills: skills.slice(0, count).map((skill) => {
      return { ...skill, description: shorten(skill.description, length) }
    }),
    omitted: skills.slice(count).map(({ name }) => name),
  })
  const fits = (content: CatalogContent) => catalogText(content, format).length <= budget
  const longest = Math.max(0, ...skills.map(({ description }) => description.length))
  let content = contentOf(Infinity)
  if (!fits(content)) {
    const length = largest(minDescription, longest, (most) => fits(contentOf(most)))
    const fitsWith = (most: number) => fits(contentOf(minDescription, most))
    content =
      length === undefined
        ? contentOf(minDescription, largest(0, skills.length, fitsWith) ?? 0)
        : contentOf(length)
  }
  const shortenedSkills = content.skills.filter(
    ({ description }, index) => description !== skills[index]?.description,
  )
  return { ...content, shortened: shortenedSkills.map(({ name }) => name) }
}

/** Returns the largest number that meets a condition which every smaller number meets too. */
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
  const omissionLines = note.map((text) => `<omitted>${escapeXml(text)}</omitted>`)
  return ['<available_skills>', ...lines, ...omissionLines, '</available_skills>'].join('\n')
}

/** Names the omitted skills if they are few; the budget is not for a list of omissions. */
function omission(names: readonly string[]): string {
  const count = names.length === 1 ? '1 skill is' : `${names.length} skills are`
  return `${count} not listed here: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}.`
}

function shorten(description: string, length: number): string {
  if (description.length <= length) return description
  const start = description.slice(0, Math.max(0, length - 1)).replace(/[\ud800-\udbff]$/, '')
  const word = withoutLastWord(start)
  return `${(word.length > length / 2 ? word : start).trimEnd()}…`
}

export interface SkillContent {
  name: string
  directory: string
  body: string
  resources: readonly string[]
  /** Whether `resources` is incomplete because the reader stopped at a limit; default false. */
  incomplete?: boolean | undefined
}

/** How many resources the text lists; a model can list the others itself. */
const resourceLimit = 50

/**
 * Wraps the content of an activated skill for a model: the body between tags that name the skill,
 * its directory and its files. A `skill_content` or `skill_resources` tag in the body loses its
 * `<`, so that a model never reads the text after it as text from outside the skill.
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

/** Returns the text that replaces content which the conversation still contains. */
export function alreadyActiveNote(name: string): string {
  const escapedName = escapeXml(name)
  return `The skill "${escapedName}" is already active with the same content and arguments; follow the instructions given above.`
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
  const remaining = resources.length - files.length
  const more = incomplete ? 'more files' : `${remaining} more`
  const note = `This list is incomplete: the directory has ${more}.`
  const notes = incomplete || remaining > 0 ? [note] : []
  return ['', '<skill_resources>', ...files, ...notes, '</skill_resources>']
}

function disarm(text: string): string {
  return text.replace(/<(?=\s*(?:\/\s*)?skill_(?:content|resources)\b)/gi, '&lt;')
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}
