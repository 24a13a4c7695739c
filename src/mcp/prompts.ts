import { safeLine } from '../base/index.ts'
import type { SkillInfo } from '../library/index.ts'
import { quoteArgument } from '../skill/index.ts'
import { shortened } from './input.ts'
import type { Connection } from './model.ts'
import { skillsOf } from './skills.ts'
import { useSkill } from './use-skill.ts'
import type { McpWorld } from './world.ts'

/** A skill that a person may pick in the client. */
export interface SkillPrompt {
  name: string
  description: string
  arguments: { name: string; description?: string; required: boolean }[]
}

/** The argument of a skill that declares none. */
const wholeText = 'arguments'

/** The skills that a person may activate, as prompts. */
export async function listPrompts(world: McpWorld): Promise<SkillPrompt[]> {
  const skills = await skillsOf(world).list()
  return skills.flatMap((info) => (info.fields.userInvocable ? [promptOf(info)] : []))
}

/**
 * What a client puts into the conversation when its user picks a skill.
 *
 * @throws {SkillError} where there is no such skill, or no person may activate it
 */
export async function getPrompt(
  world: McpWorld,
  name: string,
  given: Readonly<Record<string, string>>,
  connection: Connection,
): Promise<{ description: string; text: string }> {
  const known = shortened(name)
  const info = (await skillsOf(world).list()).find((one) => one.name === known)
  const { text } = await useSkill(world, known, argumentTextOf(info, given), 'user')
  if (info !== undefined) connection.activated?.add(info.directory)
  return { description: safeLine(info?.description ?? name), text }
}

function promptOf({ name, description, trustLevel, fields }: SkillInfo): SkillPrompt {
  const hint = fields.argumentHint
  const about = hint === undefined ? {} : { description: safeLine(hint) }
  const names = fields.arguments.length > 0 ? fields.arguments : [wholeText]
  const doubt = trustLevel === 'trusted' ? '' : '(not trusted) '
  return {
    name,
    description: safeLine(`${doubt}${description}`),
    arguments: names.map((argument) => ({ name: argument, ...about, required: false })),
  }
}

/** The values in the order in which the skill declares them, as a person would have typed them. */
function argumentTextOf(
  info: SkillInfo | undefined,
  given: Readonly<Record<string, string>>,
): string {
  const declared = info?.fields.arguments ?? []
  if (declared.length === 0) return given[wholeText] ?? ''
  const values = declared.map((name) => given[name] ?? '')
  const last = values.findLastIndex((value) => value !== '')
  return values
    .slice(0, last + 1)
    .map((value) => quoteArgument(value))
    .join(' ')
}
