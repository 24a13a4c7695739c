import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { compareText, type Diagnostic, lookProblem } from '#core/errors'
import { sha256 } from '#core/json'
import { isInside, readRegularFile, realRootOf, statsOf } from '#core/read-files'
import { didYouMean, estimateTokens } from '#core/text'
import { type SkillRequest, skillRequests } from '#exec/agent-clients'
import { findScript, findVerifyScript, type ScriptSearch } from '#exec/find-script'
import { besideChain, misplacedPolicy } from '#skill/declarations'
import type { ChainDeclaration, SkillDocument, SkillFields } from '#skill/model'
import { parseSkill } from '#skill/parse'
import type { YamlNode } from '#skill/read-yaml'
import type { NearestLock } from '#trust/lock'
import type { SkillScope, TrustLevel, TrustPolicy } from '#trust/model'
import { type SkillNotTrustedError, trustRefusal } from '#trust/skill-trust'
import type { TrustReason } from '#trust/model'

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
  warnings?: readonly Diagnostic[]
  script: string | undefined
  verify: string | undefined
  /** It declares a script or a chain that cannot be used; an error in its report says why. */
  broken?: true | undefined
  /** An error in its report refuses names of steps. */
  refusedNames?: true | undefined
  sandbox?: true | undefined
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
  /** The skill changed after it was accepted or locked, so a sandbox is not enough. */
  changed?: true
}

export interface DiskLookupOptions {
  workspace: string
  /** Returns the trust of a skill, with the command that raises it. */
  trustOf(skill: SkillDocument, directory: string): SkillFacts['trust']
}

export function createDiskLookup(options: DiskLookupOptions): ChainLookup {
  const reports = new Map<string, SkillReport>()
  return {
    resolve: resolveStep,
    load(directory) {
      const cachedReport = reports.get(directory)
      if (cachedReport) return cachedReport
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
  const reading = readRegularFile(absolute, { maxBytes: maxSkillBytes, keepMark: true })
  if (!reading.ok) {
    const { code, message } = reading
    return { facts: undefined, diagnostics: [{ code, severity: 'error', message, path }] }
  }
  const { skill, diagnostics } = parseSkill(reading.text, { path })
  if (!skill) return { facts: undefined, diagnostics }
  const { fields } = skill
  const script = findScript(directory, fields.run)
  const verify = findVerifyScript(directory)
  const runSearch = fields.chain ? none : script
  const files = [file, pathOf(runSearch), pathOf(verify)]
  const isBroken = runSearch.kind === 'broken' || isRefused(skill)
  return {
    facts: {
      name: fields.name ?? basename(directory),
      directory,
      path,
      chain: fields.chain,
      warnings: ineffectiveParts(skill, diagnostics, pathOf(script)),
      script: pathOf(runSearch),
      verify: pathOf(verify),
      broken: isBroken || undefined,
      refusedNames: diagnostics.some(({ code }) => code === 'chain-step-name') || undefined,
      sandbox: fields.sandbox,
      personOnly: fields.disableModelInvocation || undefined,
      // The digest covers the text that was parsed, even if the file has changed since.
      digest: skillDigest(directory, files, { [file]: reading.bytes }),
      tokens: estimateTokens(skill.body),
      requests: requestsOf(fields),
      trust: options.trustOf(skill, directory),
    },
    diagnostics: [...diagnostics, ...scriptProblems([runSearch, verify], path)],
  }
}

function requestsOf(fields: SkillFields): SkillRequest[] {
  const values = { ...fields, 'allowed-tools': fields.allowedTools }
  return skillRequests.filter((request) => values[request] !== undefined)
}

/** Whether the skill has a `chain` or `run` field that could not be used. */
function isRefused({ fields, frontmatter }: SkillDocument): boolean {
  const metadata = valueOf(frontmatter, 'metadata')
  const chain = valueOf(metadata, 'chain')
  const runValue = valueOf(frontmatter, 'run') ?? valueOf(metadata, 'run')
  return (
    (fields.chain === undefined && hasValue(chain)) ||
    (fields.run === undefined && hasValue(runValue))
  )
}

function valueOf(map: YamlNode | undefined, name: string): YamlNode | undefined {
  if (map?.kind !== 'map') return undefined
  return map.entries.find(({ key }) => key.text === name)?.value
}

function hasValue(node: YamlNode | undefined): boolean {
  return node !== undefined && (node.kind !== 'scalar' || node.text.trim() !== '')
}

const none: ScriptSearch = { kind: 'none' }

function pathOf(search: ScriptSearch): string | undefined {
  return search.kind === 'found' ? search.script.relative : undefined
}

function scriptProblems(searches: readonly ScriptSearch[], path: string): Diagnostic[] {
  const problems = searches.flatMap((search) =>
    search.kind === 'broken' ? [{ ...search.diagnostic, path }] : [],
  )
  return problems.filter(
    ({ message }, index) => problems.findIndex((other) => other.message === message) === index,
  )
}

export function displayPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path).split(sep).join('/') : path
}

/**
 * Returns the digest of the files that decide how a skill behaves in a chain: its `SKILL.md` and its
 * scripts. A missing file counts as changed. `files` are paths below the directory, in any order;
 * `contents` has the files that the caller has already read, by path.
 */
export function skillDigest(
  directory: string,
  files: readonly (string | undefined)[],
  contents: Readonly<Record<string, Uint8Array>> = {},
): string {
  const names = [...new Set(files.filter((file) => file !== undefined))].toSorted()
  const parts = names.flatMap((name) => {
    const content = Object.hasOwn(contents, name)
      ? contents[name]
      : digestedContent(`${directory}/${name}`)
    const head = Buffer.from(`${name}\0${content?.length ?? 'unreadable'}\n`)
    return content ? [head, content] : [head]
  })
  // One call for all parts: an incremental hash is a stream, which costs more for such small files.
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

/** Returns why a skill must not be executed. Without `lockOf`, reads the lock of the workspace. */
export function executionRefusal(
  skill: CheckedSkill,
  policy: TrustPolicy,
  lockOf?: () => NearestLock,
): SkillNotTrustedError | undefined {
  return trustRefusal({ ...skill, realDirectory: skill.directory }, policy, 'be executed', lockOf)
}

export function trustFact(refusal: SkillNotTrustedError | undefined): SkillFacts['trust'] {
  if (!refusal) return { level: 'trusted', reason: '' }
  const { message: reason, hint, reasonCode } = refusal
  return { level: 'untrusted', reason, hint, ...changeOf[reasonCode] }
}

const changedFact = { changed: true } as const

const changeOf: Partial<Record<TrustReason, Pick<SkillTrust, 'changed'>>> = {
  'workspace-changed': changedFact,
  'lock-drift': changedFact,
  'lock-unreadable': changedFact,
}

/**
 * Returns warnings about the parts of a skill that have no effect. `diagnostics` are those of parsing the
 * skill; `script` is the path of its script.
 */
export function ineffectiveParts(
  skill: SkillDocument,
  diagnostics: readonly Diagnostic[],
  script: string | undefined,
): Diagnostic[] {
  return [
    ...diagnostics.filter(({ code }) => parserWarnings.has(code)),
    ...misplacedPolicy(skill.frontmatter, skill.path),
    ...(skill.fields.chain ? scriptBeside(skill, script) : policyAlone(skill)),
  ]
}

const parserWarnings: ReadonlySet<string> = new Set([
  'chain-unknown-key',
  'field-placement',
  'chain-tool-name',
  'chain-tool-pattern',
  'chain-tools-guard',
])

function scriptBeside({ path, fields }: SkillDocument, script: string | undefined): Diagnostic[] {
  if (script === undefined) return []
  return [
    {
      code: 'script-beside-chain',
      severity: 'warning',
      message: `${script} does not run, since the skill is a chain`,
      path,
      line: fields.chain?.line,
      hint: 'Name it in the chain as a skill of its own, or remove one of the two.',
    },
  ]
}

/** Warns of a policy below `metadata` without a chain. A broken chain already has an error. */
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
    hint: 'Add a chain, or remove it.',
  }))
}

export type StepResolution =
  | { ok: true; directory: string }
  | { ok: false; code: string; message: string; hint?: string | undefined }

/**
 * Finds the skill that a chain calls by name, below the parent of the chain's directory: a sibling, or
 * else the shallowest match. Two matches at one depth are an error. A name may be a path (`e2e/smoke`)
 * inside that parent.
 */
export function resolveStep(chainDirectory: string, name: string): StepResolution {
  const exact = resolveExactly(chainDirectory, name)
  if (exact.ok) return exact
  // Some disks and editors compose letters with marks, and others do not.
  const forms = [name.normalize('NFC'), name.normalize('NFD')]
  const resolutions = forms.map((form) => resolveExactly(chainDirectory, form))
  return resolutions.find(({ ok }) => ok) ?? exact
}

function resolveExactly(chainDirectory: string, name: string): StepResolution {
  const refusal = checkStepName(name)
  if (refusal) return refusal
  const root = dirname(chainDirectory)
  const sibling = join(root, ...name.split('/'))
  const obstacle = problemAt(sibling)
  if (obstacle !== undefined) {
    return {
      ok: false,
      code: 'step-unreadable',
      message: `the step ${name} cannot be looked for: ${sibling} cannot be read: ${obstacle}`,
      hint: 'Make it readable, or remove it.',
    }
  }
  const matches = isSkill(sibling) ? [sibling] : shallowest(root, name)
  const [directory, second] = matches
  if (directory === undefined) {
    const hint = 'A chain calls skills beside it and deeper.'
    return {
      ok: false,
      code: 'step-missing',
      message: `there is no skill ${name} in ${root} or below`,
      hint: `${suggestion(chainDirectory, sibling)} ${hint}`.trim(),
    }
  }
  if (second !== undefined) {
    const places = matches.map((place) => place.slice(root.length + 1)).join(', ')
    return {
      ok: false,
      code: 'step-ambiguous',
      message: `${name} could be any of ${places} in ${root}`,
      hint: 'Write the path instead of the name.',
    }
  }
  return insideRoot(root, name, directory)
}

/** Returns a refusal for a name that could lead outside, else undefined. */
export function checkStepName(name: string): StepResolution | undefined {
  const isPlain = name.split('/').every((part) => !['', '.', '..'].includes(part))
  if (isPlain && !/[\0\\]|^[A-Za-z]:/.test(name)) return undefined
  return {
    ok: false,
    code: 'step-name-refused',
    message: `the step ${JSON.stringify(name)} is not the name of a directory beside the chain or deeper`,
    hint: 'Use a name such as test-unit or e2e/smoke.',
  }
}

const skillFiles = ['SKILL.md', 'skill.md']
const maxDepth = 6
const maxDirectories = 2000

function shallowest(root: string, name: string): string[] {
  const parts = name.split('/')
  let level = [root]
  let visited = 0
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    visited += level.length
    if (visited > maxDirectories) return []
    const nextLevel = level.flatMap((directory) => directoriesIn(directory))
    const matches = nextLevel
      .map((place) => join(place, ...parts))
      .filter((place) => isSkill(place))
    if (matches.length > 0) return matches
    level = nextLevel
  }
  return []
}

function suggestion(chainDirectory: string, sibling: string): string {
  const root = dirname(chainDirectory)
  const beside = dirname(sibling).slice(root.length + 1)
  const skills = directoriesIn(dirname(sibling)).filter(
    (directory) => directory !== chainDirectory && isSkill(directory),
  )
  const names = skills.map((directory) => join(beside, basename(directory)).split(sep).join('/'))
  return didYouMean(join(beside, basename(sibling)), names)
}

/** An unreadable directory counts as empty. */
function directoriesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !['.git', 'node_modules'].includes(entry.name))
      .map((entry) => join(directory, entry.name))
      .toSorted(compareText)
  } catch {
    return []
  }
}

function isSkill(directory: string): boolean {
  return skillFiles.some((file) => statsOf(join(directory, file))?.isFile())
}

/** Returns why a directory cannot be searched for a skill. */
function problemAt(directory: string): string | undefined {
  try {
    for (const file of skillFiles) statSync(join(directory, file), { throwIfNoEntry: false })
    return undefined
  } catch (error) {
    return lookProblem(error)
  }
}

function insideRoot(root: string, name: string, directory: string): StepResolution {
  try {
    const realPath = realpathSync.native(directory)
    const realRoot = realRootOf(root, directory, realPath)
    if (isInside(realRoot, realPath) && !isTextOutside(realRoot, realPath)) {
      return { ok: true, directory: realPath }
    }
  } catch {
    // The directory was deleted, or its links form a loop: both are refused like a link that leads out.
  }
  return {
    ok: false,
    code: 'step-escapes',
    message: `the step ${name} is a link that leads out of ${root}`,
    hint: 'Move the skill into that directory.',
  }
}

function isTextOutside(realRoot: string, directory: string): boolean {
  return skillFiles
    .map((file) => join(directory, file))
    .some((path) => {
      const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
      return isLink && !isInside(realpathSync.native(realRoot), realpathSync.native(path))
    })
}
