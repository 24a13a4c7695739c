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
export function escapeXml(text: string): string {
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
