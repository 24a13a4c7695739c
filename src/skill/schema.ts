import { argumentNamePattern } from './arguments.ts'
import { type FieldDefinition, metadataFields, topFields } from './field-table.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * The frontmatter as a JSON Schema (draft 7, which editors read), made from the table of fields.
 * It accepts what `validate` finds no error in, as far as one field at a time can tell; it refuses
 * some forms that `validate` only warns of, such as an unquoted number in place of a text.
 */
export function frontmatterJsonSchema(): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: properties(topFields),
    required: ['name', 'description'],
    additionalProperties: {},
    title: 'Frontmatter of a SKILL.md',
    description: 'The Agent Skills specification, with the extensions of Skillrail and of clients.',
  }
}

function properties(fields: ReadonlyMap<string, FieldDefinition>): Schema {
  return Object.fromEntries(
    Array.from(fields.values(), (field) => {
      const { name, constraint, clients, owner, source } = field
      const known = owner === 'client' ? ` Only ${clients.join(' and ')}.` : ''
      return [name, { ...fieldSchema(field), description: `${constraint}${known} ${source}` }]
    }),
  )
}

const text: Schema = { type: 'string' }
const word: Schema = { type: 'string', minLength: 1 }
/** Relative, forward, without a drive. */
const path = matching(/^(?!\/|[A-Za-z]:)(?!(?:.*\/)?\.\.(?:\/|$))[^\\]+$/)

function matching({ source }: RegExp): Schema {
  return { type: 'string', pattern: source }
}

function either(...anyOf: readonly Schema[]): Schema {
  return { anyOf }
}

function listOf(items: Schema, limits: Schema = {}): Schema {
  return { ...limits, type: 'array', items }
}

const longest: Readonly<Record<string, number>> = {
  name: 64,
  description: 1024,
  compatibility: 500,
}

function fieldSchema({ name, kind, choices, minimum = 0 }: FieldDefinition): Schema {
  switch (kind) {
    case 'text': {
      const { source } = name === 'name' ? /^[a-z0-9]+(?:-[a-z0-9]+)*$/ : /\S/
      return { type: 'string', maxLength: longest[name] ?? 100_000, pattern: source }
    }
    case 'path':
      return path
    case 'boolean': {
      const words = ['true', 'false', 'yes', 'no', 'on', 'off']
      return either({ type: 'boolean' }, { type: 'string', enum: words })
    }
    case 'integer': {
      const digits = minimum > 0 ? /^[1-9]\d{0,14}$/ : /^\d{1,15}$/
      const maximum = Number.MAX_SAFE_INTEGER
      return either({ type: 'integer', minimum, maximum }, matching(digits))
    }
    case 'choice':
      return { type: 'string', enum: choices }
    case 'tools':
      return either(text, listOf(text))
    case 'names': {
      if (name !== 'arguments') return either(text, listOf(word))
      const names = matching(/^[\s,]*(?:[A-Za-z_][A-Za-z0-9_-]*(?:[\s,]+|$))*$/)
      return either(names, listOf(matching(argumentNamePattern)))
    }
    case 'chain':
      return either(
        word,
        listOf(either(word, { type: 'object', maxProperties: 1 }), { minItems: 1 }),
      )
    case 'triggers': {
      const texts = either(word, listOf(word))
      const kinds = { match: word, examples: texts, paths: texts, command: word }
      const more = { on: { type: 'string', enum: ['edit', 'read'] }, require: {} }
      const properties = { ...kinds, ...more, inject: path }
      const oneOf = Object.keys(kinds).map((kind) => ({ required: [kind] }))
      const required = ['inject']
      const trigger = { type: 'object', properties, required, oneOf, additionalProperties: {} }
      return either(matching(/^\s*$|\S => \S/), listOf(trigger))
    }
    case 'hooks': {
      const map = { type: 'object', propertyNames: text, additionalProperties: {} }
      return either(map, matching(/^\s*\{[^]*\}\s*$/))
    }
    case 'map':
      return { type: 'object', properties: properties(metadataFields), additionalProperties: text }
    case 'any':
      return {}
  }
}
