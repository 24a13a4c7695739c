import { posix } from 'node:path'
import { safeLine } from '../base/index.ts'
import { checkFileNames } from './_check-file-names.ts'
import type { Findings } from './_findings.ts'
import { auditLimits } from './limits.ts'
import type { Tree, TreeEntry } from './read-tree.ts'

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
