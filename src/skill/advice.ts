import { posix } from 'node:path'
import { byText } from '#core/errors'
import { estimateTokens } from '#core/text'
import { doubtfulPositions } from './arguments.ts'
import type { FieldReader } from './field-values.ts'
import type { SkillFiles } from './model.ts'
import { findReferences } from './references.ts'
import type { Position } from './rules.ts'

interface AdviceInput {
  description: { text: string | undefined; at: Position | undefined }
  body: string
  bodyLine: number
  files?: SkillFiles | undefined
  readFile?: ((path: string) => string | undefined) | undefined
  arguments?: { names: readonly string[]; hint?: string | undefined } | undefined
}

const lineLimit = 500
export const tokenLimit = 5000

export function adviseOnSkill(reader: FieldReader, input: AdviceInput): void {
  const { text, at } = input.description
  if (text !== undefined) adviseOnDescription(reader, text, at)
  adviseOnLength(reader, input)
  adviseOnReferences(reader, input)
  adviseOnChains(reader, input)
  adviseOnScripts(reader, input)
  adviseOnPositions(reader, input)
}

function adviseOnPositions(reader: FieldReader, input: AdviceInput): void {
  for (const { placeholder, line } of doubtfulPositions(
    input.body,
    input.arguments ?? { names: [] },
  )) {
    const at = { line: input.bodyLine + line - 1, column: 1 }
    const message = `\`${placeholder}\` is replaced when the skill is called with arguments.`
    const hint = `Write \`\\${placeholder}\` if it is text; if it is a placeholder, declare \`arguments\`.`
    reader.report('argument-unescaped', at, message, hint)
  }
}

function adviseOnLength(reader: FieldReader, input: AdviceInput): void {
  const body = input.body.trim()
  const at = { line: input.bodyLine, column: 1 }
  const hint = 'Move detail into files below `references/` and say when to read them.'
  const lines = body === '' ? 0 : body.split('\n').length
  if (lines > lineLimit) {
    const message = `The body has ${lines} lines; ${lineLimit} are recommended at most.`
    reader.report('body-too-many-lines', at, message, hint)
  }
  const tokens = estimateTokens(body)
  if (tokens > tokenLimit) {
    const message = `The body has about ${tokens} tokens; ${tokenLimit} are recommended at most.`
    reader.report('body-too-many-tokens', at, message, hint)
  }
}

function adviseOnReferences(reader: FieldReader, { body, bodyLine, files }: AdviceInput): void {
  const paths = files && pathsOf(files)
  for (const { target, line } of findReferences(body)) {
    const at = { line: bodyLine + line - 1, column: 1 }
    const refers = `The body refers to \`${target}\``
    const path = posix.join('.', target).replace(/\/$/, '').replace(/^\.$/, '')
    if (/^\.\.(?:\/|$)/.test(path)) {
      reader.report('reference-outside', at, `${refers}, outside the skill.`)
    } else if (paths && !paths.has(path)) {
      reader.report('reference-missing', at, `${refers}, which does not exist.`)
    } else if (path.split('/').length > 2) {
      reader.report('reference-deep', at, `${refers}, more than one level deep.`)
    }
  }
}

/** Advises on documents that a model finds only through another document. */
function adviseOnChains(
  reader: FieldReader,
  { body, bodyLine, files, readFile }: AdviceInput,
): void {
  if (!files || !readFile) return
  const paths = pathsOf(files)
  const references = findReferences(body).map(({ target, line }) => {
    return { path: posix.join('.', target), at: { line: bodyLine + line - 1, column: 1 } }
  })
  const visited = new Set(['SKILL.md', ...references.map(({ path }) => path)])
  for (const { path, at } of references) {
    const text = isDocument(path) && paths.has(path) ? readFile(path) : undefined
    for (const { target } of findReferences(text ?? '')) {
      const beside = posix.join(posix.dirname(path), target)
      const next = [beside, posix.join('.', target)].find((one) => paths.has(one))
      if (next === undefined || !isDocument(next) || visited.has(next)) continue
      visited.add(next)
      const message = `\`${path}\` refers on to \`${next}\`, which the body does not name.`
      reader.report('reference-chain', at, message, 'Name it in the body, too.')
    }
  }
}

function isDocument(path: string): boolean {
  return /\.(?:mdx?|markdown|txt)$/i.test(path)
}

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
 * A shell script or a script without an extension is started by its path, so it must be executable.
 */
function adviseOnScripts(reader: FieldReader, { body, bodyLine, files = [] }: AdviceInput): void {
  for (const file of files.toSorted(byText('path'))) {
    const { path } = file
    const isScript = /^scripts\/[^/.]+(?:\.(?:sh|bash|zsh))?$/.test(path)
    if (!isScript || /\/(?:README|LICENSE|Makefile)$/i.test(path)) continue
    // Checked last, because reading the file costs most.
    if (file.executable || isHandedOver(body, path)) continue
    const hint = `Run \`chmod +x ${path}\` in the directory of the skill.`
    const at = { line: bodyLine, column: 1 }
    reader.report('script-not-executable', at, `\`${path}\` is not executable.`, hint)
  }
}

function isHandedOver(body: string, path: string): boolean {
  const interpreter = /\b(?:ba|z|k|da)?sh\s+(?:-\w+\s+)*["']?(?:[\w./${}-]*\/)?$|\bsource\s+$/
  return body
    .split(path)
    .slice(0, -1)
    .some((textBefore) => interpreter.test(textBefore.slice(-80)))
}

function adviseOnDescription(reader: FieldReader, text: string, at: Position | undefined): void {
  const person = wrongPerson(text)
  if (person) {
    const message = `The description is in the ${person} person.`
    const hint = 'Write "Extracts …", not "I extract …".'
    reader.report('description-person', at, message, hint)
  }
  if (isVague(text)) {
    const message = 'The description is too short to select the skill.'
    reader.report('description-vague', at, message)
  }
  if (!occasion.test(text)) {
    const message = 'The description does not say when to use the skill.'
    reader.report('description-no-occasion', at, message, 'Add a sentence such as "Use when …".')
  }
}

/**
 * Phrases with which a description says when to use the skill: "Use when", "when the user", "if …".
 */
const occasion =
  /\b(?:when(?:ever)?|if|during|before|after|while|trigger(?:s|ed)?|activate[sd]?|invoke[sd]?|whether)\b|\b(?:us(?:e|ed|eful)|need(?:ed)?|helpful|ideal|suitable|designed|intended|appl(?:y|ies)|invoke|covers|should be used)\s+(?:(?:this|it|proactively|skill)\s+)*(?:for|to|with|in|by|as)\b|\b(?:asks?|asked|wants?|needs?|mentions?|requests?|says?)\b|\bin (?:case|response|situations)\b|\bon (?:request|demand)\b/i

/**
 * A short description with fewer than four meaningful words does not distinguish one skill from a hundred
 * others.
 */
function isVague(text: string): boolean {
  // Thai, kana and Han are written without blanks between words.
  if (/[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/.test(text)) return Array.from(text).length < 12
  const words = text.toLowerCase().split(/[\s"'(),.:;!?/<>`[\]{}]+/)
  const realWords = words.filter((word) => /[a-z0-9\u00c0-\uffff]/.test(word))
  const meaningful = realWords.filter((word) => !emptyWords.has(word))
  return meaningful.length < 4 && realWords.length < shortDescription
}

/** Number of words. The specification's minimal example of a description has twelve. */
const shortDescription = 10

const emptyWords = new Set(
  'a an and any are as at by can do does for from helps help helper in is it its of on or skill that the this thing things to tool use used useful various with work working works stuff your'.split(
    ' ',
  ),
)

function wrongPerson(text: string): 'first' | 'second' | undefined {
  // Words in quotation marks are quotes from a user.
  const ownWords = text.replace(/"[^"]*"|“[^”]{0,400}”|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g, ' ')
  if (/(?:^|[.!?:]\s+)(?:I|We)\s+(?:can|will|am|are|help|\w+)\b|\bI(?:'ll|'m)\b/.test(ownWords)) {
    return 'first'
  }
  return /(?:^|[.!?:]\s+)(?:You|Your)\b/.test(ownWords) ||
    /\b(?:helps?|lets?|allows?) you\b/i.test(ownWords)
    ? 'second'
    : undefined
}
