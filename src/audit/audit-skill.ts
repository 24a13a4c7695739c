import { posix } from 'node:path'
import {
  type AuditedText,
  createFindings,
  type Findings,
  type OtherSkill,
  type SkillAudit,
} from './findings.ts'
import { checkCharacters, checkMarkdown } from './check-text.ts'
import { openText } from './open-text.ts'
import { checkCapabilities, checkSecrets } from './check-scripts.ts'
import { checkFrontmatter, checkJson, checkTree } from './check-tree.ts'
import { checkLayout } from './check-names.ts'
import { auditLimits, readTree, type Tree, type TreeEntry } from './read-tree.ts'

export interface AuditOptions {
  /** Installed skills that this one must not be taken for. Not the audited skill itself. */
  others?: readonly OtherSkill[] | undefined
}

/**
 * What a skill's directory contains: structure, capabilities and secrets, as facts with places and
 * without a verdict. Executes nothing, follows no link, and reads no more than {@link auditLimits}
 * allow; what was not looked at is a finding. Never throws for what is in the directory.
 *
 * @example
 * const { findings } = auditSkill('.agents/skills/deploy')
 */
export function auditSkill(directory: string, options: AuditOptions = {}): SkillAudit {
  const findings = createFindings(directory)
  const tree = readTree(directory)
  checkTree(tree, findings)
  let name: string | undefined
  let analysedBytes = 0
  for (const entry of instructionsFirst(tree)) {
    if (entry.kind !== 'file' || entry.size > auditLimits.fileBytes) continue
    const text = openText(directory, entry, auditLimits.totalBytes - analysedBytes, findings)
    if (text === undefined) continue
    analysedBytes += text.bytes
    checkText(text, findings)
    if (!isSkillFile(entry.path)) continue
    const read = checkFrontmatter(entry.path, text.text, options.others ?? [], findings)
    name ??= read
  }
  checkSkillFile(tree, findings)
  const files = tree.entries.filter(({ kind }) => kind !== 'directory').length
  return { name, directory, files, analysedBytes, findings: findings.list() }
}

/** The limits must not be used up before the file that every client reads. */
function instructionsFirst({ entries }: Tree): TreeEntry[] {
  return [
    ...entries.filter(({ path }) => isSkillFile(path)),
    ...entries.filter(({ path }) => !isSkillFile(path)),
  ]
}

function isSkillFile(path: string): boolean {
  return /^skill\.md$/i.test(path)
}

/** The instructions themselves may be what is not there to be read. */
function checkSkillFile({ entries }: Tree, findings: Findings): void {
  const named = entries.filter(({ path }) => isSkillFile(path))
  if (named.some(({ kind }) => kind === 'file')) return
  const message =
    named.length === 0
      ? 'there is no SKILL.md'
      : 'is not a regular file, so the instructions and their fields were not looked at'
  findings.add('not-analysed', { file: named[0]?.path ?? '' }, message)
}

function checkText(text: AuditedText, findings: Findings): void {
  const extension = posix.extname(text.file).toLowerCase()
  checkCharacters(text, findings)
  checkLayout(text, findings)
  if (extension === '.md' || extension === '.mdx') checkMarkdown(text, findings)
  if (extension === '.json' || extension === '.jsonc') checkJson(text, findings)
  checkCapabilities(text, findings)
  checkSecrets(text, findings)
}
