import { existsSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { type Diagnostic, isInside, readRegularFile } from '../base/index.ts'
import { findScripts, type ScriptSearch, type SkillRequest, skillRequests } from '../exec/index.ts'
import {
  estimateTokens,
  parseSkill,
  type SkillDocument,
  type SkillFields,
  type YamlNode,
} from '../skill/index.ts'
import { unheeded } from './_unheeded.ts'
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
  const isBroken = run.kind === 'broken' || isRefused(skill)
  return {
    facts: {
      name: fields.name ?? basename(directory),
      directory,
      path,
      chain: fields.chain,
      warnings: unheeded(skill, diagnostics, pathOf(found.run)),
      script: pathOf(run),
      verify: pathOf(verify),
      broken: isBroken || undefined,
      refusedNames: diagnostics.some(({ code }) => code === 'chain-step-name') || undefined,
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
    diagnostics: [...diagnostics, ...broken([run, verify], path)],
  }
}

function requestsOf(fields: SkillFields): SkillRequest[] {
  const asked = { ...fields, 'allowed-tools': fields.allowedTools }
  return skillRequests.filter((request) => asked[request] !== undefined)
}

/** Whether a field that says how the skill executes is given and could not be used. */
function isRefused({ fields, frontmatter }: SkillDocument): boolean {
  const metadata = valueOf(frontmatter, 'metadata')
  const chain = valueOf(metadata, 'chain')
  const run = valueOf(frontmatter, 'run') ?? valueOf(metadata, 'run')
  return (
    (fields.chain === undefined && isGiven(chain)) || (fields.run === undefined && isGiven(run))
  )
}

function valueOf(map: YamlNode | undefined, name: string): YamlNode | undefined {
  if (map?.kind !== 'map') return undefined
  return map.entries.find(({ key }) => key.text === name)?.value
}

function isGiven(node: YamlNode | undefined): boolean {
  return node !== undefined && (node.kind !== 'scalar' || node.text.trim() !== '')
}

const none: ScriptSearch = { kind: 'none' }

function pathOf(search: ScriptSearch): string | undefined {
  return search.kind === 'found' ? search.script.relative : undefined
}

function contentOf(search: ScriptSearch): Record<string, Buffer> {
  if (search.kind !== 'found' || search.content === undefined) return {}
  return { [search.script.relative]: search.content }
}

/** Where `scripts` as a whole is what is wrong, both searches say so. */
function broken(searches: readonly ScriptSearch[], path: string): Diagnostic[] {
  const found = searches.flatMap((search) =>
    search.kind === 'broken' ? [{ ...search.diagnostic, path }] : [],
  )
  return found.filter(
    ({ message }, index) => found.findIndex((other) => other.message === message) === index,
  )
}

function displayPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path).split(sep).join('/') : path
}
