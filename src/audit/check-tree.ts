import { posix } from 'node:path'
import { safeLine } from '../core/text.ts'
import { findEmbeddedCommands } from '../library/activation.ts'
import { parseSkill, readFrontmatter } from '../skill/parse.ts'
import type { SkillDocument } from '../skill/model.ts'
import type { YamlNode } from '../skill/read-yaml.ts'
import { compilePattern } from '../trigger/pattern.ts'
import type { AuditedText, Findings, OtherSkill } from './findings.ts'
import { checkFileNames, checkSkillName } from './check-names.ts'
import { auditLimits, type FileKind, readBytes, type Tree, type TreeEntry } from './read-tree.ts'

/** What the entries of a skill's directory say by themselves, before any file is opened. */
export function checkTree({ entries, stopped }: Tree, findings: Findings): void {
  for (const entry of entries) checkEntry(entry, findings)
  checkFileNames(entries, findings)
  checkGit(entries, findings)
  for (const { limit, path } of stopped) {
    const message =
      limit === 'too-deep'
        ? `what lies below this directory was not looked at: ${auditLimits.depth} levels are the limit`
        : `more than ${auditLimits.entries} entries; the others were not looked at`
    findings.add(limit, { file: path }, message)
  }
}

function checkEntry(entry: TreeEntry, findings: Findings): void {
  const place = { file: entry.path }
  switch (entry.kind) {
    case 'file': {
      if ((entry.mode & 0o6000) !== 0) {
        findings.add('special-rights', place, 'the file has the setuid or setgid bit')
      }
      if (entry.size > auditLimits.fileBytes) {
        const message = `${entry.size} bytes; ${auditLimits.fileBytes} are the limit`
        findings.add('file-too-large', place, `${message}, and the file was not read`)
      }
      if (lockfiles.has(posix.basename(entry.path))) {
        findings.add('lockfile', place, 'fixes the packages that are installed')
      }
      return
    }
    case 'link': {
      const target = safeLine(entry.target).slice(0, 200)
      if (entry.leads === 'outside') {
        const hint = 'Copy what is needed into the skill.'
        findings.add('link-outside', place, `leads out of the skill, to ${target}`, { hint })
      }
      if (entry.leads === 'nowhere') {
        findings.add('link-broken', place, `leads nowhere: ${target}`)
      }
      return
    }
    case 'special': {
      return findings.add('special-file', place, `is a ${entry.what}`)
    }
    case 'unreadable': {
      return findings.add('not-analysed', place, `cannot be read: ${safeLine(entry.reason)}`)
    }
    case 'directory': {
      if (posix.basename(entry.path) === 'node_modules') {
        findings.add('not-analysed', place, 'installed packages are not looked at')
      }
    }
  }
}

/** A clone has its `.git` at the root. A bare repository may have any name. */
function checkGit(entries: readonly TreeEntry[], findings: Findings): void {
  const paths = new Map(entries.map(({ path, kind }) => [path, kind]))
  for (const { path, kind } of entries) {
    if (posix.basename(path) === '.git' && path !== '.git') {
      findings.add('nested-git', { file: path }, 'a Git repository inside the skill')
    }
    const isBare =
      kind === 'directory' &&
      paths.get(`${path}/HEAD`) === 'file' &&
      paths.get(`${path}/config`) === 'file' &&
      paths.get(`${path}/objects`) === 'directory'
    if (isBare) findings.add('nested-git', { file: path }, 'a bare Git repository')
  }
  if (paths.get('.git') === 'directory') {
    findings.add('not-analysed', { file: '.git' }, 'the history of the skill is not looked at')
  }
}

const lockfiles: ReadonlySet<string> = new Set([
  'Cargo.lock',
  'Gemfile.lock',
  'Pipfile.lock',
  'bun.lock',
  'bun.lockb',
  'composer.lock',
  'deno.lock',
  'go.sum',
  'npm-shrinkwrap.json',
  'package-lock.json',
  'packages.lock.json',
  'pnpm-lock.yaml',
  'poetry.lock',
  'uv.lock',
  'yarn.lock',
])

/** What the first bytes of a file say about it, held against its name. */
export function checkFileKind(file: string, kind: FileKind, findings: Findings): void {
  const place = { file }
  const extension = posix.extname(file).slice(1).toLowerCase()
  if (kind.group === 'program') findings.add('executable-binary', place, `is ${kind.name}`)
  if (kind.group === 'byte code') findings.add('compiled-code', place, `is ${kind.name}`)
  const claim = claimOf(extension)
  if (claim !== undefined && belies(claim, kind)) {
    findings.add('misleading-extension', place, `is named like ${claim}, and is ${kind.name}`)
  }
  const inner = posix
    .extname(posix.basename(file, posix.extname(file)))
    .slice(1)
    .toLowerCase()
  if (starters.has(extension) && claimOf(inner) !== undefined) {
    const message = `is named like ${claimOf(inner)}, and ends in .${extension}`
    findings.add('misleading-extension', place, message)
  }
}

/** Whether a name promises text that somebody reads. */
export function isNamedLikeText(file: string): boolean {
  return texts.has(posix.extname(file).slice(1).toLowerCase())
}

type Claim = 'a picture' | 'a text' | 'a document'

function claimOf(extension: string): Claim | undefined {
  if (pictures.has(extension)) return 'a picture'
  if (texts.has(extension)) return 'a text'
  return documents.has(extension) ? 'a document' : undefined
}

const pictures = new Set('png jpg jpeg gif webp bmp ico avif'.split(' '))
const texts = new Set('md txt csv json yaml yml toml xml html css svg rst'.split(' '))
const documents = new Set('pdf doc xls ppt'.split(' '))

/** What Windows starts by a double click, behind a name that looks like something else. */
const starters = new Set('exe scr com bat cmd ps1 vbs lnk pif'.split(' '))

function belies(claim: Claim, { group }: FileKind): boolean {
  if (group === 'program' || group === 'byte code' || group === 'archive') return true
  if (group === 'script') return claim !== 'a text'
  return claim === 'a text' && group === 'data'
}

/** What an archive claims about itself. Nothing is unpacked. */
export function checkArchive(
  archive: { path: string; file: string; size: number; name: string; head: Buffer },
  findings: Findings,
): void {
  const { path, file, size, name, head } = archive
  const place = { file }
  findings.add('archive', place, `is ${name}; what is in it was not looked at`)
  const claim = head.readUInt16LE(0) === 0x8b1f ? gzipClaim(path, size) : zipClaim(path, size)
  if (claim === undefined) return
  const { bytes, entries, escape } = claim
  const grows =
    bytes > auditLimits.archiveBytes && bytes > Math.max(1, size) * auditLimits.archiveGrowth
  if (grows || entries > auditLimits.archiveEntries) {
    const message = `claims to unpack to ${bytes} bytes in ${entries} files, from ${size} bytes`
    findings.add('archive-bomb', place, message)
  }
  if (escape !== undefined) {
    const message = `contains a path that leads out of it: ${safeLine(escape).slice(0, 120)}`
    findings.add('archive-escape', place, message)
  }
}

interface ArchiveClaim {
  bytes: number
  entries: number
  escape?: string | undefined
}

/** RFC 1952: the last four bytes are the size of the original, modulo 2^32. */
function gzipClaim(path: string, size: number): ArchiveClaim | undefined {
  const tail = readBytes(path, Math.max(0, size - 4), 4)
  if (!tail.ok || tail.bytes.length < 4) return undefined
  return { bytes: tail.bytes.readUInt32LE(0), entries: 1 }
}

/** Longest comment and the record behind which it stands; APPNOTE 4.3.16. */
const endBytes = 22 + 0xffff
const directoryBytes = 4 * 1024 * 1024

/** Sums up the central directory of a ZIP archive; APPNOTE 4.3.12. */
function zipClaim(path: string, size: number): ArchiveClaim | undefined {
  const tail = readBytes(path, Math.max(0, size - endBytes), endBytes)
  if (!tail.ok) return undefined
  const end = tail.bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (end === -1 || end + 22 > tail.bytes.length) return undefined
  const claim: ArchiveClaim = { bytes: 0, entries: tail.bytes.readUInt16LE(end + 10) }
  const start = tail.bytes.readUInt32LE(end + 16)
  const length = Math.min(tail.bytes.readUInt32LE(end + 12), directoryBytes)
  const directory = readBytes(path, start, length)
  if (!directory.ok) return claim
  const { bytes } = directory
  for (let at = 0; at + 46 <= bytes.length && bytes.readUInt32LE(at) === 0x02014b50;) {
    const nameLength = bytes.readUInt16LE(at + 28)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    claim.bytes += bytes.readUInt32LE(at + 24)
    if (leadsOut(name)) claim.escape ??= name
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return claim
}

function leadsOut(name: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)
}

/** What a JSON file of a skill starts, or does to whoever reads it carelessly. */
export function checkJson({ file, text, placeOf }: AuditedText, findings: Findings): void {
  for (const { index } of text.matchAll(
    /"(?:__proto__|\\u005f\\u005fproto\\u005f\\u005f)"\s{0,9}:/gi,
  )) {
    const message = 'a key that reaches the prototype of objects made from the file'
    findings.add('prototype-key', { file, ...placeOf(index) }, message)
  }
  const hooks = text.search(/"hooks"\s{0,9}:\s{0,9}[[{]/)
  if (hooks === -1 || !/"command"\s{0,9}:/.test(text)) return
  findings.add('hooks', { file, ...placeOf(hooks) }, 'declares hooks that run commands')
}

/** What the fields of a `SKILL.md` ask for. Gives the name, where there is one. */
export function checkFrontmatter(
  file: string,
  text: string,
  others: readonly OtherSkill[],
  findings: Findings,
): string | undefined {
  const { skill, diagnostics } = parseSkill(text, { path: file })
  for (const { code, line, column } of diagnostics) {
    if (code !== 'yaml-reserved-key') continue
    const message = 'a key that reaches the prototype of objects made from the frontmatter'
    findings.add('prototype-key', { file, line, column }, message)
  }
  if (skill === undefined) {
    const reason = diagnostics.find(({ severity }) => severity === 'error')?.message ?? 'no reason'
    const message = `the frontmatter cannot be used, so its fields were not looked at: ${safeLine(reason)}`
    findings.add('not-analysed', { file }, message)
    return undefined
  }
  const lines = fieldLines(skill)
  const { fields } = skill
  if (fields.name !== undefined) {
    checkSkillName(fields.name, { file, line: lines('name') }, others, findings)
  }
  for (const { tool, pattern } of fields.allowedTools ?? []) {
    const subject = safeLine(pattern === undefined ? tool : `${tool}(${pattern})`).slice(0, 200)
    const place = { file, line: lines('allowed-tools') }
    findings.add('tool-requested', place, `asks for ${subject}`, { subject })
  }
  checkBehaviour(skill, lines, findings)
  checkTriggers(skill, findings)
  for (const { line } of findEmbeddedCommands(skillBody(text))) {
    const place = { file, line: skill.bodyLine + line - 1 }
    findings.add(
      'embedded-command',
      place,
      'a command that some clients run before the model reads',
    )
  }
  return fields.name
}

function checkBehaviour(
  { fields }: SkillDocument,
  lines: (field: string) => number | undefined,
  findings: Findings,
): void {
  const { run, chain, context, agent, model, hooks } = fields
  const steps = chain?.steps.map(({ name }) => name).join(' ')
  for (const [field, value] of Object.entries({ run, chain: steps, context, agent, model })) {
    if (value === undefined) continue
    const subject = `${field}: ${safeLine(value).slice(0, 120)}`
    const place = { file: 'SKILL.md', line: lines(field) }
    findings.add('skill-behaviour', place, subject, { subject })
  }
  if (hooks === undefined) return
  const events = typeof hooks === 'object' && hooks !== null ? Object.keys(hooks) : []
  const subject = safeLine(events.join(', ')).slice(0, 200)
  findings.add('hooks', { file: 'SKILL.md', line: lines('hooks') }, `declares hooks: ${subject}`, {
    subject,
  })
}

/** Sentences that have no word in common. A trigger that fires on all of them fires on whatever is typed. */
const neutralPrompts = [
  'fix it',
  'What does that mean?',
  '42',
  'Übersetze den Absatz',
  '- milk, eggs',
]

function checkTriggers({ path, fields }: SkillDocument, findings: Findings): void {
  for (const { match, line } of fields.triggers) {
    const reading = compilePattern(match)
    if (!reading.ok || !neutralPrompts.every((prompt) => reading.pattern.test(prompt))) continue
    const subject = safeLine(match).slice(0, 120)
    findings.add('trigger-broad', { file: path, line }, `fires on whatever is typed: ${subject}`, {
      subject,
    })
  }
}

/** The line of a field, at the top level or below `metadata`. */
function fieldLines({ frontmatter }: SkillDocument): (field: string) => number | undefined {
  const lines = new Map<string, number>()
  const gather = (node: YamlNode): void => {
    if (node.kind !== 'map') return
    for (const { key, value } of node.entries) {
      if (!lines.has(key.text)) lines.set(key.text, key.line)
      if (key.text === 'metadata') gather(value)
    }
  }
  gather(frontmatter)
  return (field) => lines.get(field)
}

/** Not trimmed, so that its lines are those of the file. */
function skillBody(text: string): string {
  const reading = readFrontmatter(text, '')
  return reading.ok ? reading.split.body : ''
}
