import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Diagnostic } from '#core/errors'
import type { Runtime } from '#core/runtime'
import { promptRefusal } from '#hooks/refused-prompts'
import { type TriggerSkill, triggerSource } from '#trigger/match'

/** A pattern for a call of a skill, up to the end of the name: `^/deploy `, `^/(deploy|release)$`. */
const callPattern =
  /^\^(\/|\/skill:|\\\$|\[\$\])(?:\(([\w|-]+)\)|([a-z0-9][\w-]*))(|(?:\$| |\\s|\\b|\[ |\[\[:space:]|\((?:\?:)?[ $]).*)$/s

/** The names that a skill can be called by where another skill is installed; read when they are needed. */
export class SkillNames {
  readonly #list: () => readonly string[]
  #installed: readonly string[] | undefined
  readonly #beside = new Map<string, readonly string[]>()

  /** @param list the names of the installed skills */
  constructor(list: () => readonly string[]) {
    this.#list = list
  }

  /** Also those in folders beside the skill: a collection is installed together, often elsewhere. */
  hasAny(directory: string, isMeant: (name: string) => boolean): boolean {
    this.#installed ??= this.#list()
    const parent = dirname(directory)
    const beside = this.#beside.get(parent) ?? skillsIn(parent)
    this.#beside.set(parent, beside)
    return this.#installed.some(isMeant) || beside.some(isMeant)
  }
}

function skillsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'SKILL.md')))
  } catch {
    return []
  }
}

/** Warnings about triggers for prompts that no hook gets, because a client refuses or rewrites them. */
export function neverSent(
  { name: own, path, directory, triggers }: TriggerSkill,
  names: SkillNames,
  runtime: Pick<Runtime, 'cwd' | 'home' | 'env'>,
): Diagnostic[] {
  return triggers.flatMap(({ match, when, line }) => {
    const [, sign = '', group, single = '', rest = ''] =
      (when ? undefined : callPattern.exec(match)) ?? []
    const called = (group ?? single).split('|').filter((name) => name !== '')
    if (called.length === 0) return []
    const isNamed = (name: string): boolean => {
      const isMeant = (one: string) => (rest === '' ? one.startsWith(name) : one === name)
      return isMeant(own) || names.hasAny(directory, isMeant)
    }
    const facts = { code: 'trigger-never-sent', severity: 'warning', path, line } as const
    if (sign !== '/') {
      const shown = sign === '/skill:' ? sign : '$'
      if (!called.some(isNamed)) return []
      const message = `A hook gets a call of a skill as \`/name\`, never as \`${shown}name\`.`
      const hint = `Begin the pattern with \`^/${called[0]}\`.`
      return [{ ...facts, message, hint, source: triggerSource }]
    }
    if (called.some(isNamed)) return []
    const refusals = called.map((name) =>
      promptRefusal('claude', `/${name}`, { hasSkill: isNamed, runtime }),
    )
    const [refusal] = refusals
    if (!refusal || refusals.includes(undefined)) return []
    const message = `The pattern \`${match}\` waits for a prompt that no hook gets. ${refusal.message}`
    return [{ ...facts, message, hint: refusal.hint, source: triggerSource }]
  })
}
