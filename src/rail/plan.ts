import { dirname, relative, resolve } from 'node:path'
import { type Diagnostic, wrongUse } from '#core/errors'
import { realPathOf } from '#core/read-files'
import {
  allSteps,
  deniedCalls,
  isChain,
  type PlannedStep,
  type ShownPlan,
  stepLabel,
} from '#chain/plan-model'
import { adapters, isPlatform, type Platform, platforms } from '#hooks/adapters'
import { chainCalls, railFacts, type RailLimit, railLimits } from '#hooks/rail-facts'
import {
  isThere,
  type PlatformStatus,
  platformStatuses,
  type RailState,
  stepsToDeny,
} from '#hooks/status'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import type { RunContext } from '#project/chains'
import { wayToRead } from './new-rail.ts'
import { type PlanAnswer, type PlanOptions, planSkill } from '#project/runs'

/** The plan of a skill, with diagnostics about agent clients. */
export interface RailPlan extends PlanAnswer {
  /** The client that `--client` names. */
  client?: ClientPlan
}

/** The rules of a plan that a client enforces, in sentences. */
export interface ClientPlan {
  client: Platform
  title: string
  rail: RailState
  /** Why a user cannot call the chain there, and what changes it; absent if the client reads the chain. */
  unread?: string
  enforced: readonly string[]
  limits: readonly RailLimit[]
}

/**
 * Plans a skill as `run` does. If nothing here executes a chain's steps, but a client with the hook would do
 * them as a rail, that is not an error: only `run` refuses them.
 */
export async function planForClients(
  context: RunContext,
  name: string,
  { client: named, ...options }: PlanOptions & { client?: string | undefined },
): Promise<RailPlan> {
  const client = named === undefined ? undefined : clientNamed(named)
  const plan = await planSkill(context, name, options)
  const isOfRail = plan.diagnostics.some(({ code }) => code === 'no-executor') && isOfChain(plan)
  const guards = plan.steps.filter(isGuarded)
  if (!isOfRail && guards.length === 0 && client === undefined) return plan
  const statuses = platformStatuses(context.runtime, client === undefined ? platforms : [client])
  const isOff = context.settings.rail.start === 'never'
  const ready = isOff ? [] : statuses.filter(({ rail }) => rail.state === 'ready')
  const readers = ready.filter(({ platform }) => startsIn(context, plan, platform))
  const isDone = isOfRail && readers.length > 0
  const shown = isDone ? await planSkill(context, name, { ...options, driven: true }) : plan
  const place = { path: plan.path }
  const diagnostics = isDone
    ? [...shown.diagnostics, executedBy(readers, shown, place)]
    : shown.diagnostics.map((one) =>
        withRailHint(one, { isOfRail, isOff, statuses, client, ready }),
      )
  const unenforced =
    guards.length > 0 && ready.length === 0 ? [noHook(shown, place, isOff, client, statuses)] : []
  const answer = { ...shown, diagnostics: [...diagnostics, ...unenforced] }
  const [status] = statuses
  return client === undefined || !status
    ? answer
    : {
        ...answer,
        client: clientPlan(status, answer, unreadLine(context, answer, status.platform)),
      }
}

function clientNamed(name: string): Platform {
  if (isPlatform(name)) return name
  throw wrongUse(`--client ${name} is not a client`, `Known are ${platforms.join(', ')}.`)
}

/** Whether a user can call the chain in a client, which must read its skill. */
function startsIn(
  context: RunContext,
  { path }: Pick<PlanAnswer, 'path'>,
  platform: Platform,
): boolean {
  const { skills } = discoverSkills(discoverOptionsFrom(context.runtime, context.settings))
  const file = realPathOf(resolve(context.runtime.cwd, path))
  if (file === undefined) return false
  return skills.some((skill) => realPathOf(skill.path) === file && skill.clients.includes(platform))
}

/** Undefined if the client reads the chain, or has no rails at all. */
function unreadLine(
  context: RunContext,
  plan: Pick<PlanAnswer, 'path'> & ShownPlan,
  platform: Platform,
): string | undefined {
  const { runtime } = context
  const file = realPathOf(resolve(runtime.cwd, plan.path))
  const isReadHere = railFacts(platform).start === undefined || startsIn(context, plan, platform)
  if (isReadHere || file === undefined || !isOfChain(plan)) return undefined
  const folder = dirname(dirname(file))
  const fix = wayToRead(folder, platform, runtime)
  const place = relative(runtime.cwd, folder)
  const call = callOf(platform, plan.skill)
  const otherwise = `the agent starts the chain with skillrail chain start ${plan.skill}`
  const news = fix === undefined ? '' : `. So that it does: ${fix}`
  return `it does not read ${place}, so there is no ${call}; ${otherwise}${news}`
}

/** A skill that is not a chain is planned as a chain of itself: no rail does that. */
function isOfChain({ skill, steps }: ShownPlan): boolean {
  const [first, ...others] = steps
  return others.length > 0 || (first !== undefined && (isChain(first) || first.step !== skill))
}

function isGuarded(step: PlannedStep): boolean {
  return step.guard !== undefined || (isChain(step) && step.steps.some(isGuarded))
}

function executedBy(
  ready: readonly PlatformStatus[],
  { skill, steps }: ShownPlan,
  place: Pick<Diagnostic, 'path'>,
): Diagnostic {
  const names = agentSteps(steps).map(stepLabel)
  const calls = ready.map(({ platform, title }) => `${title} (${callOf(platform, skill)})`)
  return {
    code: 'rail-executes',
    severity: 'info',
    message: `an agent client does ${names.join(', ')} as a rail: ${calls.join(', ')}`,
    hint: 'skillrail run executes these steps only with --via CLIENT or --model provider:name.',
    ...place,
  }
}

function agentSteps(steps: readonly PlannedStep[]): PlannedStep[] {
  return steps.flatMap((step) =>
    isChain(step) ? agentSteps(step.steps) : step.executor === 'script' ? [] : [step],
  )
}

function callOf(platform: Platform, skill: string): string {
  return chainCalls[adapters[platform].sigil].replace('NAME', () => skill)
}

/** Adds the command that makes a rail possible to errors about steps that nothing executes. */
function withRailHint(
  diagnostic: Diagnostic,
  about: {
    isOfRail: boolean
    isOff: boolean
    statuses: readonly PlatformStatus[]
    client: Platform | undefined
    ready: readonly PlatformStatus[]
  },
): Diagnostic {
  if (diagnostic.code !== 'no-executor' || !about.isOfRail) return diagnostic
  const { isOff, statuses, client, ready } = about
  const [status] = statuses
  const unable = client !== undefined && status?.rail.state === 'unsupported'
  if (unable) return { ...diagnostic, hint: railLimits(client)[0]?.text }
  const titles = ready.map(({ title }) => title).join(', ')
  const rail = isOff
    ? 'An agent client does the step as a rail once the setting rail.start is "invoked".'
    : ready.length > 0
      ? `An agent client does the step as a rail if it reads the chain's folder. Those with the hook do not: ${titles}.`
      : hasIdleHook(statuses)
        ? `An agent client does the step as a rail once its hook runs. ${stepsToDeny(statuses)}`
        : `An agent client does the step as a rail after: skillrail hooks install${client === undefined ? '' : ` ${client}`}.`
  return { ...diagnostic, hint: `${rail} ${diagnostic.hint ?? ''}`.trim() }
}

/** Whether a hook is here that does not run, and something else than an installation helps. */
function hasIdleHook(statuses: readonly PlatformStatus[]): boolean {
  return statuses.some((status) => isThere(status) && status.steps.length > 0)
}

function noHook(
  { skill }: ShownPlan,
  place: Pick<Diagnostic, 'path'>,
  isOff: boolean,
  client: Platform | undefined,
  statuses: readonly PlatformStatus[],
): Diagnostic {
  const who =
    client === undefined
      ? `no client has ${statuses.some(isThere) ? 'a working hook' : 'the hook'}`
      : `${adapters[client].title} has no working hook`
  return {
    code: 'guard-not-enforced',
    severity: 'info',
    message: `the guards of ${skill} deny nothing here: ${isOff ? 'rail.start is "never"' : `${who} that enforces them`}`,
    hint: isOff
      ? undefined
      : hasIdleHook(statuses)
        ? stepsToDeny(statuses)
        : `skillrail hooks install${client === undefined ? '' : ` ${client}`} adds it.`,
    ...place,
  }
}

/** Returns the rules that one client enforces for the steps of a plan, and its limits. */
function clientPlan(
  { platform, title, rail }: PlatformStatus,
  { steps, skill }: ShownPlan,
  unread: string | undefined,
): ClientPlan {
  const facts = railFacts(platform)
  const all = steps.flatMap((step) => (isChain(step) ? [step, ...allSteps(step)] : [step]))
  const agents = agentSteps(steps)
  const isMcp = (calls: string): boolean => /(?:^|\s)mcp__/.test(calls)
  const isSeen = (calls: string): boolean => facts.unseen === undefined || !isMcp(calls)
  const enforced = all.flatMap((step): string[] => {
    const label = stepLabel(step)
    const { guard, tools, check, verify, gate } = step
    return [
      ...(gate === undefined
        ? []
        : [`${label} waits for your approval${gate === true ? '' : ` (${gate})`}.`]),
      ...(guard === undefined || !isSeen(guard)
        ? []
        : [`Until ${label}, ${deniedCalls([guard])}.`]),
      ...(tools === undefined || !isSeen(tools) ? [] : [`In ${label}, only ${tools} is allowed.`]),
      ...(check === undefined && verify === undefined
        ? []
        : [`${label} is done only if ${check ?? verify} succeeds.`]),
    ]
  })
  const hasChecks = all.some(({ check, verify }) => check !== undefined || verify !== undefined)
  const [first] = agents
  const start =
    facts.start === undefined || unread !== undefined
      ? []
      : [
          `${callOf(platform, skill)} starts the chain${first === undefined ? '' : `, and only ${stepLabel(first)} is given to the agent first`}.`,
        ]
  const limits = railLimits(platform).filter(({ about }) => hasChecks || about !== 'checks')
  return {
    client: platform,
    title,
    rail,
    ...(unread === undefined ? {} : { unread }),
    enforced: facts.start === undefined ? [] : [...start, ...enforced],
    limits,
  }
}
