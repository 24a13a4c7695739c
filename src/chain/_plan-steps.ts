import type { Diagnostic } from '../base/index.ts'
import type { ChainDeclaration } from '../skill/index.ts'
import type { ChainLookup, SkillFacts } from './lookup.ts'
import { checkPolicy } from './check-policy.ts'
import type { InstructionExecutor, PlanOptions } from './plan.ts'
import type { PlannedChain, PlannedStep, PlannedTask } from './plan-model.ts'

/** One planning: its lookup, what it found wrong, and how large it has become. */
export interface Planning {
  lookup: ChainLookup
  diagnostics: Diagnostic[]
  instructions: InstructionExecutor | undefined
  sandbox: PlanOptions['sandbox']
  steps: number
}

/** A chain on the way from the outermost one, for cycles and depth. */
interface Ancestor {
  name: string
  directory: string
  maxDepth: number
}

export function planChain(
  skill: SkillFacts,
  chain: ChainDeclaration,
  step: string,
  ancestors: readonly Ancestor[],
  planning: Planning,
): PlannedChain {
  const way = [
    ...ancestors,
    { name: skill.name, directory: skill.directory, maxDepth: chain.policy.maxDepth },
  ]
  const { path, line } = { path: skill.path, line: chain.line }
  planning.diagnostics.push(...(skill.warnings ?? []), ...checkPolicy(chain, path))
  if (chain.steps.length === 0) {
    planning.diagnostics.push({
      code: 'chain-empty',
      severity: 'warning',
      message: `the chain of ${skill.name} has no steps; it succeeds without doing anything`,
      path,
      line,
    })
  }
  const labels = new Map<string, number>()
  const prefix = step === '' ? '' : `${step}/`
  const steps = chain.steps.map((declared) => {
    const id = `${prefix}${uniqueLabel(labels, declared.name)}`
    const planned = planStep(skill, chain, declared, id, way, planning)
    const gated = [declared.name, id.slice(prefix.length)].some((name) =>
      chain.gates.includes(name),
    )
    return gated ? { ...planned, gate: true as const } : planned
  })
  return { ...common(skill, step, planning), executor: 'chain', policy: chain.policy, steps }
}

export function planTask(
  skill: SkillFacts,
  step: string,
  calledFrom: string,
  planning: Planning,
): PlannedTask {
  planning.diagnostics.push(...(skill.warnings ?? []))
  if (skill.broken === true) return { ...common(skill, step, planning), executor: 'none' }
  if (skill.script !== undefined) {
    const planned = common(skill, step, planning)
    const refused = skill.trust.level === 'untrusted' && planned.sandboxed !== true
    if (refused) planning.diagnostics.push(notTrusted(skill))
    return { ...planned, executor: 'script', script: skill.script }
  }
  const { instructions } = planning
  if (instructions?.kind === 'agent' || instructions?.kind === 'model') {
    // It acts with the rights of whoever runs it, so nobody else's text may steer it.
    if (skill.trust.level === 'untrusted') planning.diagnostics.push(notTrusted(skill))
    const { honours, ...executor } = instructions
    const lost = skill.requests.filter((request) => !honours.includes(request))
    const notHonoured = lost.length === 0 ? {} : { notHonoured: lost }
    return { ...common(skill, step, planning), ...asked(executor), ...notHonoured }
  }
  if (instructions !== undefined) {
    return { ...common(skill, step, planning), executor: instructions.kind }
  }
  planning.diagnostics.push({
    code: 'no-executor',
    severity: 'error',
    message: `nothing can execute the skill ${skill.name}${calledFrom === skill.path ? '' : ` (step ${step})`}: it has instructions but no script`,
    path: skill.path,
    hint: 'Give it a script (scripts/run.sh, or the field run), let an agent do it (--via claude, codex, gemini, opencode, copilot or qwen) or a model (--model provider:name), or drive one step by step: skillrail chain start.',
  })
  return { ...common(skill, step, planning), executor: 'none' }
}

/** Who is asked, in the words of a plan. */
function asked(
  executor: { kind: 'agent'; client: string } | { kind: 'model'; model: string },
): Pick<PlannedTask, 'executor' | 'client' | 'model'> {
  return executor.kind === 'agent'
    ? { executor: 'agent', client: executor.client }
    : { executor: 'model', model: executor.model }
}

/** Chains that call chains grow fast; beyond this a plan is a mistake. */
const maxSteps = 10_000

function planStep(
  chainSkill: SkillFacts,
  chain: ChainDeclaration,
  declared: { name: string; line: number },
  step: string,
  way: readonly Ancestor[],
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
    // Reading the chain has refused the name already.
    const isTold = code === 'step-name-refused' && chainSkill.refusedNames === true
    if (isTold) return missing(declared.name, step)
    const later = code === 'step-missing' && !chain.policy.validateOnLoad
    const severity = later ? 'warning' : 'error'
    planning.diagnostics.push({ code, severity, message, hint, ...place })
    return missing(declared.name, step)
  }
  const { facts, diagnostics } = planning.lookup.load(resolution.directory)
  planning.diagnostics.push(...diagnostics.filter((diagnostic) => diagnostic.severity === 'error'))
  if (facts === undefined) return missing(declared.name, step)
  if (facts.chain === undefined) return planTask(facts, step, chainSkill.path, planning)
  const obstacle = cycle(facts, way) ?? tooDeep(facts, facts.chain, way)
  if (obstacle !== undefined) {
    planning.diagnostics.push({ severity: 'error', ...obstacle, ...place })
    return missing(declared.name, step)
  }
  return planChain(facts, facts.chain, step, way, planning)
}

function uniqueLabel(labels: Map<string, number>, name: string): string {
  const label = name.slice(name.lastIndexOf('/') + 1)
  let count = (labels.get(label) ?? 0) + 1
  // A directory can have such a name itself.
  while (count > 1 && labels.has(`${label}#${count}`)) count++
  labels.set(label, count)
  if (count === 1) return label
  labels.set(`${label}#${count}`, 1)
  return `${label}#${count}`
}

function cycle(
  skill: SkillFacts,
  way: readonly Ancestor[],
): { code: string; message: string; hint: string } | undefined {
  const start = way.findIndex((ancestor) => ancestor.directory === skill.directory)
  if (start === -1) return undefined
  const path = [...way.slice(start).map((ancestor) => ancestor.name), skill.name].join(' → ')
  return {
    code: 'chain-cycle',
    message: `the chain calls itself: ${path}`,
    hint: 'A chain may call other chains, but never one that leads back to it.',
  }
}

/** Depth counts from 1 at the chain that was asked for; the smallest limit on the way holds. */
function tooDeep(
  skill: SkillFacts,
  chain: ChainDeclaration,
  way: readonly Ancestor[],
): { code: string; message: string; hint: string } | undefined {
  const limits = [...way.map((ancestor) => ancestor.maxDepth), chain.policy.maxDepth]
  const limit = Math.min(...limits)
  if (way.length + 1 <= limit) return undefined
  return {
    code: 'chain-too-deep',
    message: `the chain ${skill.name} would be at depth ${way.length + 1}; max_depth allows ${limit}`,
    hint: 'Flatten the chain, or raise max_depth in every chain on the way.',
  }
}

function common(
  skill: SkillFacts,
  step: string,
  planning: Planning,
): Omit<PlannedTask, 'executor' | 'script'> {
  const { name, path, trust, digest, tokens, verify, personOnly } = skill
  const verification = verify === undefined ? {} : { verify }
  const sandbox = isSandboxed(skill, planning) ? { sandboxed: true as const } : {}
  return {
    step,
    skill: name,
    path,
    trust: trust.level,
    digest,
    tokens,
    ...verification,
    ...sandbox,
    ...(personOnly === true ? { personOnly } : {}),
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
