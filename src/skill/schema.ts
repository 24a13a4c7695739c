import { createRequire } from 'node:module'
import type * as Zod from 'zod'
import { argumentNamePattern } from './arguments.ts'
import { type FieldDefinition, metadataFields, topFields } from './field-table.ts'

/**
 * The frontmatter as a JSON Schema (draft 7, which editors read), made from the table of fields.
 * It accepts what `validate` finds no error in, as far as one field at a time can tell; it refuses
 * some forms that `validate` only warns of, such as an unquoted number in place of a text.
 */
export function frontmatterJsonSchema(): object {
  const zod = loadZod()
  const schema = zod.toJSONSchema(frontmatterSchema(zod), { target: 'draft-7' })
  const title = 'Frontmatter of a SKILL.md'
  const description =
    'The Agent Skills specification, with the extensions of Skillrail and of clients.'
  return { ...schema, title, description }
}

/** The schema itself, for checking a value. `zod` is passed in, because loading it is not free. */
export function frontmatterSchema(zod: typeof Zod): Zod.ZodType {
  const shape: Record<string, Zod.ZodType> = {}
  for (const field of topFields.values()) {
    const schema = field.name === 'metadata' ? metadataSchema(zod) : fieldSchema(zod, field)
    const described = schema.describe(describeField(field))
    shape[field.name] = isRequired(field) ? described : described.optional()
  }
  return zod.looseObject(shape)
}

export function loadZod(): typeof Zod {
  return createRequire(import.meta.url)('zod')
}

function isRequired(field: FieldDefinition): boolean {
  return field.name === 'name' || field.name === 'description'
}

function describeField({ constraint, clients, owner, source }: FieldDefinition): string {
  const known = owner === 'client' ? ` Only ${clients.join(' and ')}.` : ''
  return `${constraint}${known} ${source}`
}

function metadataSchema(zod: typeof Zod): Zod.ZodType {
  const shape: Record<string, Zod.ZodType> = {}
  for (const field of metadataFields.values()) {
    shape[field.name] = fieldSchema(zod, field).describe(describeField(field)).optional()
  }
  return zod.object(shape).catchall(zod.string())
}

const limits: Readonly<Record<string, number>> = { description: 1024, compatibility: 500 }

/** Relative, forward, without a drive. */
const innerPath = /^(?!\/|[A-Za-z]:)(?!(?:.*\/)?\.\.(?:\/|$))[^\\]+$/

function fieldSchema(zod: typeof Zod, field: FieldDefinition): Zod.ZodType {
  const word = zod.string().min(1)
  switch (field.kind) {
    case 'text': {
      if (field.name !== 'name')
        return zod
          .string()
          .regex(/\S/)
          .max(limits[field.name] ?? 100_000)
      return zod
        .string()
        .max(64)
        .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
    }
    case 'path':
      return zod.string().regex(innerPath)
    case 'boolean':
      return zod.union([zod.boolean(), zod.enum(['true', 'false', 'yes', 'no', 'on', 'off'])])
    case 'integer': {
      const minimum = field.minimum ?? 0
      const digits = minimum > 0 ? /^[1-9]\d{0,14}$/ : /^\d{1,15}$/
      return zod.union([zod.int().min(minimum), zod.string().regex(digits)])
    }
    case 'choice':
      return zod.enum(field.choices ?? [])
    case 'tools':
      return zod.union([zod.string(), zod.array(zod.string())])
    case 'names': {
      if (field.name !== 'arguments') return zod.union([zod.string(), zod.array(word)])
      const names = zod.string().regex(/^[\s,]*(?:[A-Za-z_][A-Za-z0-9_-]*(?:[\s,]+|$))*$/)
      return zod.union([names, zod.array(zod.string().regex(argumentNamePattern))])
    }
    case 'chain':
      return zod.union([word, zod.array(word).min(1)])
    case 'triggers': {
      const trigger = zod.looseObject({ match: word, inject: zod.string().regex(innerPath) })
      return zod.union([zod.string().regex(/^\s*$|\S => \S/), zod.array(trigger)])
    }
    case 'hooks':
      return zod.union([
        zod.record(zod.string(), zod.unknown()),
        zod.string().regex(/^\s*\{[^]*\}\s*$/),
      ])
    case 'map':
    case 'any':
      return zod.unknown()
  }
}
