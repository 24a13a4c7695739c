import { compareText, type Diagnostic } from '../core/diagnostic.ts'
import type { SkillFiles } from './model.ts'
import { findReferences, type SkillReference } from './references.ts'
import { finding, type Position } from './rules.ts'
import { estimateTokens } from './catalog.ts'

export interface AdviceInput {
  path: string
  description: { text: string; at: Position } | undefined
  body: string
  /** The line of the file on which the body begins. */
  bodyLine: number
  /** What lies in the directory; advice about files is given only where somebody looked. */
  files?: SkillFiles | undefined
}

const lineLimit = 500
const tokenLimit = 5000

/** What makes a skill better without being wrong now; every diagnostic is an `info`. */
export function adviseOnSkill(input: AdviceInput): Diagnostic[] {
  const references = findReferences(input.body)
  const paths = input.files && pathsOf(input.files)
  return [
    ...(input.description === undefined
      ? []
      : adviseOnDescription(input.path, input.description.text, input.description.at)),
    ...adviseOnLength(input),
    ...references.flatMap((reference) => adviseOnReference(input, paths, reference)),
    ...adviseOnScripts(input),
  ]
}

function adviseOnLength(input: AdviceInput): Diagnostic[] {
  const found: Diagnostic[] = []
  const body = input.body.trim()
  const lines = body === '' ? 0 : countLines(body)
  const at = { line: input.bodyLine, column: 1 }
  const hint = 'Move detail into files below `references/` and say when to read them.'
  if (lines > lineLimit) {
    const message = `The body has ${lines} lines; ${lineLimit} are recommended at most.`
    found.push(finding('body-too-many-lines', input.path, at, message, hint))
  }
  const tokens = estimateTokens(body)
  if (tokens > tokenLimit) {
    const message = `The body has about ${tokens} tokens; ${tokenLimit} are recommended at most.`
    found.push(finding('body-too-many-tokens', input.path, at, message, hint))
  }
  return found
}

function countLines(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

function adviseOnReference(
  input: AdviceInput,
  paths: ReadonlySet<string> | undefined,
  reference: SkillReference,
): Diagnostic[] {
  const at = { line: input.bodyLine + reference.line - 1, column: 1 }
  const { target } = reference
  const path = normalise(target)
  if (path === undefined) {
    const message = `The body refers to \`${target}\`, outside the skill.`
    const hint = 'A skill that is installed alone will not find it; bring the file along.'
    return [finding('reference-outside', input.path, at, message, hint)]
  }
  if (paths !== undefined && !paths.has(path)) {
    const message = `The body refers to \`${target}\`, which does not exist.`
    return [
      finding('reference-missing', input.path, at, message, 'Add the file or correct the path.'),
    ]
  }
  if (path.split('/').length > 2) {
    const message = `The body refers to \`${target}\`, more than one level deep.`
    const hint = 'Keep files that the body names directly below one directory of the skill.'
    return [finding('reference-deep', input.path, at, message, hint)]
  }
  return []
}

/** The path without `.` and `..`; undefined where it leaves the skill. */
function normalise(target: string): string | undefined {
  const parts: string[] = []
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

/** What a body may refer to: the files, and the directories above them. */
function pathsOf(files: SkillFiles): ReadonlySet<string> {
  const paths = new Set(['', 'SKILL.md'])
  for (const { path } of files) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      paths.add(path.slice(0, at))
    }
    paths.add(path)
  }
  return paths
}

/**
 * A shell script or a script without extension is started by its path, so it needs the run bit;
 * `.py`, `.mjs` and the like are usually handed to their interpreter.
 */
function adviseOnScripts(input: AdviceInput): Diagnostic[] {
  const scripts = (input.files ?? [])
    .filter((file) => /^scripts\/[^/.]+(?:\.(?:sh|bash|zsh))?$/.test(file.path))
    .filter((file) => !file.executable && !/\/(?:README|LICENSE|Makefile)$/i.test(file.path))
    .filter((file) => !isHandedOver(input.body, file.path))
    .toSorted((a, b) => compareText(a.path, b.path))
  return scripts.map((file) => {
    const message = `\`${file.path}\` is not executable.`
    return finding(
      'script-not-executable',
      input.path,
      { line: input.bodyLine, column: 1 },
      message,
      `Run \`chmod +x ${file.path}\` in the directory of the skill.`,
    )
  })
}

function isHandedOver(body: string, path: string): boolean {
  const interpreter = /\b(?:ba|z|k|da)?sh\s+(?:-\w+\s+)*["']?(?:[\w./${}-]*\/)?$|\bsource\s+$/
  for (let at = body.indexOf(path); at >= 0; at = body.indexOf(path, at + 1)) {
    if (interpreter.test(body.slice(Math.max(0, at - 80), at))) return true
  }
  return false
}

/** Advice about the one text by which a model chooses the skill. */
function adviseOnDescription(path: string, text: string, at: Position): Diagnostic[] {
  const found: Diagnostic[] = []
  const person = wrongPerson(text)
  if (person !== undefined) {
    const message = `The description speaks in the ${person} person.`
    const hint = 'It becomes part of a system prompt: write "Extracts …", not "I extract …".'
    found.push(finding('description-person', path, at, message, hint))
  }
  if (isVague(text)) {
    const message = 'The description is too short to choose the skill by.'
    const hint = 'Name what it does, with the words that a user would use.'
    found.push(finding('description-vague', path, at, message, hint))
  }
  if (!occasion.test(text)) {
    const message = 'The description does not say when to use the skill.'
    const hint = 'Add a sentence such as "Use when …".'
    found.push(finding('description-no-occasion', path, at, message, hint))
  }
  return found
}

/** The ways in which descriptions say when: "Use when", "when the user", "if …", "for … tasks". */
const occasion =
  /\b(?:when(?:ever)?|if|during|before|after|while|trigger(?:s|ed)?|activate[sd]?|invoke[sd]?|whether)\b|\b(?:us(?:e|ed|eful)|need(?:ed)?|helpful|ideal|suitable|designed|intended|appl(?:y|ies)|invoke|covers|should be used)\s+(?:(?:this|it|proactively|skill)\s+)*(?:for|to|with|in|by|as)\b|\b(?:asks?|asked|wants?|needs?|mentions?|requests?|says?)\b|\bin (?:case|response|situations)\b|\bon (?:request|demand)\b/i

/** Fewer than four words that carry meaning do not separate one skill from a hundred others. */
function isVague(text: string): boolean {
  if (unspacedScript.test(text)) return Array.from(text).length < 12
  const words = text.toLowerCase().split(/[\s"'(),.:;!?/<>`[\]{}]+/)
  return (
    words.filter((word) => /[a-z0-9\u00c0-\uffff]/.test(word) && !emptyWords.has(word)).length < 4
  )
}

/** Scripts that write without blanks between words: Thai, kana, Han. */
const unspacedScript = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/

const emptyWords = new Set(
  'a an and any are as at by can do does for from helps help helper in is it its of on or skill that the this thing things to tool use used useful various with work working works stuff your'.split(
    ' ',
  ),
)

function wrongPerson(text: string): 'first' | 'second' | undefined {
  // Words in quotation marks are the user's.
  const own = text.replace(/"[^"]*"|“[^”]{0,400}”|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g, ' ')
  if (/(?:^|[.!?:]\s+)(?:I|We)\s+(?:can|will|am|are|help|\w+)\b|\bI(?:'ll|'m)\b/.test(own)) {
    return 'first'
  }
  return /(?:^|[.!?:]\s+)(?:You|Your)\b/.test(own) || /\b(?:helps?|lets?|allows?) you\b/i.test(own)
    ? 'second'
    : undefined
}
