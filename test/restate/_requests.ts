import type { Server } from '../../dev/restate.mjs'
import type { Plan } from '../../src/chain/plan-model.ts'
import type { RunResult } from '../../src/chain/engine.ts'
import { journalVersion, runJournalOf, type RunRecord } from '../../src/chain/run-journal.ts'
import { emptyPass, protocolVersion, type RunRequest } from '../../src/chain/restate/protocol.ts'
import { recordsOf } from '../../src/chain/restate/server-runs.ts'
import { readResult } from '../../src/chain/run-chain.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { awaitRun, submitRun } from '../../src/chain/restate/client.ts'
import type { TestProject } from '../chain/_project.ts'

/** The plan of a chain as the command line makes it. */
export async function planOf(project: TestProject, skill: string): Promise<Plan> {
  const { stdout, stderr } = await project.cli(['chain', 'plan', skill, '--json'])
  if (stdout === '') throw new Error(stderr)
  const { digest, policy, steps } = JSON.parse(stdout)
  const path = `.skillrail/skills/${skill}/SKILL.md`
  const baseStep = { step: '', skill, path, trust: 'trusted', digest: '', tokens: 1 } as const
  return { skill, digest, root: { ...baseStep, executor: 'chain', policy, steps } }
}

export function requestFor(plan: Plan, runId: string, more: Partial<RunRequest> = {}): RunRequest {
  return {
    version: protocolVersion,
    runId,
    arguments: [],
    requireVerified: false,
    defaultTimeoutMs: 0,
    planDigest: plan.digest,
    yesGates: false,
    pass: emptyPass(),
    plan,
    ...more,
  }
}

/** Submits a run and waits for its end, as the command line does. */
export async function runOn(server: Server, request: RunRequest): Promise<RunResult> {
  await submitRun(server, request, 1)
  const run = { runId: request.runId, part: 1 }
  const answer = await awaitRun(server, run, request.planDigest)
  const { runId, plan, requireVerified } = request
  const header: RunRecord = {
    type: 'run',
    version: journalVersion,
    runId,
    skill: plan.skill,
    at: new Date(0).toISOString(),
    mode: 'run',
    arguments: [],
    argumentsDigest: '',
    requireVerified,
    request: { directory: '', set: [] },
    plan,
  }
  const records = recordsOf(runJournalOf('', runId, [header]), answer)
  return await readResult(runJournalOf('', runId, [header, ...records]), systemRuntime())
}
