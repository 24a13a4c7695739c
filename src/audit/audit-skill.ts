import { join, posix, resolve } from 'node:path'
import { realPathOf } from '#core/read-files'
import { placesIn } from '#core/text'
import { checkFrontmatter } from './check-frontmatter.ts'
import { InstalledNames } from './check-names.ts'
import { checkCapabilities, checkScript, checkSecrets, isNamedLikeScript } from './check-scripts.ts'
import { checkCharacters, checkJson, checkLayout, checkMarkdown } from './check-text.ts'
import { checkArchive, checkFileKind, checkTree, isNamedLikeText } from './check-tree.ts'
import { type AuditedText, Findings, type SkillAudit } from './findings.ts'
import {
  auditLimits,
  fileKind,
  headBytes,
  readBytes,
  readTree,
  type TreeEntry,
} from './read-tree.ts'

/**
 * Reports what a skill's directory contains: structure, capabilities and secrets, as facts with places and
 * without a verdict. Executes nothing, follows no link, and reads no more than {@link auditLimits} allow; a
 * part that was not read is a finding. No content of the directory makes it throw.
 * @param installedNames names of skills that this one must not be confused with.
 * @param real the directory's real path; read from the disk by default.
 */
export function auditSkill(
  directory: string,
  installedNames: InstalledNames = noNames,
  real = realPathOf(directory) ?? resolve(directory),
): SkillAudit {
  const findings = new Findings(directory)
  const tree = readTree(directory, real)
  checkTree(tree, findings)
  const { entries } = tree
  const instructions = entries.filter(({ path }) => isSkillFile(path))
  // The limits must not be used up before the file that every client reads.
  const otherEntries = entries.filter(({ path }) => !isSkillFile(path))
  let name: string | undefined
  let analysedBytes = 0
  for (const entry of [...instructions, ...otherEntries]) {
    if (entry.kind !== 'file' || entry.size > auditLimits.fileBytes) continue
    const textFile = openText(directory, entry, auditLimits.totalBytes - analysedBytes, findings)
    if (!textFile) continue
    analysedBytes += textFile.bytes
    checkText(textFile)
    if (!isSkillFile(entry.path)) continue
    const declaredName = checkFrontmatter(
      entry.path,
      textFile.text,
      { installed: installedNames, directory: real },
      findings,
    )
    name ??= declaredName
  }
  if (!instructions.some(({ kind }) => kind === 'file')) {
    const notRegular = 'is not a regular file, so it was not looked at'
    const message = instructions.length === 0 ? 'there is no SKILL.md' : notRegular
    findings.add('not-analysed', { file: instructions[0]?.path ?? '' }, message)
  }
  const files = entries.filter(({ kind }) => kind !== 'directory').length
  return { name, directory, files, analysedBytes, findings: findings.list() }
}

const noNames = new InstalledNames([])

function isSkillFile(path: string): boolean {
  return /^skill\.md$/i.test(path)
}

function checkText(text: AuditedText): void {
  const extension = posix.extname(text.file).toLowerCase()
  checkCharacters(text)
  checkLayout(text)
  if (extension === '.md' || extension === '.mdx') checkMarkdown(text)
  if (extension === '.json' || extension === '.jsonc') checkJson(text)
  checkCapabilities(text)
  checkSecrets(text)
}

/**
 * Reads a text file within the limits and `bytesLeft`; undefined for a file that is not text.
 */
function openText(
  directory: string,
  { path: file, size, mode }: TreeEntry & { kind: 'file' },
  bytesLeft: number,
  findings: Findings,
): (AuditedText & { bytes: number }) | undefined {
  const notAnalysed = (message: string): undefined => {
    findings.add('not-analysed', { file }, message)
  }
  const path = join(directory, file)
  const head = readBytes(path, 0, headBytes)
  if (!head.ok) return notAnalysed(`cannot be read: ${head.reason}`)
  const kind = fileKind(head.bytes, file)
  checkFileKind(file, kind, findings)
  if (kind.group === 'archive') checkArchive({ path, file, size, kind, head: head.bytes }, findings)
  const isData = kind.group === 'data'
  // A shell skips NUL characters, so a script or a text that contains some is checked too.
  const isText =
    kind.group === 'text' ||
    kind.group === 'script' ||
    (isData && (isNamedLikeText(file) || isNamedLikeScript(file)))
  const executable = process.platform !== 'win32' && (mode & 0o111) !== 0
  checkScript({ file, head: isText ? head.bytes.toString('latin1') : '', executable }, findings)
  if (!isText) return undefined
  const length = Math.min(size, auditLimits.textBytes, Math.max(0, bytesLeft))
  const isCut = length < size
  if (isCut) notAnalysed(`only the first ${length} of ${size} bytes were looked at`)
  const reading = length <= head.bytes.length ? head : readBytes(path, 0, length)
  if (!reading.ok) return notAnalysed(`cannot be read: ${reading.reason}`)
  const bytes = reading.bytes.subarray(0, length)
  const { text, encoding } = decode(bytes, isCut)
  if (encoding !== 'utf-8') notAnalysed(`is not UTF-8; it was read as ${encoding}`)
  const placeOf = placesIn(text)
  return {
    file,
    text,
    placeOf,
    bytes: bytes.length,
    report: (code, offset, message, subject) =>
      findings.add(code, { file, ...placeOf(offset) }, message, { subject }),
    countsOnly: (code) => findings.countsOnly(code, file),
  }
}

/** If a limit cut the text, its last character may be incomplete. */
function decode(bytes: Uint8Array, isCut: boolean) {
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-16be'
  const isUtf16 = mark === 'utf-16le' || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (isUtf16) return { text: new TextDecoder(mark).decode(bytes), encoding: mark }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { text: decoder.decode(bytes, { stream: isCut }), encoding: 'utf-8' }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252' }
  }
}
