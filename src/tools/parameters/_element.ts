import type { Extracted } from './extract-value.ts'

interface PageElement {
  id: string
  role: string
  label: string
}

/** Words that people use for the roles of an accessibility tree. */
const roleWords: Readonly<Record<string, readonly string[]>> = {
  button: ['button'],
  link: ['link', 'anchor'],
  textbox: ['field', 'input', 'textbox', 'box', 'textarea', 'text'],
  searchbox: ['search', 'field', 'input', 'box'],
  checkbox: ['checkbox', 'box'],
  radio: ['radio', 'option'],
  combobox: ['dropdown', 'select', 'combobox', 'menu', 'list'],
  tab: ['tab'],
  heading: ['heading', 'title', 'headline'],
  image: ['image', 'picture', 'icon', 'logo'],
  menuitem: ['menu', 'item'],
}

const allRoleWords = new Set(Object.values(roleWords).flat())

/**
 * Finds the element of a snapshot that the words describe: its label counts most, its role decides
 * between equal labels. Reads the snapshots of chrome-devtools-mcp and of Playwright.
 */
export function elementIn(snapshot: string, words: readonly string[]): Extracted {
  const elements = elementsOf(snapshot)
  const scored = elements
    .map((element) => ({ element, score: score(element, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
  const [best, second] = scored
  if (best === undefined || best.score === second?.score) {
    const near = scored.length > 0 ? scored.map(({ element }) => element) : elements
    return { found: false, candidates: near.slice(0, 10).map(described) }
  }
  return { found: true, value: best.element.id }
}

function elementsOf(snapshot: string): PageElement[] {
  return snapshot.split('\n').flatMap((line) => {
    const chrome = /^\s*uid=(\S{1,40})\s+(\S{1,40})(?:\s+"([^"]{0,500})")?/.exec(line)
    if (chrome !== null) return [elementFrom(chrome[1], chrome[2], chrome[3])]
    const playwright =
      /^\s*-\s+(\w{1,40})(?:\s+"([^"]{0,500})")?[^\n]{0,300}?\[ref=(\w{1,40})\]/.exec(line)
    return playwright === null ? [] : [elementFrom(playwright[3], playwright[1], playwright[2])]
  })
}

function elementFrom(id = '', role = '', label = ''): PageElement {
  return { id, role: role.toLowerCase(), label }
}

function score({ role, label }: PageElement, words: readonly string[]): number {
  const labelWords = new Set(label.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
  const names = words.filter((word) => labelWords.has(word))
  const spoken = Object.hasOwn(roleWords, role) ? roleWords[role] : undefined
  const isRole = words.some((word) => spoken?.includes(word) === true)
  const wantsName = words.some((word) => !allRoleWords.has(word))
  if (names.length === 0 && (wantsName || !isRole)) return 0
  const exact = labelWords.size > 0 && names.length === labelWords.size ? 0.5 : 0
  return names.length * 2 + exact + (isRole ? 1 : 0)
}

function described({ id, role, label }: PageElement): string {
  return label === '' ? `${id} ${role}` : `${id} ${role} "${label}"`
}
