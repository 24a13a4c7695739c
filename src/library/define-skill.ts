import { sha256 } from '../base/index.ts'
import { estimateTokens, type SkillFields, SkillValidationError } from '../skill/index.ts'
import { noFields } from './_no-fields.ts'
import type { Skill } from './model.ts'

/** A skill that a program makes. Everything but these three is optional. */
export interface SkillDefinition extends Partial<Omit<SkillFields, 'name' | 'description'>> {
  name: string
  description: string
  /** The instructions, in Markdown. */
  body: string
}

/**
 * A skill without a file: the program's own, and trusted.
 *
 * @throws {SkillValidationError} when the name or the description is not what the format asks for.
 * @example
 * manager.register(defineSkill({ name: 'greet', description: 'Greets people.', body: 'Say hi.' }))
 */
export function defineSkill(definition: SkillDefinition): Skill {
  const { name, description, body, ...fields } = definition
  refuseInvalid(name, description)
  return {
    info: {
      name,
      description,
      path: '',
      directory: '',
      realDirectory: '',
      scope: 'code',
      source: 'code',
      trustLevel: 'trusted',
      fields: { ...noFields, ...fields, name, description },
      size: Buffer.byteLength(body),
      mtimeMs: 0,
      tokens: { metadata: estimateTokens(name + description), body: estimateTokens(body) },
      shadows: [],
      diagnostics: [],
    },
    body,
    digest: sha256(JSON.stringify([name, description, body])),
    resources: { files: [], truncated: false },
  }
}

/** A program that makes skills can be told at once what a file is only warned about. */
function refuseInvalid(name: string, description: string): void {
  const wrong = [
    /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name.length <= 64
      ? undefined
      : `the name ${JSON.stringify(name)} must be 1 to 64 of a-z, 0-9 and single hyphens`,
    description.trim() !== '' && Array.from(description).length <= 1024
      ? undefined
      : 'the description must have 1 to 1024 characters',
  ].filter((sentence) => sentence !== undefined)
  if (wrong.length === 0) return
  throw new SkillValidationError({
    code: 'skill-definition',
    message: `The skill cannot be defined: ${wrong.join('; ')}.`,
    hint: 'https://agentskills.io/specification has the rules.',
  })
}
