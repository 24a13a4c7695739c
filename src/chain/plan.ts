import type { Diagnostic } from '#core/errors'
import { sha256 } from '#core/json'
import type { ChainDeclaration, ChainPolicy } from '#skill/model'
import { defaultChainPolicy, stepNames } from '#skill/declarations'
import { stepUnknown } from './errors.ts'
import { checkPolicy } from './policy.ts'
import { type ChainLookup, createDiskLookup, type SkillFacts } from './lookup.ts'
import {
  allSteps,
  isChain,
  type Plan,
  type PlannedChain,
  type PlannedStep,
  type PlannedTask,
  type PlanReading,
  wholeChain,
} from './plan-model.ts'

export interface PlanOptions {
  policy?: Partial<ChainPolicy>
  from?: string | undefined
  only?: string | undefined
  /** What executes a skill that has no script; default: nothing, which is an error. */
  instructions?: InstructionExecutor | undefined
  /** Whose scripts run in a sandbox besides those that ask; else an untrusted one is an error. */
  sandbox?: 'untrusted' | 'all' | undefined
}

/** A headless agent (`agent`), an agent that reports (`driven`), or a model. */
export type InstructionExecutor =
  | { kind: 'driven' }
  | { kind: 'model'; model: string; honours: readonly string[] }
  | { kind: 'agent'; client: string; honours: readonly string[] }

/**
 * Resolves a skill into everything that will run, and checks names, cycles, depth, scripts, trust
 * and policies before anything runs. The same files give the same plan, byte for byte.
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

/**
 * What is wrong with the chain of a skill on the disk besides the skill itself: steps that are
 * missing, cycles, contradictions. What the user has to trust first is left out.
 *
 * @param workspace absolute; paths in diagnostics are relative to it
 */
export function chainProblems(directory: string, workspace: string): readonly Diagnostic[] {
  const trust = { level: 'trusted', reason: '' } as const
  const lookup = createDiskLookup({ workspace, trustOf: () => trust })
  const { facts, diagnostics } = lookup.load(directory)
  if (!facts?.chain) return []
  const plan = planRun(facts, lookup, { instructions: { kind: 'driven' } })
  const known = new Set(diagnostics.map(({ code, line }) => `${code} ${line}`))
  return plan.diagnostics.filter(
    ({ code, line }) => code !== 'race-driven' && !known.has(`${code} ${line}`),
  )
}

function distinct(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...new Map(diagnostics.map((found) => [JSON.stringify(found), found])).values()]
}

function planDigest(root: PlannedChain): string {
  return sha256(JSON.stringify(root))
}

export function planJson({ skill, digest, root }: Plan, diagnostics: readonly Diagnostic[]) {
  return { skill, digest, policy: root.policy, steps: root.steps, diagnostics }
}

/** An agent does one thing after the other: it cannot race against itself. */
function refuseRaces(root: PlannedChain): Diagnostic[] {
  const races = wholeChain(root)
    .filter(isChain)
    .filter(({ policy, steps }) => policy.raceMode && steps.some(isDriven))
  return races.map(({ skill, path }) => {
    const message = `the race of ${skill} cannot be run by an agent step by step`
    return { code: 'race-driven', severity: 'error', message, path }
  })
}

function isDriven({ executor }: PlannedStep): boolean {
  return executor === 'driven'
}

function planRoot(
  skill: SkillFacts,
  planning: Planning,
  overrides: Partial<ChainPolicy>,
): PlannedChain {
  const { name, path, verify, chain } = skill
  if (chain) {
    // The chain that is run itself has no step that its check could verify.
    if (verify !== undefined) {
      planning.diagnostics.push({
        code: 'verify-without-step',
        severity: 'warning',
        message: `${verify} of ${name} runs only where another chain calls it`,
        path,
        line: chain.line,
        hint: 'Make it a skill that the chain ends with.',
      })
    }
    const policy = { ...chain.policy, ...overrides }
    return planChain({ ...skill, chain: { ...chain, policy } }, '', [], planning)
  }
  const step = planTask(skill, name, path, planning)
  const { trust, digest, tokens } = step
  const policy = { ...defaultChainPolicy, ...overrides }
  const head = { step: '', skill: name, path, trust, digest, tokens }
  return { ...head, executor: 'chain', policy, steps: [step] }
}

interface Planning {
  lookup: ChainLookup
  diagnostics: Diagnostic[]
  instructions: InstructionExecutor | undefined
  sandbox: PlanOptions['sandbox']
  steps: number
  args?: string | undefined
}

interface ChainFacts extends SkillFacts {
  chain: ChainDeclaration
}

function planChain(
  skill: ChainFacts,
  step: string,
  above: readonly ChainFacts[],
  planning: Planning,
): PlannedChain {
  const { name, path, chain } = skill
  const way = [...above, skill]
  planning.diagnostics.push(...(skill.warnings ?? []), ...checkPolicy(chain, path))
  if (chain.steps.length === 0) {
    planning.diagnostics.push({
      code: 'chain-empty',
      severity: 'warning',
      message: `the chain of ${name} has no steps`,
      path,
      line: chain.line,
    })
  }
  const prefix = step === '' ? '' : `${step}/`
  const names = stepNames(chain.steps)
  const steps = chain.steps.map((declared, index): PlannedStep => {
    const { name: called, line: _line, id: _id, gate, ...options } = declared
    const label = names[index] ?? called
    const gated = gate === true || [called, label].some((one) => chain.gates.includes(one))
    const inner = { ...planning, args: options.args ?? planning.args }
    const planned = planStep(skill, declared, `${prefix}${label}`, way, inner)
    planning.steps = inner.steps
    return { ...planned, ...options, gate: gated || undefined }
  })
  const { changed, level } = skill.trust
  // Its steps and gates decide how what is trusted runs.
  const leadsTrusted = level === 'untrusted' && steps.some(({ trust }) => trust === 'trusted')
  if (changed || leadsTrusted) planning.diagnostics.push(notTrusted(skill))
  return { ...common(skill, step, planning), executor: 'chain', policy: chain.policy, steps }
}

function planTask(
  skill: SkillFacts,
  step: string,
  calledFrom: string,
  planning: Planning,
): PlannedTask {
  const { instructions, diagnostics } = planning
  const planned = common(skill, step, planning)
  const isUntrusted = skill.trust.level === 'untrusted'
  diagnostics.push(...(skill.warnings ?? []))
  // Its scripts, its check or what starts it was changed; a sandbox does not help.
  if (skill.trust.changed) diagnostics.push(notTrusted(skill))
  if (skill.broken) return { ...planned, executor: 'none' }
  if (skill.script !== undefined) {
    if (isUntrusted && !planned.sandboxed) diagnostics.push(notTrusted(skill))
    return { ...planned, executor: 'script', script: skill.script }
  }
  if (!instructions) {
    const where = calledFrom === skill.path ? '' : ` (step ${step})`
    diagnostics.push({
      code: 'no-executor',
      severity: 'error',
      message: `nothing can execute the skill ${skill.name}${where}: it has instructions but no script`,
      path: skill.path,
      hint: 'Give it a script (scripts/run.sh), or add --via CLIENT or --model provider:name, or report each step: skillrail chain start.',
    })
    return { ...planned, executor: 'none' }
  }
  if (instructions.kind === 'driven') return { ...planned, executor: 'driven' }
  // It acts with the rights of the user, so untrusted text must not steer it.
  if (isUntrusted) diagnostics.push(notTrusted(skill))
  const { honours, kind: executor, ...by } = instructions
  const lost = skill.requests.filter((request) => !honours.includes(request))
  return { ...planned, executor, ...by, notHonoured: lost.length === 0 ? undefined : lost }
}

const maxSteps = 10_000

function planStep(
  chainSkill: ChainFacts,
  declared: { name: string; line: number },
  step: string,
  way: readonly ChainFacts[],
  planning: Planning,
): PlannedStep {
  const place = { path: chainSkill.path, line: declared.line }
  planning.steps++
  if (planning.steps === maxSteps + 1) {
    planning.diagnostics.push({
      code: 'chain-too-large',
      severity: 'error',
      message: `the chain has more than ${maxSteps} steps with those of nested chains`,
      ...place,
    })
  }
  if (planning.steps > maxSteps) return missing(declared.name, step)
  const resolution = planning.lookup.resolve(chainSkill.directory, declared.name)
  if (!resolution.ok) {
    const { code, message, hint } = resolution
    const later = code === 'step-missing' && !chainSkill.chain.policy.validateOnLoad
    const severity = later ? 'warning' : 'error'
    // Reading the chain may have refused the name already.
    const isTold = code === 'step-name-refused' && chainSkill.refusedNames === true
    if (!isTold) planning.diagnostics.push({ code, severity, message, hint, ...place })
    return missing(declared.name, step)
  }
  const { facts, diagnostics } = planning.lookup.load(resolution.directory)
  planning.diagnostics.push(...diagnostics.filter((diagnostic) => diagnostic.severity === 'error'))
  if (!facts) return missing(declared.name, step)
  const { chain } = facts
  if (!chain) return planTask(facts, step, chainSkill.path, planning)
  const called = { ...facts, chain }
  const obstacle = cycle([...way, called]) ?? tooDeep([...way, called])
  if (obstacle) {
    planning.diagnostics.push({ severity: 'error', ...obstacle, ...place })
    return missing(declared.name, step)
  }
  return planChain(called, step, way, planning)
}

function cycle(way: readonly ChainFacts[]) {
  const last = way.at(-1)
  const start = way.findIndex(({ directory }) => directory === last?.directory)
  if (start === way.length - 1) return undefined
  const names = way.slice(start).map(({ name }) => name)
  const message = `the chain calls itself: ${names.join(' → ')}`
  return { code: 'chain-cycle', message, hint: 'Remove one of these calls.' }
}

/** Depth counts from 1 at the chain that was asked for; the smallest limit on the way holds. */
function tooDeep(way: readonly ChainFacts[]) {
  const limit = Math.min(...way.map(({ chain }) => chain.policy.maxDepth))
  if (way.length <= limit) return undefined
  const message = `the chain ${way.at(-1)?.name} would be at depth ${way.length}; max_depth allows ${limit}`
  const hint = 'Raise max_depth in every chain on the way.'
  return { code: 'chain-too-deep', message, hint }
}

function common(
  skill: SkillFacts,
  step: string,
  planning: Planning,
): Omit<PlannedTask, 'executor' | 'script'> {
  const { name, path, trust, digest, tokens, verify, personOnly } = skill
  const facts = { step, skill: name, path, trust: trust.level, digest, tokens }
  return {
    ...facts,
    verify,
    sandboxed: isSandboxed(skill, planning) || undefined,
    personOnly,
    ...(planning.args === undefined ? {} : { args: planning.args }),
  }
}

function isSandboxed(skill: SkillFacts, { sandbox }: Planning): boolean {
  if (skill.script === undefined && skill.verify === undefined) return false
  if (skill.trust.level === 'untrusted') return sandbox !== undefined
  return sandbox === 'all' || skill.sandbox === true
}

function missing(name: string, step: string): PlannedTask {
  return {
    step,
    skill: name.slice(name.lastIndexOf('/') + 1),
    path: '',
    trust: 'untrusted',
    digest: '',
    tokens: 0,
    executor: 'missing',
  }
}

function notTrusted(skill: SkillFacts): Diagnostic {
  return {
    code: 'skill-not-trusted',
    severity: 'error',
    message: skill.trust.reason,
    path: skill.path,
    hint: skill.trust.hint,
  }
}

function excludeSteps(
  root: PlannedChain,
  selection: PlanOptions,
  diagnostics: Diagnostic[],
): readonly PlannedStep[] {
  const wanted = selection.only ?? selection.from
  if (wanted === undefined) return root.steps
  const steps = allSteps(root)
  const start = steps.findIndex((step) => step.step === wanted)
  if (start === -1) {
    const { code, message, hint } = stepUnknown(
      root.skill,
      wanted,
      steps.map(({ step }) => step),
    )
    diagnostics.push({ code, severity: 'error', message, path: root.path, hint })
    return root.steps
  }
  const isBelow = ({ step }: PlannedStep): boolean => `${step}/`.startsWith(`${wanted}/`)
  const chosen = selection.only === undefined ? steps.slice(start) : steps.filter(isBelow)
  return mark(root.steps, new Set(chosen.map(({ step }) => step)))
}

/** A chain is left out when everything below it is. */
function mark(steps: readonly PlannedStep[], chosen: ReadonlySet<string>): readonly PlannedStep[] {
  return steps.map((step) => {
    if (!isChain(step)) return chosen.has(step.step) ? step : { ...step, excluded: true as const }
    const below = mark(step.steps, chosen)
    const kept = chosen.has(step.step) || below.some((inner) => !inner.excluded)
    return kept ? { ...step, steps: below } : { ...step, steps: below, excluded: true as const }
  })
}
