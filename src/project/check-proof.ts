import { readdirSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { pointless } from '#core/errors'
import { isInside, realPathOf } from '#core/read-files'
import { safeLine } from '#core/text'
import { declaredDigest, declaredKind } from '#chain/declared-chain'
import { ApprovalRefusedError } from '#chain/errors'
import { allSteps, isChain, type PlannedChain } from '#chain/plan-model'
import { endsChainAfter } from '#chain/policy'
import type { ApprovalStrength } from '#chain/run-journal'
import { type CommittedChain, chainOfCommit, differingFiles } from './base-chain.ts'
import { type ChainProject, openProject, type RunContext } from './chains.ts'
import { Git, GitError } from './git.ts'
import {
  type Proof,
  type ProofReading,
  type ProvenApproval,
  type ProvenStep,
  readProof,
} from './proof-format.ts'
import { rerunChecks } from './rerun-checks.ts'
import { approvalNamespace, statementOf } from './signed-approvals.ts'
import { allowedSigners, signerBy, signingKeyOf, withFile } from './ssh-signatures.ts'
import { proofsFolder, recordedTree, treeOfCommit } from './work-tree.ts'

/** One thing that a proof shows or does not. `unchecked`: nothing was asked about it. */
export interface ProofLine {
  subject: 'file' | 'run' | 'tree' | 'chain' | 'step' | 'files' | 'approval' | 'signature' | 'rerun'
  status: 'passed' | 'failed' | 'unchecked'
  text: string
}

export interface CheckedProof {
  file: string
  /** The commit's ID, or the name in the question if there is no such commit. */
  commit: string
  hasPassed: boolean
  lines: readonly ProofLine[]
  /** What the proof says; undefined if it cannot be read. */
  proof?: Proof | undefined
}

export interface ProofQuestion {
  /** Default: the proof with the last name in the folder of proofs, which is that of the newest run. */
  file: string | undefined
  commit: string
  base: string | undefined
  /** The chain's name, or its directory. */
  chain: string | undefined
  require: 'verified' | undefined
  approval: ApprovalStrength | undefined
  /** A file with the keys that may sign. One in the project is read from the base. */
  allowedSigners: string | undefined
  /** Whether a step that ended on other files than the run fails the proof. */
  sameFiles: boolean
  rerun: boolean
}

/**
 * Checks a proof against a commit. Whatever cannot be read or is unknown fails, with a line that says so.
 *
 * @throws {UsageError} for options that need another one
 */
export async function checkProof(
  context: RunContext,
  question: ProofQuestion,
): Promise<CheckedProof> {
  const project = openProject(context)
  refuseWithoutBase(project, question)
  const file = question.file ?? newestProof(project)
  if (file === undefined) {
    return unreadable(question, proofsFolder, `there is no proof in ${proofsFolder}`)
  }
  const shown = displayed(project, file)
  const reading = readProof(resolve(context.runtime.cwd, file))
  if (!reading.ok) return unreadable(question, shown, reading.message)
  const git = Git.in(project.workspace, context.runtime)
  if (!git) return unreadable(question, shown, 'git is not installed')
  const subject = subjectOf(project, git, reading, question)
  const lines = [
    ...runLines(subject),
    ...treeLines(subject),
    ...chainLines(subject),
    ...stepLines(subject),
    ...filesLines(subject),
    ...approvalLines(subject),
    ...signatureLines(subject),
  ]
  const all = [...lines, ...(await rerunLines(subject, lines))]
  return {
    file: shown,
    commit: subject.commit ?? question.commit,
    hasPassed: all.every(({ status }) => status !== 'failed'),
    lines: all,
    proof: reading.proof,
  }
}

/** Everything about one check, read once. */
interface ProofSubject {
  project: ChainProject
  git: Git
  question: ProofQuestion
  reading: ProofReading & { ok: true }
  proof: Proof['predicate']
  commit: string | undefined
  base: string | undefined
  /** The chain of the base; undefined without a base, and if the base has none. */
  chain: CommittedChain | undefined
}

function subjectOf(
  project: ChainProject,
  git: Git,
  reading: ProofReading & { ok: true },
  question: ProofQuestion,
): ProofSubject {
  const { predicate: proof } = reading.proof
  const commit = commitNamed(git, question.commit)
  const base = question.base === undefined ? undefined : commitNamed(git, question.base)
  const chain = base === undefined ? undefined : chainAt(git, base, proof.chain.directory)
  return { project, git, question, reading, proof, commit, base, chain }
}

function chainAt(git: Git, base: string, directory: string): CommittedChain | undefined {
  try {
    return chainOfCommit(git, base, directory)
  } catch (error) {
    if (error instanceof GitError) return undefined
    throw error
  }
}

function commitNamed(git: Git, name: string): string | undefined {
  return git.line('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)
}

function runLines({ proof: { run, chain } }: ProofSubject): ProofLine[] {
  const name = `run ${run.id} of ${chain.name}`
  if (run.status !== 'success') return [failed('run', `${name} ended as ${run.status}`)]
  if (run.chainChanged) return [failed('run', `the chain was changed during ${name}`)]
  return [passed('run', `${name} succeeded`)]
}

function treeLines({ git, reading, proof, commit, question }: ProofSubject): ProofLine[] {
  const { tree, commit: end, uncommitted } = proof.repository
  if (commit === undefined) {
    return [failed('tree', `there is no commit ${question.commit} in this repository`)]
  }
  const [{ digest }] = reading.proof.subject
  if (digest.gitTree !== tree) return [failed('tree', 'the proof names two trees')]
  const actual = treeAt(git, commit)
  const paths = uncommitted.paths.join(', ')
  const more = uncommitted.count > uncommitted.paths.length ? ', …' : ''
  const dirty =
    uncommitted.count === 0 ? '' : `; not committed at the end of the run: ${paths}${more}`
  const same =
    actual === tree
      ? passed('tree', `${short(commit)} has the files of the end of the run`)
      : failed(
          'tree',
          `${short(commit)} has other files (tree ${short(actual ?? 'unreadable')}) than the end of the run (tree ${short(tree)})${dirty}`,
        )
  const contains = git.succeeds('merge-base', '--is-ancestor', end, commit)
  if (contains) return [same]
  const reasons = 'another repository or branch, an amended commit, or a shallow clone'
  const message = `${short(commit)} does not contain ${short(end)}, where the run ended: ${reasons}`
  return [same, failed('tree', message)]
}

function treeAt(git: Git, commit: string): string | undefined {
  try {
    return treeOfCommit(git, commit)
  } catch (error) {
    if (error instanceof GitError) return undefined
    throw error
  }
}

function chainLines(subject: ProofSubject): ProofLine[] {
  const { proof, question } = subject
  const { name, directory } = proof.chain
  const wanted = question.chain
  const isWanted =
    wanted === undefined || wanted === name || withoutSlash(wanted) === withoutSlash(directory)
  const other = failed('chain', `the proof is about ${name} (${directory}), not about ${wanted}`)
  return [...(isWanted ? [] : [other]), ...comparedChain(subject)]
}

function comparedChain({ git, proof, question, commit, base, chain }: ProofSubject): ProofLine[] {
  const { name, directory, digest } = proof.chain
  if (question.base === undefined) {
    return [unchecked('chain', `${name} is not compared with a base branch (--base)`)]
  }
  if (base === undefined) {
    return [failed('chain', `there is no commit ${question.base} to compare with`)]
  }
  if (chain === undefined) {
    return [failed('chain', `${question.base} has no chain in ${directory}`)]
  }
  const files = commit === undefined ? [] : differingFiles(git, [base, commit], chain.directories)
  const lines = files.map((file) =>
    failed('chain', `${file} of the chain differs from ${question.base}`),
  )
  if (declaredDigest(chain.root) !== digest || chain.name !== name) {
    lines.unshift(failed('chain', `the run executed another ${name} than ${question.base} has`))
  }
  if (lines.length > 0) return lines
  return [passed('chain', `${name} is the one of ${question.base}`)]
}

function stepLines(subject: ProofSubject): ProofLine[] {
  const { proof, chain, question } = subject
  const names = proof.steps.map(({ step }) => step)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  const lines = [
    ...twice.map((name) => failed('step', `${name} occurs twice`)),
    ...(chain ? differingSteps(proof.steps, chain, question.base ?? '') : []),
    ...(chain && question.require ? unexplainedSteps(proof.steps, chain.root) : []),
    ...proof.steps.flatMap((step) => problemsOf(step, question)),
  ]
  if (lines.length > 0) return lines
  return [passed('step', evidenceText(proof.steps))]
}

/** Compares the steps with those of the base: names, skills, options that decide what confirms them. */
function differingSteps(
  steps: readonly ProvenStep[],
  { root }: CommittedChain,
  base: string,
): ProofLine[] {
  const planned = allSteps(root)
  const extra = steps.filter(({ step }) => planned.every((one) => one.step !== step))
  const different = planned.flatMap((one): ProofLine[] => {
    const step = steps.find((candidate) => candidate.step === one.step)
    if (!step) return [failed('step', `${one.step} of ${base} is missing`)]
    const { digest, skill, path, check = null, verify = null } = one
    const gate = gateStrength(one.gate)
    const declared = { digest, skill, path, kind: declaredKind(one), check, verify, gate }
    const names = Object.entries(declared).flatMap(([name, value]) =>
      Reflect.get(step, name) === value ? [] : [name],
    )
    if (names.length === 0) return []
    return [failed('step', `${one.step} is not the one of ${base}: ${names.join(', ')}`)]
  })
  return [
    ...extra.map(({ step }) => failed('step', `${step} is not a step of ${base}`)),
    ...different,
  ]
}

/**
 * Returns the steps that did not run although nothing in the chain allows that: no condition, and no end of
 * the chain after a success. A failure that ends a chain is a problem of its own.
 */
function unexplainedSteps(
  steps: readonly ProvenStep[],
  { steps: planned, policy }: PlannedChain,
): ProofLine[] {
  if (endsChainAfter(policy, {}, { status: 'success', isRejected: false })) return []
  return planned
    .filter(({ when }) => when === undefined)
    .flatMap((one): ProofLine[] => {
      const status = steps.find(({ step, excluded }) => step === one.step && !excluded)?.status
      if (status !== undefined && unstartedStatuses.has(status)) {
        return [
          failed('step', `${one.step} has the status ${status}, and no condition allows that`),
        ]
      }
      return isChain(one) ? unexplainedSteps(steps, one) : []
    })
}

const unstartedStatuses: ReadonlySet<string> = new Set(['skipped', 'not_run', 'cancelled'])

function problemsOf(step: ProvenStep, { require }: ProofQuestion): ProofLine[] {
  const { step: name, status, evidence, kind, check, verify, reused, allowFailure } = step
  const problem = (text: string): ProofLine[] => [failed('step', `${name} ${text}`)]
  const hasCheck = check !== null || verify !== null
  if (step.excluded) return problem('was left out of the run')
  if (!endedStatuses.has(status)) return problem(`has the status ${status}`)
  const isFailure = status === 'failure' || status === 'critical'
  if (isFailure && !allowFailure && require) return problem(`ended as ${status}`)
  if (status !== 'success') return []
  if (evidence === null) return problem('succeeded without evidence')
  if (evidence === 'verified' && !hasCheck && kind !== 'chain') {
    return problem('is said to be verified, and has no check')
  }
  if (evidence === 'exit-code' && kind === 'instructions') {
    return problem('is said to have an exit code, and has no script')
  }
  if (require === undefined) return []
  if (reused) return problem('has its result from another run')
  // The steps of a chain say what confirms it, unless it has a check of its own.
  if (kind === 'chain' && !hasCheck) return []
  if (evidence === 'self-reported') return problem('is only reported by the agent')
  if (evidence === 'accepted') return problem('was accepted by a user without its check')
  return []
}

const endedStatuses: ReadonlySet<string> = new Set([
  'success',
  'failure',
  'critical',
  ...unstartedStatuses,
])

/**
 * Compares the files on which steps succeeded with those of the end of the run. A check that runs again needs
 * no comparison.
 */
function filesLines({ proof, question }: ProofSubject): ProofLine[] {
  const proven = proof.steps.filter(
    (step) => isProven(step) && !(question.rerun && hasProvenCheck(step)),
  )
  const line = question.sameFiles ? failed : unchecked
  const others = proven.filter(({ tree }) => tree && tree !== proof.repository.tree)
  const unknown = proven.filter(({ tree }) => !tree)
  const lines = [
    ...(others.length === 0
      ? []
      : [
          line('files', `${namesOf(others)}: succeeded on other files than the end of the run has`),
        ]),
    ...(unknown.length === 0
      ? []
      : [line('files', `${namesOf(unknown)}: succeeded on files that were not recorded`)]),
  ]
  if (lines.length > 0 || proven.length === 0) return lines
  return [passed('files', `${namesOf(proven)}: succeeded on the files of the end of the run`)]
}

/** Whether something else than a report says that a step is done: an exit code, a check or a user. */
function isProven(step: ProvenStep): boolean {
  const { status, evidence, kind } = step
  if (status !== 'success' || evidence === null || evidence === 'self-reported') return false
  return kind !== 'chain' || hasProvenCheck(step)
}

function hasProvenCheck({ check, verify }: ProvenStep): boolean {
  return check !== null || verify !== null
}

function namesOf(steps: readonly ProvenStep[]): string {
  return steps.map(({ step }) => step).join(', ')
}

function evidenceText(steps: readonly ProvenStep[]): string {
  const tasks = steps.filter(({ kind }) => kind !== 'chain')
  const words = tasks.map(({ status, evidence }) =>
    status === 'success' ? (evidence ?? 'no evidence') : status,
  )
  const counts = [...new Set(words)].map(
    (word) => `${words.filter((one) => one === word).length} ${word}`,
  )
  return `steps: ${counts.join(', ')}`
}

const strengths: readonly ApprovalStrength[] = ['unknown', 'prompted', 'attended', 'signed']

function gateStrength(gate: true | 'attended' | 'signed' | undefined): ProvenStep['gate'] {
  return gate === true ? 'prompted' : (gate ?? null)
}

function approvalLines(subject: ProofSubject): ProofLine[] {
  const { proof, question } = subject
  const foreign = proof.approvals.filter(({ run }) => run !== proof.run.id)
  const lines = foreign.map(({ step, run }) =>
    failed('approval', `the approval of ${step} belongs to the run ${run}`),
  )
  // The steps are compared with those of the base, gates included.
  const gated = proof.steps.filter(({ gate, status }) => gate !== null && status !== 'skipped')
  if (gated.length === 0 && question.approval !== undefined) {
    return [...lines, failed('approval', 'no step has a gate, so nobody approved anything')]
  }
  return [...lines, ...gated.flatMap((step) => approvalLine(step, subject))]
}

function approvalLine({ step, gate }: ProvenStep, subject: ProofSubject): ProofLine[] {
  const { proof, question } = subject
  const required = requiredStrength(gate ?? 'prompted', question.approval)
  const given = proof.approvals.filter((one) => one.step === step && one.run === proof.run.id)
  const approval = given.findLast(({ approved }) => approved)
  if (!approval) return [failed('approval', `nobody approved ${step}`)]
  if (approval.plan !== proof.chain.plan) {
    return [failed('approval', `the approval of ${step} is about another chain`)]
  }
  const { strength, reason } = actualStrength(approval, subject)
  const who = approval.user === null ? '' : ` by ${approval.user}`
  const how = `${approval.channel}, ${strength}${reason}`
  if (strengths.indexOf(strength) >= strengths.indexOf(required)) {
    return [passed('approval', `${step} was approved${who} (${how})`)]
  }
  return [failed('approval', `${step} needs an approval that is ${required}; it has: ${how}`)]
}

/** A plain gate can be content with less than a prompt, if the question says so; others never. */
function requiredStrength(
  gate: NonNullable<ProvenStep['gate']>,
  asked: ApprovalStrength | undefined,
): ApprovalStrength {
  if (asked === undefined) return gate
  if (gate === 'prompted') return asked
  return strengths.indexOf(asked) > strengths.indexOf(gate) ? asked : gate
}

/** A signature counts only if the list of allowed signers has its key. */
function actualStrength(
  approval: ProvenApproval,
  subject: ProofSubject,
): { strength: ApprovalStrength; reason: string } {
  const { strength, signature, run, step, attempt, plan, results, at } = approval
  if (strength !== 'signed') return { strength, reason: '' }
  if (signature === null) return { strength: 'unknown', reason: ': it has no signature' }
  const gate = { step, attempt, planDigest: plan, stateDigest: results }
  const text = statementOf(run, gate, at)
  const signed = { namespace: approvalNamespace, text, signature: signature.text } as const
  const signer = signerIn(subject, signed)
  if (signer.kind === 'known') return { strength, reason: ` by ${signer.name}` }
  return { strength: 'unknown', reason: `: ${signer.reason}` }
}

function signatureLines(subject: ProofSubject): ProofLine[] {
  const { reading, question } = subject
  const { signature, text } = reading
  if (signature === undefined) {
    if (question.allowedSigners !== undefined) return [failed('signature', 'it is not signed')]
    return [unchecked('signature', 'it is not signed')]
  }
  const signer = signerIn(subject, { namespace: 'skillrail-proof', text, signature })
  if (signer.kind === 'known') return [passed('signature', `signed by ${signer.name}`)]
  if (signer.kind === 'no-list') return [unchecked('signature', signer.reason)]
  return [failed('signature', signer.reason)]
}

type Signer =
  | { kind: 'known'; name: string }
  /** The signature belongs to the text; nothing says whose key it is. */
  | { kind: 'no-list'; reason: string }
  | { kind: 'unknown'; reason: string }

function signerIn(
  subject: ProofSubject,
  signed: { namespace: 'skillrail-approval' | 'skillrail-proof'; text: string; signature: string },
): Signer {
  const { runtime } = subject.project.context
  try {
    const key = signingKeyOf(runtime, signed)
    if (key === undefined) return { kind: 'unknown', reason: 'the signature is of another text' }
    const list = signersList(subject)
    if (list.kind === 'none') {
      const reason = `signed by ${key}, and there is no list of allowed signers (--allowed-signers)`
      return { kind: 'no-list', reason }
    }
    if (list.kind === 'unreadable') return { kind: 'unknown', reason: list.reason }
    const name = list.use((signers) => signerBy(runtime, { ...signed, signers }))
    if (name !== undefined) return { kind: 'known', name }
    return { kind: 'unknown', reason: `the key ${key} is not in the list of allowed signers` }
  } catch (error) {
    if (error instanceof ApprovalRefusedError) return { kind: 'unknown', reason: error.message }
    throw error
  }
}

type SignersList =
  | { kind: 'none' }
  | { kind: 'unreadable'; reason: string }
  | { kind: 'list'; use<T>(read: (path: string) => T): T }

/** The change that is checked could add a key to a list of the project, so the base's list counts. */
function signersList({ project, git, question, base }: ProofSubject): SignersList {
  const { context } = project
  const named = question.allowedSigners
  if (named === undefined) {
    const path = allowedSigners(context)
    return path === undefined ? { kind: 'none' } : { kind: 'list', use: (read) => read(path) }
  }
  const inside = pathInside(project, named)
  if (inside === undefined) {
    const path = resolve(context.runtime.cwd, named)
    if (realPathOf(path) === undefined) return { kind: 'unreadable', reason: `${named} is missing` }
    return { kind: 'list', use: (read) => read(path) }
  }
  const missing = { kind: 'unreadable', reason: `${question.base} has no ${inside}` } as const
  if (base === undefined) return missing
  try {
    const text = git.read(['cat-file', 'blob', `${base}:${inside}`])
    return { kind: 'list', use: (read) => withFile(text, read) }
  } catch (error) {
    if (error instanceof GitError) return missing
    throw error
  }
}

/** The path relative to the project; undefined if it is outside. */
function pathInside(
  { workspace, context }: Pick<ChainProject, 'workspace' | 'context'>,
  path: string,
): string | undefined {
  const absolute = resolve(context.runtime.cwd, path)
  const real = realPathOf(absolute) ?? absolute
  if (!isInside(workspace, real)) return undefined
  return relative(workspace, real).split(sep).join('/')
}

async function rerunLines(
  subject: ProofSubject,
  earlier: readonly ProofLine[],
): Promise<ProofLine[]> {
  const { project, git, question, proof, commit, chain } = subject
  if (!question.rerun) return [unchecked('rerun', 'no check was run again (--rerun)')]
  if (earlier.some(({ status }) => status === 'failed') || commit === undefined || !chain) {
    return [unchecked('rerun', 'no check was run again, because other lines failed')]
  }
  const here = recordedTree(project.workspace, project.context.runtime)
  if (here === undefined || 'problem' in here) {
    return [failed('rerun', `the working tree cannot be read: ${here?.problem ?? 'no repository'}`)]
  }
  if (here.tree !== treeAt(git, commit)) {
    const paths = here.uncommitted.paths.join(', ')
    const message = `the working tree is not that of ${short(commit)}; check that commit out`
    return [failed('rerun', paths === '' ? message : `${message}. Changed: ${paths}`)]
  }
  const { directory } = proof.chain
  const checks = await rerunChecks(project, { directory, chain })
  const lines = checks.map(({ isDone, text }) =>
    isDone ? passed('rerun', text) : failed('rerun', text),
  )
  const others = proof.steps.filter((step) => step.kind !== 'chain' && !hasProvenCheck(step))
  if (others.length === 0) return lines
  const text = `${namesOf(others)}: not run again, because only checks are`
  return [...lines, unchecked('rerun', text)]
}

function newestProof({ workspace }: ChainProject): string | undefined {
  const folder = join(workspace, proofsFolder)
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
    const newest = names.toSorted().at(-1)
    return newest === undefined ? undefined : join(folder, newest)
  } catch {
    return undefined
  }
}

function refuseWithoutBase(
  project: ChainProject,
  { rerun, base, allowedSigners: named }: ProofQuestion,
): void {
  if (base !== undefined) return
  const hint = 'Name the branch that the change goes into: --base REF.'
  if (rerun) throw pointless('--rerun', '--base', hint)
  if (named !== undefined && pathInside(project, named) !== undefined) {
    throw pointless('--allowed-signers with a file of the project', '--base', hint)
  }
}

function displayed({ workspace }: Pick<ChainProject, 'workspace'>, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path).split(sep).join('/') : path
}

function unreadable({ commit }: ProofQuestion, file: string, message: string): CheckedProof {
  return { file, commit, hasPassed: false, lines: [failed('file', message)] }
}

function withoutSlash(path: string): string {
  return path.replace(/^\.\//, '').replace(/\/$/, '')
}

function short(id: string): string {
  return id.slice(0, 10)
}

function passed(subject: ProofLine['subject'], text: string): ProofLine {
  return { subject, status: 'passed', text: safeLine(text) }
}

function failed(subject: ProofLine['subject'], text: string): ProofLine {
  return { subject, status: 'failed', text: safeLine(text) }
}

function unchecked(subject: ProofLine['subject'], text: string): ProofLine {
  return { subject, status: 'unchecked', text: safeLine(text) }
}
