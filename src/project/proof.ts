import { join, resolve } from 'node:path'
import { indentedJson, sha256 } from '#core/json'
import { packageVersion } from '#core/runtime'
import { removeIfThere, writeFileAtomicSync } from '#core/write-files'
import type { StepResult } from '#chain/engine'
import { declaredDigest, declaredKind } from '#chain/declared-chain'
import { RunStateError } from '#chain/errors'
import { allSteps, type PlannedStep, stepOfKey } from '#chain/plan-model'
import { readResult } from '#chain/run-chain'
import type { ApprovalRecord, RecordedTree, RunJournal } from '#chain/run-journal'
import { isFinal, statusOfRun, type WalkedStep, walkResult } from '#chain/step-result'
import type { RunLine } from '#chain/run-line'
import type { RunContext } from './chains.ts'
import { Git } from './git.ts'
import {
  predicateType,
  type Proof,
  type ProvenApproval,
  type ProvenStep,
  signaturePath,
  statementType,
} from './proof-format.ts'
import { hasKeyOfOtherFormat, hasSigningKey, signText } from './ssh-signatures.ts'
import { findRun } from './stored-runs.ts'
import { proofsFolder } from './work-tree.ts'

export interface WrittenProof {
  runId: string
  file: string
  /** The signature, if Git or a setting names a key of the user. */
  signature?: string | undefined
  /** The user's configuration of Git has a key, but not for SSH signatures. */
  hasOtherKey: boolean
  proof: Proof
  /** Git ignores the file, so that it cannot be committed as it is. */
  isIgnored: boolean
}

/**
 * Writes the proof of a run that has ended, and signs it with the user's key if there is one.
 *
 * @throws {RunStateError} if the run has not ended, or its end has no tree
 * @throws {ApprovalRefusedError} if there is a key and it does not sign
 */
export async function writeProof(
  context: RunContext,
  { name, out, sign }: { name: string; out: string | undefined; sign: boolean | undefined },
): Promise<WrittenProof> {
  const { project, runId, journal } = await findRun(context, name)
  const { workspace, line } = project
  const { runtime } = context
  const proof = await proofOf(journal, context, line)
  const text = indentedJson(proof)
  const isSigned = sign ?? hasSigningKey(context)
  const signed = isSigned ? signText(context, 'skillrail-proof', text) : undefined
  const file =
    out === undefined ? join(workspace, proofsFolder, `${runId}.json`) : resolve(runtime.cwd, out)
  // The default place is in the project, which could lead it elsewhere by a link.
  const options = out === undefined ? { within: workspace } : {}
  writeFileAtomicSync(file, text, options)
  const signature = signaturePath(file)
  if (signed === undefined) removeIfThere(signature)
  else writeFileAtomicSync(signature, signed, options)
  const isIgnored = Git.in(workspace, runtime)?.line('check-ignore', file) !== undefined
  return {
    runId,
    file,
    signature: signed && signature,
    hasOtherKey: hasKeyOfOtherFormat(context),
    proof,
    isIgnored,
  }
}

async function proofOf(journal: RunJournal, context: RunContext, line: RunLine): Promise<Proof> {
  const { run, plan } = journal
  const { runId } = run
  refuseUnended(journal, line)
  const tree = treeOf(journal)
  const result = await readResult(journal, context.runtime)
  const steps = walkResult(result)
  const endedAt = journal.updatedAt
  return {
    _type: statementType,
    subject: [{ name: 'working tree', digest: { gitTree: tree.tree } }],
    predicateType,
    predicate: {
      run: {
        id: runId,
        mode: run.mode,
        status: result.status,
        startedAt: run.at,
        endedAt,
        user: run.user ?? null,
        arguments: [...run.arguments],
        requireVerified: run.requireVerified,
        chainChanged: declaredDigest(run.plan.root) !== declaredDigest(plan.root),
      },
      repository: {
        commit: tree.commit,
        tree: tree.tree,
        uncommitted: { ...tree.uncommitted, paths: [...tree.uncommitted.paths] },
      },
      chain: {
        name: plan.skill,
        directory: run.request.directory,
        digest: declaredDigest(plan.root),
        plan: plan.digest,
      },
      steps: allSteps(plan.root).map((step) =>
        provenStep(
          step,
          journal,
          steps.find((walked) => walked.step.step === step.step),
        ),
      ),
      approvals: [...journal.approvals.values()].map((record) => provenApproval(journal, record)),
      versions: {
        skillrail: packageVersion(),
        client: clientOf(journal),
      },
    },
  }
}

function refuseUnended(journal: RunJournal, line: RunLine): void {
  const { runId, imported } = journal.run
  if (imported) {
    const message = `the run ${runId} was imported, so there is no proof of it`
    throw new RunStateError('run-imported', message, 'Run the chain here.')
  }
  const status = statusOfRun(journal, journal.path)
  if (isFinal(status)) return
  const message = `the run ${runId} has not ended (${status}), so there is no proof of it`
  throw new RunStateError('run-not-ended', message, `See: ${line('runs show', runId)}`)
}

type Tree = Extract<RecordedTree, { tree: string }> & { commit: string }

function treeOf({ run: { runId, server }, tree }: RunJournal): Tree {
  if (tree !== undefined && 'tree' in tree && tree.commit !== null) {
    return { ...tree, commit: tree.commit }
  }
  const reason =
    tree === undefined
      ? server
        ? 'a server executed it'
        : 'it ran outside of a Git repository, or with an earlier Skillrail'
      : 'problem' in tree
        ? tree.problem
        : 'the repository had no commit'
  throw new RunStateError(
    'tree-not-recorded',
    `the end of the run ${runId} has no tree: ${reason}`,
    'Correct that, and run the chain again: a proof shows the files as they were at the end of the run.',
  )
}

function provenStep(
  planned: PlannedStep,
  journal: RunJournal,
  walked: WalkedStep | undefined,
): ProvenStep {
  const result = walked?.step
  const { step, skill, path, digest, gate, check, verify, excluded, allowFailure } = planned
  return {
    step,
    skill,
    path,
    digest,
    kind: declaredKind(planned),
    status: result?.status ?? 'not_run',
    evidence: result?.evidence ?? null,
    gate: gate === true ? 'prompted' : (gate ?? null),
    check: check ?? null,
    verify: verify ?? null,
    checkFilesChanged: [...(result?.changedFiles ?? [])],
    output: outputDigest(result),
    tree: (walked && journal.done.get(walked.key)?.tree) ?? null,
    excluded: excluded ?? false,
    allowFailure: allowFailure ?? false,
    reused: result?.reused ?? false,
    startedAt: result?.startedAt ?? null,
    durationMs: result?.durationMs ?? null,
  }
}

/** The digest is about what `runs show` prints: a digest of a secret would help to guess it. */
function outputDigest(result: StepResult | undefined): string | null {
  if (result === undefined || !isFinal(result.status)) return null
  const { status, result: text, errors, metrics, artifacts = [] } = result
  return sha256(JSON.stringify({ status, result: text, errors, metrics, artifacts }))
}

function provenApproval({ run, gates }: RunJournal, record: ApprovalRecord): ProvenApproval {
  const { key, approved, at, by, user, channel, strength, planDigest, stateDigest } = record
  const gate = gates.get(key)
  return {
    run: run.runId,
    step: gate?.step ?? stepOfKey(key),
    attempt: gate?.attempt ?? 1,
    approved,
    channel: by === 'caller' ? 'option' : (channel ?? 'unknown'),
    strength: strength ?? 'unknown',
    user: user ?? null,
    at,
    plan: planDigest,
    results: stateDigest,
    shown: record.shownDigest ?? null,
    signature: record.signature ?? null,
  }
}

function clientOf({
  run: { rail, request },
}: RunJournal): Proof['predicate']['versions']['client'] {
  if (rail) return { name: rail.client, version: rail.version ?? null }
  return request.via === undefined ? null : { name: request.via, version: null }
}
