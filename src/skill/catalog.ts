import { withoutLastWord } from '../core/text.ts'

export interface CatalogEntry {
  name: string
  description: string
  /** Absolute path of the `SKILL.md`. */
  location: string
}

export type CatalogFormat = 'xml' | 'markdown' | 'json'

export interface CatalogOptions {
  format: CatalogFormat
  /** The estimated tokens the whole text may have; absent means no limit. */
  tokenBudget?: number | undefined
}

export interface Catalog {
  text: string
  /** Names that did not fit at all, in the order given. */
  omitted: readonly string[]
  /** Names whose description was cut, in the order given. */
  shortened: readonly string[]
}

/** What a catalogue shows: descriptions are cut already. */
interface CatalogContent {
  skills: readonly CatalogEntry[]
  omitted: readonly string[]
}

/** A description is never cut below this; a skill that still does not fit is left out. */
const leastDescription = 40

/**
 * The skills that a model can choose from. The XML is the one of the reference library: names and
 * descriptions escaped, the location as it is.
 *
 * @throws RangeError if the budget is negative or no number.
 */
export function renderCatalog(skills: readonly CatalogEntry[], options: CatalogOptions): Catalog {
  const { shortened, ...content } = fitCatalog(skills, options)
  return { text: catalogText(content, options.format), omitted: content.omitted, shortened }
}

/**
 * Fits skills into a budget: all descriptions are cut to one length first. If that does not suffice,
 * skills are left out from the end, so that the order given is the order of importance.
 *
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
  const contentOf = (kept: number, length: number): CatalogContent => ({
    skills: skills.slice(0, kept).map(({ name, description, location }) => {
      return { name, description: shorten(description, length), location }
    }),
    omitted: skills.slice(kept).map(({ name }) => name),
  })
  const fits = (kept: number, length: number): boolean =>
    catalogText(contentOf(kept, length), format).length <= budget
  const all = skills.length
  const longest = Math.max(0, ...skills.map(({ description }) => description.length))
  const length = fits(all, Infinity)
    ? Infinity
    : largest(leastDescription, longest, (candidate) => fits(all, candidate))
  const kept =
    length === undefined
      ? (largest(0, all, (candidate) => fits(candidate, leastDescription)) ?? 0)
      : all
  const content = contentOf(kept, length ?? leastDescription)
  const shortened = content.skills.filter(
    ({ description }, index) => description !== skills[index]?.description,
  )
  return { ...content, shortened: shortened.map(({ name }) => name) }
}

/** The largest number for which a condition holds that holds up to some point and not after. */
function largest(low: number, high: number, holds: (value: number) => boolean): number | undefined {
  let best: number | undefined
  let from = low
  let to = high
  while (from <= to) {
    const middle = Math.floor((from + to) / 2)
    if (holds(middle)) {
      best = middle
      from = middle + 1
    } else to = middle - 1
  }
  return best
}

export function catalogText({ skills, omitted }: CatalogContent, format: CatalogFormat): string {
  if (format === 'json') return JSON.stringify({ skills, omitted }, undefined, 2)
  const note = omitted.length === 0 ? [] : [omission(omitted)]
  if (format === 'markdown') return [...skills.map(markdownItem), ...note].join('\n')
  const lines = skills.flatMap((skill) => [
    '<skill>',
    '<name>',
    escapeLines(skill.name),
    '</name>',
    '<description>',
    escapeLines(skill.description),
    '</description>',
    '<location>',
    skill.location,
    '</location>',
    '</skill>',
  ])
  const left = note.map((text) => `<omitted>${escapeXml(text)}</omitted>`)
  return ['<available_skills>', ...lines, ...left, '</available_skills>'].join('\n')
}

function markdownItem({ name, description, location }: CatalogEntry): string {
  const text = description.replace(/\s+/g, ' ').trim()
  return `- **${name}**: ${text} (${location})`
}

/** The reference escapes without joining lines. */
function escapeLines(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeXml(line))
    .join('\n')
}

/** Names as far as they are few; a budget is not for a list of what is missing. */
function omission(left: readonly string[]): string {
  const names = left.slice(0, 5)
  const more = left.length > names.length ? ` and ${left.length - names.length} more` : ''
  const count = left.length === 1 ? '1 skill is' : `${left.length} skills are`
  return `${count} not listed here: ${names.join(', ')}${more}.`
}

function shorten(description: string, length: number): string {
  if (description.length <= length) return description
  const cut = description.slice(0, Math.max(0, length - 1)).replace(/[\ud800-\udbff]$/, '')
  const word = withoutLastWord(cut)
  return `${(word.length > length / 2 ? word : cut).trimEnd()}…`
}

export interface SkillContent {
  name: string
  /** The directory of the skill, absolute. */
  directory: string
  /** The instructions, with arguments in place. */
  body: string
  /** Files of the skill, relative to its directory. */
  resources: readonly string[]
  /** Whether `resources` was cut where it was read; default false. */
  incomplete?: boolean | undefined
}

/** How many resources a model is told of; the rest it lists itself. */
const resourceLimit = 50

/**
 * The content of an activated skill as a model gets it: the body between tags that name the skill,
 * its directory, and its files.
 *
 * The body cannot leave the wrapper: a `skill_content` or `skill_resources` tag inside it loses its
 * `<`, so that what follows is never taken for text from outside the skill.
 */
export function wrapSkillContent(content: SkillContent): string {
  return [
    `<skill_content name="${escapeXml(content.name)}">`,
    disarm(content.body.trim()),
    '',
    `Skill directory: ${disarm(oneLine(content.directory))}`,
    'Relative paths in this skill are relative to the skill directory.',
    ...resourceLines(content),
    '</skill_content>',
  ].join('\n')
}

/** What a model gets in place of content that its conversation still holds. */
export function alreadyActiveNote(name: string): string {
  const shown = escapeXml(name)
  return `The skill "${shown}" is already active with the same content and arguments; follow the instructions given above.`
}

/** Text for an XML element or attribute, on one line. */
function escapeXml(text: string): string {
  return oneLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;')
}

function resourceLines(content: SkillContent): string[] {
  if (content.resources.length === 0 && content.incomplete !== true) return []
  const shown = content.resources.slice(0, resourceLimit)
  const more = content.resources.length - shown.length
  const lines = ['', '<skill_resources>', ...shown.map((path) => `<file>${escapeXml(path)}</file>`)]
  if (content.incomplete === true)
    lines.push('This list is incomplete: the directory has more files.')
  else if (more > 0) lines.push(`This list is incomplete: the directory has ${more} more.`)
  return [...lines, '</skill_resources>']
}

function disarm(text: string): string {
  return text.replace(/<(?=\s*(?:\/\s*)?skill_(?:content|resources)\b)/gi, '&lt;')
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}

/** An estimate without a tokenizer: four UTF-16 code units are one token, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}
