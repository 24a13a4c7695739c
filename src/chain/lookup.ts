import { existsSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import type { Diagnostic } from '../core/diagnostic.ts'
import { isInside, readRegularFile } from '../core/read-files.ts'
import { sha256 } from '../core/json.ts'
import { estimateTokens } from '../core/text.ts'
import { findScript, findVerifyScript, type ScriptSearch } from '../exec/find-script.ts'
import { type SkillRequest, skillRequests } from '../exec/agent-clients.ts'
import { besideChain } from '../skill/declarations.ts'
import type { ChainDeclaration, SkillDocument, SkillFields } from '../skill/model.ts'
import { misplacedPolicy } from '../skill/declarations.ts'
import { parseSkill } from '../skill/parse.ts'
import type { YamlNode } from '../skill/read-yaml.ts'
import type { NearestLock } from '../trust/lock.ts'
import type { SkillNotTrustedError } from '../trust/decide.ts'
import type { SkillScope, TrustLevel, TrustPolicy, TrustReason } from '../trust/model.ts'
import { trustRefusal } from '../trust/skill-trust.ts'
import { resolveStep, type StepResolution } from './resolve.ts'

export interface ChainLookup {
  resolve(chainDirectory: string, name: string): StepResolution
  load(directory: string): SkillReport
}

export interface SkillReport {
  facts: SkillFacts | undefined
  diagnostics: readonly Diagnostic[]
}

export interface SkillFacts {
  name: string
  directory: string
  path: string
  chain: ChainDeclaration | undefined
  warnings?: readonly Diagnostic[] | undefined
  script: string | undefined
  verify: string | undefined
  /** It was to be a script or a chain and cannot be; an error of its report says why. */
  broken?: true | undefined
  /** An error of its report says that names of its chain lead elsewhere. */
  refusedNames?: true | undefined
  sandbox?: true | undefined
  /** As {@link PlannedSkill.personOnly}. */
  personOnly?: true | undefined
  digest: string
  tokens: number
  requests: readonly SkillRequest[]
  trust: SkillTrust
}

export interface SkillTrust {
  level: TrustLevel
  reason: string
  hint?: string | undefined
  /** It was accepted or locked, and differs now: a sandbox does not help. */
  changed?: true | undefined
}

export interface DiskLookupOptions {
  workspace: string
  /** The trust of a skill, with the command that would raise it. */
  trustOf(skill: SkillDocument, directory: string): SkillFacts['trust']
}

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
  const script = findScript(directory, fields.run)
  const verify = findVerifyScript(directory)
  const run = fields.chain === undefined ? script : none
  const files = [file, pathOf(run), pathOf(verify)]
  const isBroken = run.kind === 'broken' || isRefused(skill)
  return {
    facts: {
      name: fields.name ?? basename(directory),
      directory,
      path,
      chain: fields.chain,
      warnings: unheeded(skill, diagnostics, pathOf(script)),
      script: pathOf(run),
      verify: pathOf(verify),
      broken: isBroken || undefined,
      refusedNames: diagnostics.some(({ code }) => code === 'chain-step-name') || undefined,
      sandbox: fields.sandbox,
      personOnly: fields.disableModelInvocation || undefined,
      // What was parsed counts, also where it is its own script and differs by now.
      digest: skillDigest(directory, files, { [file]: reading.bytes }),
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

function broken(searches: readonly ScriptSearch[], path: string): Diagnostic[] {
  const found = searches.flatMap((search) =>
    search.kind === 'broken' ? [{ ...search.diagnostic, path }] : [],
  )
  return found.filter(
    ({ message }, index) => found.findIndex((other) => other.message === message) === index,
  )
}

export function displayPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path).split(sep).join('/') : path
}

/**
 * The digest of what decides how a skill behaves in a chain: its `SKILL.md` and the scripts that
 * run for it. A file that is gone counts as changed. `files` are paths below the directory, in any
 * order; `known` contents by path that were read already.
 */
export function skillDigest(
  directory: string,
  files: readonly (string | undefined)[],
  known: Readonly<Record<string, Uint8Array>> = {},
): string {
  const names = [...new Set(files.filter((file) => file !== undefined))].toSorted()
  const parts = names.flatMap((name) => {
    const content = Object.hasOwn(known, name)
      ? known[name]
      : digestedContent(`${directory}/${name}`)
    const head = Buffer.from(`${name}\0${content?.length ?? 'unreadable'}\n`)
    return content === undefined ? [head] : [head, content]
  })
  // One call for all: a hash that is fed is a stream, which costs more than such small files.
  return sha256(Buffer.concat(parts))
}

function digestedContent(path: string): Uint8Array | undefined {
  const reading = readRegularFile(path, { maxBytes: Number.MAX_SAFE_INTEGER, binary: true })
  return reading.ok ? reading.bytes : undefined
}

export interface CheckedSkill {
  name: string
  scope: SkillScope
  directory: string
  path: string
  fields: SkillFields
}

/**
 * Why a skill may not be executed now, or undefined. `lockOf` gives the lock of the workspace;
 * default: as it is now.
 */
export function executionRefusal(
  skill: CheckedSkill,
  policy: TrustPolicy,
  lockOf?: () => NearestLock,
): SkillNotTrustedError | undefined {
  return trustRefusal({ ...skill, realDirectory: skill.directory }, policy, 'be executed', lockOf)
}

export function trustFact(refusal: SkillNotTrustedError | undefined): SkillFacts['trust'] {
  if (refusal === undefined) return { level: 'trusted', reason: '' }
  const { message: reason, hint, reasonCode } = refusal
  return { level: 'untrusted', reason, hint, ...changeOf[reasonCode] }
}

const changed = { changed: true } as const

const changeOf: Partial<Record<TrustReason, Pick<SkillTrust, 'changed'>>> = {
  'workspace-changed': changed,
  'lock-drift': changed,
  'lock-unreadable': changed,
}

/**
 * What has no effect in a skill, for whoever runs it. `diagnostics` are those of reading it,
 * `script` is its own, below its directory.
 */
export function unheeded(
  skill: SkillDocument,
  diagnostics: readonly Diagnostic[],
  script: string | undefined,
): Diagnostic[] {
  return [
    ...diagnostics.filter(({ code }) => saidOfRuns.has(code)),
    ...misplacedPolicy(skill.frontmatter, skill.path),
    ...(skill.fields.chain === undefined ? policyAlone(skill) : scriptBeside(skill, script)),
  ]
}

const saidOfRuns: ReadonlySet<string> = new Set(['chain-unknown-key', 'field-placement'])

function scriptBeside({ path, fields }: SkillDocument, script: string | undefined): Diagnostic[] {
  if (script === undefined) return []
  return [
    {
      code: 'script-beside-chain',
      severity: 'warning',
      message: `the skill is a chain, so its own script ${script} does not run`,
      path,
      line: fields.chain?.line,
      hint: 'Make the script a skill of its own and name it in the chain, or remove one of the two.',
    },
  ]
}

/** A policy below `metadata` without a chain. One whose chain is broken has an error already. */
function policyAlone({ path, frontmatter }: SkillDocument): Diagnostic[] {
  const metadata = valueOf(frontmatter, 'metadata')
  const entries = metadata?.kind === 'map' ? metadata.entries : []
  if (entries.some(({ key }) => key.text === 'chain')) return []
  const alone = entries.filter(({ key }) => besideChain.has(key.text))
  return alone.map(({ key }) => ({
    code: 'policy-without-chain',
    severity: 'warning',
    message: `\`${key.text}\` has no effect without a \`chain\``,
    path,
    line: key.line,
    column: key.column,
    hint: 'Name the steps in `chain` beside it, or remove it.',
  }))
}
