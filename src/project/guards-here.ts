import type { Check, CheckContext } from '#core/command'
import { findWorkspace } from '#core/read-files'
import {
  installedPlatforms,
  isThere,
  type PlatformStatus,
  platformStatuses,
  stepsToDeny,
} from '#hooks/status'
import { platforms } from '#hooks/adapters'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import type { SkillInfo } from '#library/model'
import { guardedCalls } from '#skill/guard-words'
import { type AppliedGuards, appliedGuards, guardsIn, isSameChain } from '#trust/accepted-guards'
import { alwaysGuarding } from './always-guards.ts'

/** The guards that should apply here without a rail, and whether anything enforces them. */
export interface GuardsHere extends AppliedGuards {
  /** Guards of chains here that no user has accepted, so that nothing denies their calls. */
  wanted: readonly {
    chain: string
    /** In words, such as `git push`. */
    calls: readonly string[]
    /** Whether it is one of the user's own chains. */
    isOwn: boolean
  }[]
  enforcement: Enforcement
}

export interface Enforcement {
  /** Titles of the clients whose hook denies calls. */
  by: readonly string[]
  /** The same, if the client trusts the hook, which the client alone can tell. */
  unconfirmed: readonly string[]
  /** Clients here that do not deny calls. */
  notBy: readonly string[]
  /** What makes the other clients deny calls; undefined if there are none. */
  advice: string | undefined
}

/** Reads what should be denied here, and compares it with the hooks of the clients here. */
export function guardsHere(context: CheckContext): GuardsHere {
  const { runtime } = context
  const here = new Set(installedPlatforms(runtime))
  const clients = platformStatuses(runtime, platforms).filter(
    (status) => isThere(status) || here.has(status.platform),
  )
  return {
    ...appliedGuards(runtime),
    wanted: wantedGuards(context),
    enforcement: enforcementBy(clients),
  }
}

export function enforcementBy(clients: readonly PlatformStatus[]): Enforcement {
  const titles = (wanted: PlatformStatus['denies']) =>
    clients.filter(({ denies }) => denies === wanted).map(({ title }) => title)
  const others = clients.filter(({ denies }) => denies !== 'yes')
  const isComplete = others.length === 0 && clients.length > 0
  return {
    by: titles('yes'),
    unconfirmed: titles('unknown'),
    notBy: titles('no'),
    advice: isComplete ? undefined : stepsToDeny(others),
  }
}

function wantedGuards({ runtime, settings }: CheckContext): GuardsHere['wanted'] {
  const { skills, conflicts } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const all = [...skills, ...conflicts]
  const workspace = findWorkspace(runtime.cwd, runtime)
  const isOfProject = ({ scope, trustLevel }: SkillInfo): boolean =>
    scope === 'project' || (scope === 'custom' && trustLevel === 'trusted')
  const accepted = guardsIn(runtime, [runtime.cwd]).flatMap((record) =>
    record.kind === 'unreadable'
      ? []
      : record.chains.map((chain) => ({ ...chain, workspace: record.workspace })),
  )
  return [false, true].flatMap((isOwn) => {
    const own = all.filter((skill) => (isOwn ? skill.scope === 'user' : isOfProject(skill)))
    return alwaysGuarding(own, workspace, { isOwn }).flatMap(({ name, path, guards }) => {
      const known = accepted.filter((chain) => isSameChain(chain, { workspace, path }))
      const before = new Set(known.flatMap((chain) => chain.guards.map(({ calls }) => calls)))
      const missing = guards.filter(({ calls }) => !before.has(calls))
      const calls = [...new Set(missing.flatMap((guard) => guardedCalls(guard.calls)))]
      return calls.length === 0 ? [] : [{ chain: name, calls, isOwn }]
    })
  })
}

/** Who denies the guarded calls, after a list of them: `denied by Claude Code, not by Codex`. */
export function enforcementText({ by, unconfirmed, notBy }: Enforcement): string {
  if (by.length === 0 && unconfirmed.length === 0) return 'declared, enforced by no client here'
  const parts = [
    ...(by.length > 0 ? [`denied by ${by.join(', ')}`] : []),
    ...(unconfirmed.length > 0
      ? [`denied by ${unconfirmed.join(', ')} only if it trusts the hook, which it alone can tell`]
      : []),
    ...(notBy.length > 0 ? [`not by ${notBy.join(', ')}`] : []),
  ]
  return parts.join('; ')
}

export function isEnforced({ by, unconfirmed }: Enforcement): boolean {
  return by.length > 0 || unconfirmed.length > 0
}

/** What a project or a chain of the user wants to be denied, and nobody accepted. */
export function wantedText({ chain, calls, isOwn }: GuardsHere['wanted'][number]): string {
  const who = isOwn ? 'your own chain' : 'this project, with the chain'
  return `${who} ${chain}, wants to deny ${calls.join(' and ')}; not accepted, so it is not denied`
}

/** Reports the guards that should apply here without a rail; nothing if there are none. */
export function checkGuards(context: CheckContext): Check[] {
  const { chains, unreadable, wanted, enforcement } = guardsHere(context)
  const name = 'guards'
  const isComplete = enforcement.by.length > 0 && enforcement.advice === undefined
  const status = isComplete ? 'ok' : isEnforced(enforcement) ? 'warning' : 'problem'
  return [
    ...unreadable.map(({ path, reason }): Check => {
      const text = `${path} cannot be read (${reason}), so commands and MCP tools are denied to agents`
      return {
        name,
        status: 'problem',
        found: text,
        advice: 'To write it again: skillrail trust',
      }
    }),
    ...wanted.map((one): Check => {
      const advice = 'Review and accept it with: skillrail trust'
      return { name, status: 'problem', found: wantedText(one), advice }
    }),
    ...chains.map((chain): Check => {
      const place = chain.isOwn ? 'every project' : 'this project'
      const calls = chain.calls.join(' and ')
      const text = `${calls}, in ${place}, except in ${chain.name} (${chain.path}): ${enforcementText(enforcement)}`
      return { name, status, found: text, advice: enforcement.advice }
    }),
  ]
}
