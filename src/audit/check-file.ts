import { posix } from 'node:path'
import type { FileKind } from './_file-kind.ts'
import type { Findings } from './_findings.ts'

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
