import type { Screen } from '#core/command'
import type { Diagnostic } from '#core/errors'
import { linesText, safeLine } from '#core/text'
import { guardedCalls } from '#skill/guard-words'
import { defaultChainPolicy, policyKey } from '#skill/declarations'
import type { ChainDeclaration, ChainPolicy, Gate, StepOptions } from '#skill/model'
import type { TrustLevel } from '#trust/model'

/**
 * How a step is executed. `driven`: handed out to an agent, which reports. `missing`: there is no such
 * skill, so the step fails when its turn comes. `none`: nothing can execute it; the plan has an error.
 */
export type TaskExecutor = 'script' | 'driven' | 'agent' | 'model' | 'missing' | 'none'

/** One step of a chain, resolved. Everything here is JSON and goes into the journal. */
export type PlannedStep = PlannedTask | PlannedChain

interface PlannedSkill extends StepOptions {
  /** Unique in the plan: `unit`, `unit#2` for a second one, `chain-test/unit` below a nested chain. */
  step: string
  skill: string
  /** The `SKILL.md`, relative to the workspace if it is inside, else absolute. */
  path: string
  trust: TrustLevel
  digest: string
  tokens: number
  verify?: string | undefined
  /** Its scripts run only in a sandbox. */
  sandboxed?: true | undefined
  gate?: Gate | undefined
  /** Left out of this run by `--from` or `--only`. */
  excluded?: true
  personOnly?: true | undefined
}

export interface PlannedTask extends PlannedSkill {
  executor: TaskExecutor
  script?: string
  client?: string
  model?: string | undefined
  /** Fields of the skill that the client or the model's executor does not support. */
  notHonoured?: readonly string[] | undefined
}

export interface PlannedChain extends PlannedSkill {
  executor: 'chain'
  policy: ChainPolicy
  /** Its guards apply in the project even without a rail. */
  guardsAlways?: true | undefined
  requireVerified?: true | undefined
  steps: readonly PlannedStep[]
}

type PlanFacts = Pick<PlannedChain, 'policy' | 'guardsAlways' | 'requireVerified'>

export interface ShownPlan extends PlanFacts, Pick<PlannedChain, 'steps'> {
  skill: string
  digest: string
}

export interface Plan {
  skill: string
  digest: string
  /** A skill that is not a chain is planned as a chain with one step. */
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

export function wholeChain(root: PlannedChain): PlannedStep[] {
  return [root, ...allSteps(root)]
}

/** Whether a chain of the plan has `require_verified`, which counts for the whole run. */
export function requiresVerified({ root }: Plan): boolean {
  return wholeChain(root).some((step) => isChain(step) && step.requireVerified === true)
}

export function confinedSteps({ root }: Plan): PlannedStep[] {
  return wholeChain(root).filter((step) => step.sandboxed && !step.excluded)
}

/** Groups the steps that run in parallel: all steps of an `async` chain, else the steps that `&` joins. */
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

export function gatesOf({ steps, gates }: Pick<ChainDeclaration, 'steps' | 'gates'>): string[] {
  const stepGates = steps.flatMap(({ gate, id, name }) => (gate ? [id ?? name] : []))
  return [...new Set([...gates, ...stepGates])]
}

/** The gates with what they ask for, in words for a user: `publish (signed)`. */
export function gateTexts(chain: Pick<ChainDeclaration, 'steps' | 'gates'>): string[] {
  return gatesOf(chain).map((name) => {
    const { gate } = chain.steps.find((step) => (step.id ?? step.name) === name && step.gate) ?? {}
    return typeof gate === 'string' ? `${name} (${gate})` : name
  })
}

export function stepLabel({ step }: { step: string }): string {
  return step.slice(step.lastIndexOf('/') + 1)
}

/** How many rejections of a step lead back in one attempt of its chain. The next one ends the run. */
export const maxReworks = 3

/**
 * The key of one execution of a step: the attempt of its chain, then `.N` for its own attempt N, then
 * `.R` for the round R after R - 1 rejections that sent the chain back. `1:unit`, `1.2:unit`, `1.1.2:unit`.
 */
export function keyOfExecution(
  prefix: string,
  step: { step: string },
  { attempt, number, round }: { attempt: number; number: number; round: number },
): string {
  const numberPart = number === 1 && round === 1 ? '' : `.${number}`
  return `${prefix}${attempt}${numberPart}${round === 1 ? '' : `.${round}`}:${stepLabel(step)}`
}

/** Returns the full name of the step in a key: `1.2:nested/1:unit` is `nested/unit`. */
export function stepOfKey(key: string): string {
  return key.replaceAll(/(^|\/)[\d.]+:/g, '$1')
}

export function shortDigest(digest: string): string {
  return digest.slice('sha256:'.length, 15)
}

/** Removes the words that do not apply. */
export function wordsOf(...words: readonly (string | false | undefined)[]): string[] {
  return words.filter((word) => typeof word === 'string').filter((word) => word !== '')
}

/** Describes the options of a step, and the policy of a chain. */
export function executionWords(step: PlannedStep): string[] {
  const { gate, verify, sandboxed, excluded } = step
  return [
    ...wordsOf(gate && (gate === true ? 'gate' : `gate=${gate}`)),
    ...optionWords(step),
    ...wordsOf(verify !== undefined && 'verified', sandboxed && 'sandbox', excluded && 'left out'),
    ...(isChain(step) ? chainWords(step) : withoutWords(step.notHonoured)),
  ]
}

function optionWords({ allowFailure, always, ...options }: StepOptions) {
  const { retry, backoff, timeout, when, args, check, maxBlocks, tools, guard, rework } = options
  const rail = { check, 'max-blocks': maxBlocks, tools, guard, rework }
  const values = Object.entries({ retry, backoff, timeout, when, args, ...rail })
  return wordsOf(
    ...values.map(([name, value]) => value !== undefined && `${name}=${value}`),
    allowFailure && 'allow-failure',
    always && 'always',
  )
}

/** Describes the values that differ from the defaults, in the spelling of the metadata. */
function chainWords({ policy, guardsAlways, requireVerified }: PlanFacts): string[] {
  const special = wordsOf(
    guardsAlways && 'guards=always',
    requireVerified && 'require_verified=true',
  )
  return [...policyWords(policy), ...special]
}

function policyWords(policy: ChainPolicy): string[] {
  const defaults: Record<string, unknown> = { ...defaultChainPolicy }
  const fields = Object.entries(policy)
  return wordsOf(
    ...fields.map(
      ([field, value]) => value !== defaults[field] && `${policyKey(field)}=${String(value)}`,
    ),
  )
}

function withoutWords(requests: readonly string[] = []): string[] {
  return wordsOf(requests.length > 0 && `without ${requests.join(' and ')}`)
}

export function renderPlan(plan: ShownPlan, { table }: Pick<Screen, 'table'>): string {
  const head = [safeLine(plan.skill), plan.digest.slice(0, 19), ...chainWords(plan)]
  const rows = flattenSteps(plan.steps, 0).map(({ step, depth, isJoined }) => [
    `${'  '.repeat(depth)}${isJoined ? '& ' : ''}${safeLine(stepLabel(step))}`,
    isChain(step) ? step.executor : (step.client ?? step.model ?? step.executor),
    step.trust,
    shortDigest(step.digest),
    `${step.tokens} tokens`,
    executionWords(step).join(', '),
  ])
  const rules = [
    ...guardLines(plan.steps),
    ...reworkLines(plan.steps),
    ...alwaysLines(plan, plan.skill),
  ]
  return `${head.join('  ')}\n${table(rows)}${linesText(rules)}`
}

/** Where a rejection leads: `publish: a rejection leads back to implement, at most 3 times`. */
function reworkLines(steps: readonly PlannedStep[]): string[] {
  return flattenSteps(steps, 0).flatMap(({ step }) => {
    const { rework } = step
    if (rework === undefined) return []
    const times = `at most ${maxReworks} times; the next one ends the run`
    return [`${safeLine(stepLabel(step))}: a rejection leads back to ${safeLine(rework)}, ${times}`]
  })
}

/** The calls that an agent client denies until a step's turn comes: `publish: after approval; until then …`. */
function guardLines(steps: readonly PlannedStep[]): string[] {
  return flattenSteps(steps, 0).flatMap(({ step }) => {
    if (step.guard === undefined) return []
    const opening = step.gate ? 'after approval' : 'when its turn comes'
    return [`${safeLine(stepLabel(step))}: ${opening}; until then ${deniedCalls([step.guard])}`]
  })
}

/** The calls that chains with `guards: always` deny while none of them runs. */
function alwaysLines(
  { guardsAlways, steps }: Pick<ShownPlan, 'guardsAlways' | 'steps'>,
  name: string,
): string[] {
  const guards = flattenSteps(steps, 0).flatMap(({ step }) => step.guard ?? [])
  const nestedLines = steps.filter(isChain).flatMap((chain) => alwaysLines(chain, chain.skill))
  if (guardsAlways !== true || guards.length === 0) return nestedLines
  return [
    `${safeLine(name)}: guards always: without this chain ${deniedCalls(guards)}`,
    ...nestedLines,
  ]
}

/** `git push is denied`, for the values of `guard`. */
export function deniedCalls(guards: readonly string[]): string {
  const calls = [...new Set(guards.flatMap(guardedCalls))]
  return `${calls.join(' and ')} ${calls.length === 1 ? 'is' : 'are'} denied`
}

function flattenSteps(
  steps: readonly PlannedStep[],
  depth: number,
): { step: PlannedStep; depth: number; isJoined: boolean }[] {
  return steps.flatMap((step, index) => [
    {
      step,
      depth,
      isJoined: step.group !== undefined && step.group === steps[index - 1]?.group,
    },
    ...(isChain(step) ? flattenSteps(step.steps, depth + 1) : []),
  ])
}

/** The plan as a Mermaid flowchart: a chain is a box around its steps. */
export function renderPlanMermaid(plan: ShownPlan): string {
  const ids = new Map<PlannedStep, string>()
  const idOf = (step: PlannedStep): string => {
    const id = ids.get(step) ?? `s${ids.size + 1}`
    ids.set(step, id)
    return id
  }

  function draw(step: PlannedStep, indent: string): string[] {
    if (!isChain(step)) return [`${indent}${idOf(step)}${labelOf(taskLines(step))}`]
    const title = [stepLabel(step), ...kindWords(step), ...executionWords(step)].join(', ')
    return box(idOf(step), title, step, indent)
  }

  function box(
    id: string,
    title: string,
    { steps, policy }: { steps: readonly PlannedStep[]; policy: ChainPolicy },
    indent: string,
  ): string[] {
    return [
      `${indent}subgraph ${id}${labelOf([title])}`,
      ...steps.flatMap((step) => draw(step, `${indent}  `)),
      ...edges(policy, steps, `${indent}  `),
      `${indent}end`,
    ]
  }

  function edges(policy: ChainPolicy, steps: readonly PlannedStep[], indent: string): string[] {
    const units = unitsOf(steps, policy).map((unit) => unit.map(idOf).join(' & '))
    return units.slice(1).map((unit, index) => `${indent}${units[index]} --> ${unit}`)
  }

  const title = [plan.skill, `plan ${shortDigest(plan.digest)}`, ...chainWords(plan)]
  const lines = box('s0', title.join(', '), plan, '  ')
  const leftOut = [...ids].flatMap(([step, id]) => (step.excluded ? [id] : []))
  return `${['flowchart LR', ...lines, ...classes(leftOut)].join('\n')}\n`
}

function taskLines(step: PlannedTask): string[] {
  const more = executionWords(step).join(', ')
  return [stepLabel(step), ...wordsOf(executorWords(step), kindWords(step).join(', '), more)]
}

function kindWords(step: PlannedStep): string[] {
  const { trust, digest, tokens } = step
  return wordsOf(isChain(step) && 'chain', trust, shortDigest(digest), `${tokens} tokens`)
}

export function executorWords({ executor, script, client, model }: PlannedTask): string {
  switch (executor) {
    case 'script':
      return `script ${script ?? ''}`
    case 'agent':
      return `client ${client ?? ''}`
    case 'model':
      return `model ${model ?? ''}`
    case 'driven':
      return 'instructions, done by an agent that reports'
    case 'missing':
      return 'no such skill'
    case 'none':
      return 'instructions, and nothing executes them'
  }
}

function classes(leftOut: readonly string[]): string[] {
  if (leftOut.length === 0) return []
  return [
    '  classDef leftOut stroke-dasharray:4 4,opacity:0.5',
    `  class ${leftOut.join(',')} leftOut`,
  ]
}

function labelOf(lines: readonly string[]): string {
  return `["${lines.map(mermaidText).join('<br/>')}"]`
}

/**
 * Returns text for a quoted label. Letters, digits and separators stay; everything else becomes an
 * entity in Mermaid's own form (`#60;`), so that no name ends the label or is a tag, Markdown, an icon
 * (`fa:…`) or a directive. The colon becomes an entity because Mermaid looks for `style…:…#…;` in every
 * line before it parses.
 */
function mermaidText(text: string): string {
  return safeLine(text).replace(special, (character) => `#${character.codePointAt(0)};`)
}

// Markdown reads a hyphen or a dot before a space as a list, and an underscore at a word edge as emphasis.
const special = /[^\p{L}\p{N}\p{M} _.,/=-]|[.-](?= )|^[=-]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu

export function sandboxHint(sandbox: string, remedy: Remedy): string {
  return withRemedy(`It ran in a sandbox (${sandbox})`, remedy)
}

export function sandboxForeseen(allowing: string | undefined): string {
  return withRemedy('What is marked sandbox runs in one', { allowing, grants: true })
}

export function sandboxedText(text: string, sandbox: string | undefined): string {
  return sandbox === undefined ? text : `in the sandbox: ${text}`
}

interface Remedy {
  allowing: string | undefined
  grants: boolean
}

function withRemedy(statement: string, { allowing, grants }: Remedy): string {
  const but = grants ? ', except for what --grant allows' : ''
  const sentence = `${statement}, which keeps the project, the network and your environment from it${but}.`
  return allowing === undefined ? sentence : `${sentence} ${allowing}`
}
