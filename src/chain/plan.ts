import { type Diagnostic, sha256 } from '../base/index.ts'
import { defaultChainPolicy, type ChainPolicy } from '../skill/index.ts'
import { planChain, planTask, type Planning } from './_plan-steps.ts'
import type { ChainLookup, SkillFacts } from './lookup.ts'
import {
  isChain,
  type Plan,
  type PlannedChain,
  type PlannedStep,
  type PlanReading,
} from './plan-model.ts'
import { excludeSteps } from './select.ts'

export interface PlanOptions {
  /** Policy of the outermost chain for this one run (`--set`). */
  policy?: Partial<ChainPolicy> | undefined
  /** Leaves out the steps before this one. */
  from?: string | undefined
  /** Leaves out every other step. */
  only?: string | undefined
  /** What executes a skill that has no script; default: nothing, which is an error. */
  instructions?: InstructionExecutor | undefined
  /**
   * Whose scripts run in a sandbox, besides skills that ask for it; default: nobody's, so that a
   * script that is not trusted is an error.
   */
  sandbox?: 'untrusted' | 'all' | undefined
}

/** An agent is asked headless (`agent`), is driven by reports (`driven`), or a model is asked. */
export type InstructionExecutor =
  | { kind: 'driven' }
  | { kind: 'model'; model: string; honours: readonly string[] }
  | { kind: 'agent'; client: string; honours: readonly string[] }

/**
 * Resolves a skill into everything that will run, and checks all of it before anything does: names,
 * cycles, depth, scripts, trust, policies that contradict themselves. The same files give the same
 * plan, byte for byte.
 */
export function planRun(
  skill: SkillFacts,
  lookup: ChainLookup,
  options: PlanOptions = {},
): PlanReading {
  const diagnostics: Diagnostic[] = []
  const { instructions, sandbox } = options
  const planning: Planning = { lookup, diagnostics, instructions, sandbox, steps: 0 }
  const root = planRoot(skill, planning, options.policy ?? {})
  if (instructions?.kind === 'driven') diagnostics.push(...refuseRaces(root))
  const steps = excludeSteps(root, options, diagnostics)
  const plan = { skill: skill.name, root: { ...root, steps } }
  return { plan: { ...plan, digest: planDigest(plan.root) }, diagnostics: distinct(diagnostics) }
}

/** A skill that is called twice is wrong once. */
function distinct(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...new Map(diagnostics.map((found) => [JSON.stringify(found), found])).values()]
}

/** The digest of a plan; nothing but the plan itself goes into it. */
export function planDigest(root: PlannedChain): string {
  return sha256(JSON.stringify(root))
}

/** The plan as `chain plan --json` prints it. */
export interface PlanJson {
  skill: string
  digest: string
  policy: ChainPolicy
  steps: readonly PlannedStep[]
  diagnostics: readonly Diagnostic[]
}

export function planJson(plan: Plan, diagnostics: readonly Diagnostic[]): PlanJson {
  const { policy, steps } = plan.root
  return {
    skill: plan.skill,
    digest: plan.digest,
    policy,
    steps,
    diagnostics,
  }
}

/** An agent does one thing after the other: it cannot race against itself. */
function refuseRaces(chain: PlannedChain): Diagnostic[] {
  const inner = chain.steps.flatMap((step) => (isChain(step) ? refuseRaces(step) : []))
  const driven = chain.steps.some((step) => step.executor === 'driven')
  if (!chain.policy.raceMode || !driven) return inner
  const message = `the race of ${chain.skill} cannot be run by an agent step by step`
  return [{ code: 'race-driven', severity: 'error', message, path: chain.path }, ...inner]
}

/** The check of a chain is one of a step; the chain that is run itself is none. */
function verifiesNothing({ name, path, verify }: SkillFacts, line: number): Diagnostic {
  return {
    code: 'verify-without-step',
    severity: 'warning',
    message: `${verify} of ${name} does not run: it checks the chain only where another one calls it`,
    path,
    line,
    hint: 'Make the check a skill of its own and name it last in the chain.',
  }
}

function planRoot(
  skill: SkillFacts,
  planning: Planning,
  overrides: Partial<ChainPolicy>,
): PlannedChain {
  if (skill.chain !== undefined) {
    const chain = { ...skill.chain, policy: { ...skill.chain.policy, ...overrides } }
    if (skill.verify !== undefined) planning.diagnostics.push(verifiesNothing(skill, chain.line))
    return planChain({ ...skill, chain }, chain, '', [], planning)
  }
  const step = planTask(skill, skill.name, skill.path, planning)
  const { path, trust, digest, tokens } = step
  const policy = { ...defaultChainPolicy, ...overrides }
  return {
    step: '',
    skill: skill.name,
    path,
    trust,
    digest,
    tokens,
    executor: 'chain',
    policy,
    steps: [step],
  }
}
