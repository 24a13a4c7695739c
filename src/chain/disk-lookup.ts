import { existsSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { type Diagnostic, isInside, readRegularFile } from '../base/index.ts'
import { findScripts, type ScriptSearch, type SkillRequest, skillRequests } from '../exec/index.ts'
import { estimateTokens, parseSkill, type SkillDocument, type SkillFields } from '../skill/index.ts'
import type { ChainLookup, SkillFacts, SkillReport } from './lookup.ts'
import { resolveStep } from './resolve.ts'
import { skillDigest } from './skill-digest.ts'

export interface DiskLookupOptions {
  /** The project: paths in plans are relative to it. */
  workspace: string
  /** The trust of a skill, with the command that would raise it. */
  trustOf(skill: SkillDocument, directory: string): SkillFacts['trust']
}

/** Skills as they are on the disk; each is read once. */
export function createDiskLookup(options: DiskLookupOptions): ChainLookup {
  const reports = new Map<string, SkillReport>()
  return {
    resolve: resolveStep,
    load(directory) {
      const known = reports.get(directory)
      if (known !== undefined) return known
      const report = loadSkill(directory, options)
      reports.set(directory, report)
      return report
    },
  }
}

const maxSkillBytes = 1_048_576

function loadSkill(directory: string, options: DiskLookupOptions): SkillReport {
  const file = existsSync(join(directory, 'SKILL.md')) ? 'SKILL.md' : 'skill.md'
  const absolute = join(directory, file)
  const path = displayPath(options.workspace, absolute)
  const reading = readRegularFile(absolute, { maxBytes: maxSkillBytes })
  if (!reading.ok) {
    const { code, message } = reading
    return { facts: undefined, diagnostics: [{ code, severity: 'error', message, path }] }
  }
  const { skill, diagnostics } = parseSkill(reading.text, { path })
  if (skill === undefined) return { facts: undefined, diagnostics }
  const { fields } = skill
  const found = findScripts(directory, fields.run)
  const verify = found.verify
  const run = fields.chain === undefined ? found.run : none
  const files = [file, pathOf(run), pathOf(verify)]
  return {
    facts: {
      name: fields.name ?? basename(directory),
      directory,
      path,
      chain: fields.chain,
      chainWarnings: diagnostics.filter(({ code }) => code === 'chain-unknown-key'),
      script: pathOf(run),
      verify: pathOf(verify),
      sandbox: fields.sandbox,
      personOnly: fields.disableModelInvocation || undefined,
      digest: skillDigest(directory, files, {
        ...contentOf(run),
        ...contentOf(verify),
        // Last: what was parsed counts, also where it is its own script and differs by now.
        [file]: reading.bytes,
      }),
      tokens: estimateTokens(skill.body),
      requests: requestsOf(fields),
      trust: options.trustOf(skill, directory),
    },
    diagnostics: [...diagnostics, ...broken(run, path), ...broken(verify, path)],
  }
}

function requestsOf(fields: SkillFields): SkillRequest[] {
  const asked = { ...fields, 'allowed-tools': fields.allowedTools }
  return skillRequests.filter((request) => asked[request] !== undefined)
}

const none: ScriptSearch = { kind: 'none' }

function pathOf(search: ScriptSearch): string | undefined {
  return search.kind === 'found' ? search.script.relative : undefined
}

function contentOf(search: ScriptSearch): Record<string, Buffer> {
  if (search.kind !== 'found' || search.content === undefined) return {}
  return { [search.script.relative]: search.content }
}

function broken(search: ScriptSearch, path: string): Diagnostic[] {
  return search.kind === 'broken' ? [{ ...search.diagnostic, path }] : []
}

function displayPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path).split(sep).join('/') : path
}
