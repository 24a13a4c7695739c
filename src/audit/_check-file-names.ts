import { posix } from 'node:path'
import { safeLine, safeText } from '../base/index.ts'
import type { Findings } from './_findings.ts'
import { mixedScripts } from './_scripts-of-text.ts'
import type { TreeEntry } from './read-tree.ts'

/** Names that hide something, that differ only for some systems, or that some cannot have. */
export function checkFileNames(entries: readonly TreeEntry[], findings: Findings): void {
  const folded = new Map<string, string>()
  for (const { path } of entries) {
    const name = posix.basename(path)
    checkName(path, name, findings)
    const directory = posix.dirname(path)
    const key = `${directory}/${name.normalize('NFKC').toLowerCase()}`
    const other = folded.get(key)
    if (other === undefined) folded.set(key, name)
    else if (key.endsWith('/skill.md')) {
      const message = `${safeLine(name)} stands beside ${safeLine(other)}; clients read different ones`
      findings.add('skill-file-twice', { file: path }, message)
    } else {
      findings.add('file-name-case', { file: path }, `differs from ${safeLine(other)} only in form`)
    }
  }
}

function checkName(path: string, name: string, findings: Findings): void {
  const place = { file: path }
  if (safeText(name) !== name || /[\n\t]/.test(name) || name.includes('\ufffd')) {
    const message = `the name is ${JSON.stringify(safeLine(name))} once everything in it is shown`
    findings.add('file-name-hidden', place, message)
  }
  const mixed = mixedScripts(name)
  if (mixed !== undefined) {
    const message = `${safeLine(mixed.word)} has letters of ${mixed.scripts.join(' and ')}`
    findings.add('name-mixed-scripts', place, message)
  }
  if (/[\\:*?"<>|]/.test(name) || /^\s|[\s.]$/.test(name) || reserved.test(name)) {
    const message = `${safeLine(name)} is no name, or another one, on Windows`
    findings.add('file-name-system', place, message)
  }
}

const reserved = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i
