import type { Diagnostic } from '../core/diagnostic.ts'
import type { ChainDeclaration, ChainPolicy, StepOptions } from '../skill/model.ts'
import { defaultChainPolicy, policyKey } from '../skill/declarations.ts'
import type { TrustLevel } from '../trust/model.ts'

/**
 * How a step is executed. `driven`: handed out to an agent, which reports. `missing`: no such
 * skill, a failure when its turn comes. `none`: nothing can execute it; the plan has an error.
 */
export type TaskExecutor = 'script' | 'driven' | 'agent' | 'model' | 'missing' | 'none'

/** One step of a chain, resolved. Everything here is JSON and goes into the journal. */
export type PlannedStep = PlannedTask | PlannedChain

interface PlannedSkill extends StepOptions {
  /** Unique in the plan: `unit`, `unit#2` for a second one, `chain-test/unit` below a nested chain. */
  step: string
  skill: string
  /** The `SKILL.md`, relative to the workspace where it lies inside, else absolute. */
  path: string
  trust: TrustLevel
  digest: string
  tokens: number
  verify?: string | undefined
  /** Its scripts run in a sandbox, and only there. */
  sandboxed?: true | undefined
  gate?: true | undefined
  /** Left out of this run by `--from` or `--only`. */
  excluded?: true | undefined
  personOnly?: true | undefined
}

export interface PlannedTask extends PlannedSkill {
  executor: TaskExecutor
  script?: string | undefined
  client?: string | undefined
  model?: string | undefined
  /** Fields of the skill that this client, or the model's executor, has no equal for. */
  notHonoured?: readonly string[] | undefined
}

export interface PlannedChain extends PlannedSkill {
  executor: 'chain'
  policy: ChainPolicy
  steps: readonly PlannedStep[]
}

export interface ShownPlan {
  skill: string
  digest: string
  root: Pick<PlannedChain, 'policy' | 'steps'>
}

export interface Plan extends ShownPlan {
  skill: string
  digest: string
  /** A skill that is not a chain is planned as a chain of itself alone. */
  root: PlannedChain
}

export interface PlanReading {
  plan: Plan
  diagnostics: readonly Diagnostic[]
}

export function isChain(step: PlannedStep): step is PlannedChain {
  return step.executor === 'chain'
}

export function allSteps(chain: PlannedChain): PlannedStep[] {
  return chain.steps.flatMap((step) => (isChain(step) ? [step, ...allSteps(step)] : [step]))
}

export function confinedSteps({ root }: Plan): PlannedStep[] {
  return [root, ...allSteps(root)].filter(
    (step) => step.sandboxed === true && step.excluded !== true,
  )
}

/**
 * Steps that run in parallel stand together: all of an `async` chain, else those that `&` joins; any
 * other step stands alone.
 */
export function unitsOf<Step extends StepOptions>(
  steps: readonly Step[],
  { async }: Pick<ChainPolicy, 'async'>,
): Step[][] {
  if (async) return steps.length === 0 ? [] : [[...steps]]
  const units: Step[][] = []
  for (const [index, step] of steps.entries()) {
    const isJoined = step.group !== undefined && step.group === steps[index - 1]?.group
    if (isJoined) units.at(-1)?.push(step)
    else units.push([step])
  }
  return units
}

/** The steps of a chain in one line: `build → lint & unit → deploy`. */
export function chainText({ steps, policy }: Pick<ChainDeclaration, 'steps' | 'policy'>): string {
  const units = unitsOf(steps, policy).map((unit) => unit.map(({ name }) => name).join(' & '))
  return units.join(' → ') || 'no steps'
}

/** The names of the steps that wait for an approval. */
export function gatesOf({ steps, gates }: Pick<ChainDeclaration, 'steps' | 'gates'>): string[] {
  const own = steps.flatMap(({ gate, id, name }) => (gate === true ? [id ?? name] : []))
  return [...new Set([...gates, ...own])]
}

/** The part of a step's name that its chain does not say. */
export function stepLabel({ step }: { step: string }): string {
  return step.slice(step.lastIndexOf('/') + 1)
}

/** The full name of a step, of the key of an attempt: `1.2:nested/1:unit` is `nested/unit`. */
export function stepOfKey(key: string): string {
  return key.replaceAll(/(^|\/)[\d.]+:/g, '$1')
}

export function shortDigest(digest: string): string {
  return digest.slice('sha256:'.length, 15)
}

/** What is special about the execution of a step, and the policy of a chain. */
export function executionWords(step: PlannedStep): string[] {
  return [
    ...(step.gate === true ? ['gate'] : []),
    ...optionWords(step),
    ...(step.verify === undefined ? [] : ['verified']),
    ...(step.sandboxed === true ? ['sandbox'] : []),
    ...(step.excluded === true ? ['left out'] : []),
    ...(isChain(step) ? policyWords(step.policy) : withoutWords(step.notHonoured ?? [])),
  ]
}

function optionWords({ retry, backoff, timeout, when, allowFailure, always, args }: StepOptions) {
  const values = { retry, backoff, timeout, when, args }
  return [
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    ),
    ...(allowFailure === true ? ['allow-failure'] : []),
    ...(always === true ? ['always'] : []),
  ]
}

/** Only what differs from the defaults, in the spelling of the metadata. */
export function policyWords(policy: ChainPolicy): string[] {
  const defaults: Record<string, unknown> = { ...defaultChainPolicy }
  return Object.entries(policy).flatMap(([field, value]) =>
    value === defaults[field] ? [] : [`${policyKey(field)}=${String(value)}`],
  )
}

function withoutWords(requests: readonly string[]): string[] {
  return requests.length === 0 ? [] : [`without ${requests.join(' and ')}`]
}
