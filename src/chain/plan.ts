import type { Diagnostic } from '#core/errors'
import { sha256 } from '#core/json'
import type { ChainDeclaration, ChainPolicy } from '#skill/model'
import { defaultChainPolicy, stepNames } from '#skill/declarations'
import { stepUnknown } from './errors.ts'
import { checkPolicy, stepInCondition } from './policy.ts'
import { possibleEnds, reachOf } from './reachability.ts'
import { type ChainLookup, createDiskLookup, type SkillFacts } from './lookup.ts'
import {
  allSteps,
  isChain,
  type Plan,
  type PlannedChain,
  type PlannedStep,
  type PlannedTask,
  type PlanReading,
  type ShownPlan,
  stepLabel,
  wholeChain,
} from './plan-model.ts'

export interface PlanOptions {
  policy?: Partial<ChainPolicy>
  from?: string | undefined
  only?: string | undefined
  /** Executes a skill without a script. By default nothing does, which is an error. */
  instructions?: InstructionExecutor | undefined
  /** The scripts in a sandbox, besides those that ask for one. By default, untrusted scripts are errors. */
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
  diagnostics.push(...unreachableSelection(plan.root, options))
  return { plan: { ...plan, digest: planDigest(plan.root) }, diagnostics: distinct(diagnostics) }
}

/**
 * Returns the problems of a chain on the disk, except those of its skill: missing steps, cycles,
 * contradictions. It ignores trust.
 *
 * @param workspace absolute; paths in diagnostics are relative to it
 */
export function chainProblems(directory: string, workspace: string): readonly Diagnostic[] {
  const trust = { level: 'trusted', reason: '' } as const
  const lookup = createDiskLookup({ workspace, trustOf: () => trust })
  const { facts, diagnostics } = lookup.load(directory)
  if (!facts?.chain) return []
  const plan = planRun(facts, lookup, { instructions: { kind: 'driven' } })
  const skillProblems = new Set(diagnostics.map(({ code, line }) => `${code} ${line}`))
  return plan.diagnostics.filter(
    ({ code, line }) => code !== 'race-driven' && !skillProblems.has(`${code} ${line}`),
  )
}

function distinct(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [
    ...new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic])).values(),
  ]
}

function planDigest(root: PlannedChain): string {
  return sha256(JSON.stringify(root))
}

/** A plan for output, with the diagnostics about its skills. */
export interface PlanReport extends ShownPlan {
  diagnostics: readonly Diagnostic[]
}

export function planJson(
  { skill, digest, root }: Plan,
  diagnostics: readonly Diagnostic[],
): PlanReport {
  const { policy, guardsAlways, requireVerified, steps } = root
  return { skill, digest, policy, guardsAlways, requireVerified, steps, diagnostics }
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
    // The root chain is not a step, so its `scripts/verify` has no result to verify.
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

/** Reports options for agents on a step that no agent executes. */
function misplacedOptions(step: PlannedStep, place: Pick<Diagnostic, 'path' | 'line'>) {
  const { executor, check, maxBlocks, tools, verify } = step
  const label = stepLabel(step)
  const report = (severity: Diagnostic['severity'], message: string, hint: string): Diagnostic => {
    return {
      code: 'step-option-unusable',
      severity,
      message: `\`${label}\`: ${message}`,
      hint,
      ...place,
    }
  }
  const diagnostics: Diagnostic[] = []
  const isAlone = executor === 'script' || executor === 'chain'
  const kindText = executor === 'script' ? 'a script' : 'a chain'
  if (isAlone && check !== undefined) {
    const hint = 'Make the check a step of its own, or write it in `scripts/verify` of the skill.'
    diagnostics.push(
      report('error', `\`check\` is for steps that an agent does; this is ${kindText}.`, hint),
    )
  }
  if (isAlone && maxBlocks !== undefined) {
    const hint = 'Remove it; `retry=N` repeats a step.'
    diagnostics.push(
      report('error', `\`max-blocks\` is for steps that an agent does; this is ${kindText}.`, hint),
    )
  }
  if (!isAlone && maxBlocks !== undefined && check === undefined && verify === undefined) {
    const hint = 'Add `check="COMMAND"`, or remove `max-blocks`.'
    diagnostics.push(report('warning', '`max-blocks` has no effect without a check.', hint))
  }
  if (executor === 'script' && tools !== undefined) {
    const hint = 'Remove it; `sandbox: true` in the skill restricts a script.'
    diagnostics.push(report('warning', '`tools` has no effect on a script.', hint))
  }
  return diagnostics
}

/** Reports the direct steps of a chain that run for no outcome of the others, and `retry` without effect. */
function impossibleSteps(chain: PlannedChain, lines: readonly number[]): Diagnostic[] {
  const { started } = reachOf(chain)
  return chain.steps.flatMap((step, index): Diagnostic[] => {
    const place = { path: chain.path, line: lines[index] }
    if (!started.has(step)) return [{ ...unreachable(chain, step), ...place }]
    const late = lateRetry(step, chain.policy)
    if (late) return [{ ...late, ...place }]
    if (step.retry === undefined || canFail(step, chain.policy)) return []
    const message = `\`${stepLabel(step)}\` cannot fail, so \`retry\` has no effect`
    const hint = 'Remove `retry`, or the `allow-failure` of the steps below it.'
    return [{ code: 'retry-without-effect', severity: 'warning', message, hint, ...place }]
  })
}

/** Warns of a nested chain whose time limit ends it before one of its steps is repeated. */
function lateRetry(step: PlannedStep, policy: ChainPolicy) {
  const limit = step.timeout ?? policy.timeout
  if (!isChain(step) || limit === 0) return undefined
  const waiting = step.steps.find(({ retry = 1, backoff = 0 }) => retry > 1 && backoff >= limit)
  if (!waiting) return undefined
  const name = stepLabel(waiting)
  return {
    code: 'retry-after-timeout',
    severity: 'warning' as const,
    message: `\`${stepLabel(step)}\` is ended after ${limit} s, and \`${name}\` in it waits ${waiting.backoff} s before its second attempt`,
    hint: 'Raise the `timeout`, or lower the `backoff`.',
  }
}

function canFail(step: PlannedStep, policy: ChainPolicy): boolean {
  return possibleEnds(step, policy).some(({ status }) => status !== 'success')
}

function unreachable(chain: PlannedChain, step: PlannedStep): Omit<Diagnostic, 'path' | 'line'> {
  const label = stepLabel(step)
  const { when } = step
  const report = (message: string, hint: string): Omit<Diagnostic, 'path' | 'line'> => {
    return { code: 'step-unreachable', severity: 'error', message, hint }
  }
  const running = { ...step, always: true } as const
  const steps = chain.steps.map((one) => (one === step ? running : one))
  if (reachOf({ ...chain, steps }).started.has(running)) {
    const words = [label, 'always', ...(when === undefined ? [] : [`when=${when}`])].join(' ')
    const reason =
      when === undefined
        ? 'the chain has always ended before it'
        : `where \`when=${when}\` is true, the chain has ended before it`
    return report(
      `\`${label}\` can never run: ${reason}`,
      `To run it all the same, write \`${words}\`.`,
    )
  }
  if (when === undefined) {
    const hint = 'Remove it, or change the policy of the chain.'
    return report(`\`${label}\` can never run: the chain has always ended before it`, hint)
  }
  if (chain.policy.async) {
    const message = `\`${label}\` can never run: with \`async\` all steps start at once, so \`when=${when}\` is never true`
    return report(message, 'Join parallel steps with `&` in place of `async`, or remove `when`.')
  }
  const message = `\`${label}\` can never run: \`when=${when}\` is never true`
  return report(message, `Correct the condition, or the options of \`${stepInCondition(when)}\`.`)
}

/** Reports a step of `--from` or `--only` that cannot run without the steps that are left out. */
function unreachableSelection(
  root: PlannedChain,
  { from, only }: Pick<PlanOptions, 'from' | 'only'>,
): Diagnostic[] {
  const selectedName = only ?? from
  const obstacle = selectedName === undefined ? undefined : obstacleTo(root, selectedName)
  if (selectedName === undefined || !obstacle) return []
  const { when } = obstacle
  const about = when === undefined ? 'the chain ends before it' : `\`when=${when}\` is never true`
  const option = only === undefined ? '--from' : '--only'
  return [
    {
      code: 'step-unreachable',
      severity: 'error',
      message: `${option} ${selectedName}: without the steps that are left out, it can never run: ${about}`,
      path: root.path,
      hint: 'Begin with an earlier step.',
    },
  ]
}

/** Returns the step on the way to `wanted` that cannot start. */
function obstacleTo(chain: PlannedChain, name: string): PlannedStep | undefined {
  const step = chain.steps.find((one) => `${name}/`.startsWith(`${one.step}/`))
  if (!step || step.excluded) return undefined
  if (!reachOf(chain).started.has(step)) return step
  return isChain(step) && step.step !== name ? obstacleTo(step, name) : undefined
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
  outerChains: readonly ChainFacts[],
  planning: Planning,
): PlannedChain {
  const { name, path, chain } = skill
  const way = [...outerChains, skill]
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
  const steps = chain.steps.map((declaration, index): PlannedStep => {
    const { name: skillName, line: _line, id: _id, gate, ...options } = declaration
    const label = names[index] ?? skillName
    const isListed = [skillName, label].some((one) => chain.gates.includes(one))
    const inner = { ...planning, args: options.args ?? planning.args }
    const plannedStep = planStep(skill, declaration, `${prefix}${label}`, way, inner)
    planning.steps = inner.steps
    const gatedStep = { ...plannedStep, ...options, gate: gate ?? (isListed || undefined) }
    planning.diagnostics.push(...misplacedOptions(gatedStep, { path, line: declaration.line }))
    return gatedStep
  })
  const { changed, level } = skill.trust
  // The steps and gates of a chain decide how trusted skills run.
  const leadsTrusted = level === 'untrusted' && steps.some(({ trust }) => trust === 'trusted')
  // The commands of checks are in the text of the chain, and no sandbox confines them.
  const hasChecks = level === 'untrusted' && steps.some(({ check }) => check !== undefined)
  if (changed || leadsTrusted || hasChecks) planning.diagnostics.push(notTrusted(skill))
  const head = common(skill, step, planning)
  const { policy, guardsAlways, requireVerified } = chain
  if (guardsAlways && guardsIn(steps).length === 0) {
    planning.diagnostics.push({
      code: 'guards-without-guard',
      severity: 'warning',
      message: `\`guards: always\` of ${name} has no effect: none of its steps has a \`guard\``,
      path,
      line: chain.line,
      hint: 'Add `guard="Bash(git push:*)"` to the step that may make such a call, or remove `guards`.',
    })
  }
  const declaredFacts = { policy, guardsAlways, requireVerified }
  const plannedChain: PlannedChain = { ...head, executor: 'chain', ...declaredFacts, steps }
  const lines = chain.steps.map(({ line }) => line)
  planning.diagnostics.push(...impossibleSteps(plannedChain, lines))
  return plannedChain
}

function guardsIn(steps: readonly PlannedStep[]): string[] {
  return steps.flatMap((step) => [
    ...(step.guard === undefined ? [] : [step.guard]),
    ...(isChain(step) ? guardsIn(step.steps) : []),
  ])
}

function planTask(
  skill: SkillFacts,
  step: string,
  calledFrom: string,
  planning: Planning,
): PlannedTask {
  const { instructions, diagnostics } = planning
  const plannedTask = common(skill, step, planning)
  const isUntrusted = skill.trust.level === 'untrusted'
  diagnostics.push(...(skill.warnings ?? []))
  // The skill was changed after it was accepted, so a sandbox is not enough.
  if (skill.trust.changed) diagnostics.push(notTrusted(skill))
  if (skill.broken) return { ...plannedTask, executor: 'none' }
  if (skill.script !== undefined) {
    if (isUntrusted && !plannedTask.sandboxed) diagnostics.push(notTrusted(skill))
    return { ...plannedTask, executor: 'script', script: skill.script }
  }
  if (!instructions) {
    const subject =
      calledFrom === skill.path ? `the skill ${skill.name}: it` : `the step ${step}: its skill`
    diagnostics.push({
      code: 'no-executor',
      severity: 'error',
      message: `nothing executes ${subject} has no script`,
      path: skill.path,
      hint: 'Add scripts/run.sh, --via CLIENT or --model provider:name, or report the steps: skillrail chain start.',
    })
    return { ...plannedTask, executor: 'none' }
  }
  if (instructions.kind === 'driven') return { ...plannedTask, executor: 'driven' }
  // An agent acts with the rights of the user, so untrusted text must not steer it.
  if (isUntrusted) diagnostics.push(notTrusted(skill))
  const { honours, kind: executor, ...by } = instructions
  const missingRequests = skill.requests.filter((request) => !honours.includes(request))
  return {
    ...plannedTask,
    executor,
    ...by,
    notHonoured: missingRequests.length === 0 ? undefined : missingRequests,
  }
}

const maxSteps = 10_000

function planStep(
  chainSkill: ChainFacts,
  declaration: { name: string; line: number },
  step: string,
  way: readonly ChainFacts[],
  planning: Planning,
): PlannedStep {
  const place = { path: chainSkill.path, line: declaration.line }
  planning.steps++
  if (planning.steps === maxSteps + 1) {
    planning.diagnostics.push({
      code: 'chain-too-large',
      severity: 'error',
      message: `the chain has more than ${maxSteps} steps with those of nested chains`,
      ...place,
    })
  }
  if (planning.steps > maxSteps) return missing(declaration.name, step)
  const resolution = planning.lookup.resolve(chainSkill.directory, declaration.name)
  if (!resolution.ok) {
    const { code, message, hint } = resolution
    const isLater = code === 'step-missing' && !chainSkill.chain.policy.validateOnLoad
    const severity = isLater ? 'warning' : 'error'
    // Reading the chain may have refused the name already.
    const isReported = code === 'step-name-refused' && chainSkill.refusedNames === true
    if (!isReported) planning.diagnostics.push({ code, severity, message, hint, ...place })
    return missing(declaration.name, step)
  }
  const { facts, diagnostics } = planning.lookup.load(resolution.directory)
  planning.diagnostics.push(...diagnostics.filter((diagnostic) => diagnostic.severity === 'error'))
  if (!facts) return missing(declaration.name, step)
  const { chain } = facts
  if (!chain) return planTask(facts, step, chainSkill.path, planning)
  const chainFacts = { ...facts, chain }
  const obstacle = cycle([...way, chainFacts]) ?? tooDeep([...way, chainFacts])
  if (obstacle) {
    planning.diagnostics.push({ severity: 'error', ...obstacle, ...place })
    return missing(declaration.name, step)
  }
  return planChain(chainFacts, step, way, planning)
}

function cycle(way: readonly ChainFacts[]) {
  const last = way.at(-1)
  const start = way.findIndex(({ directory }) => directory === last?.directory)
  if (start === way.length - 1) return undefined
  const names = way.slice(start).map(({ name }) => name)
  const message = `the chain calls itself: ${names.join(' → ')}`
  return { code: 'chain-cycle', message, hint: 'Remove one of these calls.' }
}

/** Depth counts from 1 at the root chain. The smallest limit on the way applies. */
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
  const selectedName = selection.only ?? selection.from
  if (selectedName === undefined) return root.steps
  const steps = allSteps(root)
  const start = steps.findIndex((step) => step.step === selectedName)
  if (start === -1) {
    const { code, message, hint } = stepUnknown(
      root.skill,
      selectedName,
      steps.map(({ step }) => step),
    )
    diagnostics.push({ code, severity: 'error', message, path: root.path, hint })
    return root.steps
  }
  const isBelow = ({ step }: PlannedStep): boolean => `${step}/`.startsWith(`${selectedName}/`)
  const selectedSteps = selection.only === undefined ? steps.slice(start) : steps.filter(isBelow)
  return mark(root.steps, new Set(selectedSteps.map(({ step }) => step)))
}

/** Excludes a chain if all of its steps are excluded. */
function mark(
  steps: readonly PlannedStep[],
  selectedNames: ReadonlySet<string>,
): readonly PlannedStep[] {
  return steps.map((step) => {
    if (!isChain(step))
      return selectedNames.has(step.step) ? step : { ...step, excluded: true as const }
    const innerSteps = mark(step.steps, selectedNames)
    const isSelected = selectedNames.has(step.step) || innerSteps.some((inner) => !inner.excluded)
    return isSelected
      ? { ...step, steps: innerSteps }
      : { ...step, steps: innerSteps, excluded: true as const }
  })
}
