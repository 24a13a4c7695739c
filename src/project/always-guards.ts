import { resolve } from 'node:path'
import { sha256 } from '#core/json'
import { realPathOf } from '#core/read-files'
import { createDiskLookup } from '#chain/lookup'
import { planRun } from '#chain/plan'
import {
  allSteps,
  isChain,
  type PlannedChain,
  type PlannedStep,
  stepLabel,
  wholeChain,
} from '#chain/plan-model'
import { guardedCalls } from '#skill/guard-words'
import type { SkillInfo } from '#library/model'
import type { GuardedChain, GuardsReading } from '#trust/accepted-guards'

/**
 * Returns the chains with `guards: always` among these skills, with the guards that they declare now.
 *
 * @param workspace absolute; the paths of chains in it are relative to it, unless they are the user's own
 */
export function alwaysGuarding(
  skills: readonly SkillInfo[],
  workspace: string,
  { isOwn = false }: { isOwn?: boolean } = {},
): GuardedChain[] {
  const trust = { level: 'trusted', reason: '' } as const
  const lookup = createDiskLookup({ workspace, trustOf: () => trust })
  return skills.flatMap(({ fields, directory, realDirectory }) => {
    if (fields.chain?.guardsAlways !== true) return []
    const { facts } = lookup.load(realDirectory ?? realPathOf(directory) ?? directory)
    if (facts?.chain?.guardsAlways !== true) return []
    const { plan } = planRun(facts, lookup, { instructions: { kind: 'driven' } })
    const chain = guardedChain(plan.root)
    return [isOwn ? { ...chain, path: resolve(workspace, chain.path) } : chain]
  })
}

/** The chains of a plan whose guards always apply, with what the names of their steps begin with. */
export function alwaysGuardingIn(root: PlannedChain): { chain: GuardedChain; prefix: string }[] {
  return wholeChain(root)
    .filter(isChain)
    .filter(({ guardsAlways }) => guardsAlways === true)
    .map((chain) => ({ chain: guardedChain(chain), prefix: prefixOf(chain) }))
}

function guardedChain(chain: PlannedChain): GuardedChain {
  const prefix = prefixOf(chain)
  const guards = allSteps(chain).flatMap(({ step, guard }) =>
    guard === undefined ? [] : [{ step: step.slice(prefix.length), calls: guard }],
  )
  return {
    name: chain.skill,
    path: chain.path,
    digest: sha256(JSON.stringify(shapeOf(chain))),
    guards,
  }
}

function prefixOf({ step }: PlannedChain): string {
  return step === '' ? '' : `${step}/`
}

/** Everything that decides when a guard opens. The text of the skills and their arguments do not. */
function shapeOf({ policy, requireVerified, steps }: PlannedChain): object {
  return { policy, requireVerified, steps: steps.map(shapeOfStep) }
}

function shapeOfStep(planned: PlannedStep): object {
  const { group, retry, backoff, timeout, when, allowFailure, always, rework } = planned
  const { skill, gate, check, verify, maxBlocks, tools, guard } = planned
  const course = { group, retry, backoff, timeout, when, allowFailure, always, rework }
  const rules = { gate, check, verify, maxBlocks, tools, guard }
  const inner = isChain(planned) ? shapeOf(planned) : {}
  return { step: stepLabel(planned), skill, ...rules, ...course, ...inner }
}

/** What accepting would do to the guards of one chain that always apply. */
export interface GuardChange {
  chain: string
  path: string
  change: 'none' | 'added' | 'changed' | 'removed'
  /** In words, such as `git push`: what is guarded then, or was until then. */
  calls: readonly string[]
  /** Whether it is one of the user's own chains, which guard in every project. */
  isOwn: boolean
}

/** Compares what guards now with what was accepted; nothing readable was accepted, if it is broken. */
export function guardChanges(
  accepted: GuardsReading,
  now: readonly GuardedChain[],
  isOwn: boolean,
): GuardChange[] {
  const before = new Map(
    accepted.kind === 'read' ? accepted.chains.map((chain) => [chain.path, chain]) : [],
  )
  const kept = now.map((chain) => {
    const old = before.get(chain.path)
    const isSame = old?.digest === chain.digest
    return describe(chain, old === undefined ? 'added' : isSame ? 'none' : 'changed')
  })
  const paths = new Set(now.map(({ path }) => path))
  const gone = [...before.values()].filter(({ path }) => !paths.has(path))
  return [...kept, ...gone.map((chain) => describe(chain, 'removed'))]

  function describe(
    { name, path, guards }: GuardedChain,
    change: GuardChange['change'],
  ): GuardChange {
    const calls = [...new Set(guards.flatMap((guard) => guardedCalls(guard.calls)))]
    return { chain: name, path, change, calls, isOwn }
  }
}
