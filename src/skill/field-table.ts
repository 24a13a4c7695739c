import { argumentNamePattern } from './arguments.ts'

/** The form of a field's value; `fields.ts` has one reader for each. */
type FieldKind =
  | 'text'
  | 'boolean'
  | 'integer'
  | 'choice'
  | 'tools'
  | 'names'
  | 'path'
  | 'triggers'
  | 'chain'
  | 'map'
  | 'hooks'
  | 'any'

/** The values of `early_exit_on` and `retry_until`; the first is the default. */
export const earlyExits = ['none', 'failure', 'success', 'critical'] as const
export const retryEnds = ['none', 'stable', 'success'] as const

export interface FieldDefinition {
  name: string
  /** `client`: not a field of Skillrail; a client documents it. */
  owner: 'specification' | 'skillrail' | 'client'
  /** The products that document the field, besides its owner. */
  clients: readonly string[]
  /** `either`: at the top level or below `metadata`; the top level takes precedence. */
  placement: 'top' | 'either' | 'metadata'
  kind: FieldKind
  choices?: readonly string[] | undefined
  minimum?: number | undefined
  constraint: string
  source: string
}

const specification = 'https://agentskills.io/specification'
const claude = 'https://code.claude.com/docs/en/skills'
const cursor = 'https://cursor.com/docs/context/skills'
const prd = 'Skillrail extension (skills and subagents)'
const chaining = 'Skillrail extension (skill chaining)'

function fieldsOf(
  owner: FieldDefinition['owner'],
  placement: FieldDefinition['placement'],
  source: string,
) {
  return (
    name: string,
    kind: FieldKind,
    constraint: string,
    more: Partial<FieldDefinition> = {},
  ) => {
    return { name, owner, clients: [], placement, kind, constraint, source, ...more }
  }
}

const extension = fieldsOf('skillrail', 'either', prd)
const execution = fieldsOf('skillrail', 'either', 'Skillrail extension (execution)')
const policy = fieldsOf('skillrail', 'metadata', chaining)

function specificationField(name: string, kind: FieldKind, constraint: string) {
  return fieldsOf('specification', 'top', `${specification}#${name}-field`)(name, kind, constraint)
}

function foreign(name: string, clients: readonly string[], constraint: string, source: string) {
  return fieldsOf('client', 'top', source)(name, 'any', constraint, { clients })
}

/** Every field that Skillrail knows, in the order in which it writes them. */
export const fieldTable: readonly FieldDefinition[] = [
  specificationField('name', 'text', '1 to 64 of a-z, 0-9 and single hyphens; the directory name.'),
  specificationField(
    'description',
    'text',
    '1 to 1,024 characters: what it does and when to use it.',
  ),
  specificationField('license', 'text', 'Name of a licence or of a bundled licence file.'),
  specificationField('compatibility', 'text', '1 to 500 characters: product, packages, network.'),
  specificationField('allowed-tools', 'tools', 'Pre-approved tools, separated by spaces.'),
  specificationField('metadata', 'map', 'A map from string keys to string values.'),

  fieldsOf('skillrail', 'either', 'Skillrail extension (deterministic progressive disclosure)')(
    'triggers',
    'triggers',
    'List of { match | examples | paths | command | tool, inject }, or lines of `PATTERN => FILE`.',
  ),
  execution('run', 'path', 'The script that executes the skill.'),
  execution('sandbox', 'boolean', '`true` runs its scripts in a sandbox, trusted or not.'),
  extension('model', 'text', 'The model that executes the skill.', { clients: ['Claude Code'] }),
  extension('context', 'choice', '`fork` executes the skill in a subagent.', {
    choices: ['fork'],
    clients: ['Claude Code', 'OpenCode'],
  }),
  extension('agent', 'text', 'The subagent that executes a forked skill.', {
    clients: ['Claude Code'],
  }),
  extension(
    'disable-model-invocation',
    'boolean',
    '`true` keeps it from the model. Default false.',
    {
      clients: ['Claude Code', 'VS Code', 'Cursor', 'pi'],
    },
  ),
  extension('user-invocable', 'boolean', '`false` keeps it from the user. Default true.', {
    clients: ['Claude Code', 'VS Code'],
  }),
  extension('argument-hint', 'text', 'Shown to the user after the name of the skill.', {
    clients: ['Claude Code', 'VS Code', 'Goose'],
  }),
  extension(
    'arguments',
    'names',
    'Names for `$name` placeholders: a list, or separated by spaces.',
    {
      clients: ['Claude Code', 'Goose'],
    },
  ),
  extension('hooks', 'hooks', 'A map of lifecycle hooks, or the same as JSON text.', {
    clients: ['Claude Code'],
  }),

  policy('chain', 'chain', 'Names of skills in order, or a step a line with its options.'),
  policy('gates', 'names', 'Steps that wait for approval.'),
  policy('guards', 'choice', '`always`: its guards apply in the project without a rail, too.', {
    choices: ['always'],
  }),
  policy('require_verified', 'boolean', 'A success needs a check. Default false.'),
  policy('async', 'boolean', 'Run the steps at the same time. Default false.'),
  policy('continue_on_error', 'boolean', 'Continue after a failed step. Default true.'),
  policy('timeout', 'integer', 'Seconds that a step may take; 0 means no limit. Default 0.', {
    minimum: 0,
  }),
  policy('max_depth', 'integer', 'How deep chains may nest. Default 10.', { minimum: 1 }),
  policy('parallel_limit', 'integer', 'Steps at once with `async`. Default 5.', { minimum: 1 }),
  policy('validate_on_load', 'boolean', 'Check that every step exists. Default true.'),
  policy('cleanup_after', 'boolean', 'Remove state when the chain is done. Default false.'),
  policy('early_exit_on', 'choice', 'Stop at the first such result. Default none.', {
    choices: earlyExits,
  }),
  policy('continue_on_success', 'boolean', 'Skip after a step that failed. Default false.'),
  policy('pass_state', 'boolean', 'Give each step the results before it. Default true.'),
  policy('retry_count', 'integer', 'Maximum number of attempts of the chain. Default 1.', {
    minimum: 1,
  }),
  policy('retry_until', 'choice', 'Repeat until this is reached. Default none.', {
    choices: retryEnds,
  }),
  policy(
    'race_mode',
    'boolean',
    'The first success ends the group; only with `async`. Default false.',
  ),

  foreign(
    'disallowed-tools',
    ['Claude Code'],
    'Tools taken away while the skill is active.',
    claude,
  ),
  foreign('when_to_use', ['Claude Code'], 'Added to the description in the catalogue.', claude),
  foreign('effort', ['Claude Code'], 'Reasoning effort, `low` to `max`.', claude),
  foreign('background', ['Claude Code'], 'Runs a forked skill in the background.', claude),
  foreign('paths', ['Claude Code', 'Cursor'], 'Globs of files the skill belongs to.', claude),
  foreign('shell', ['Claude Code'], 'The shell of embedded commands.', claude),
  foreign('globs', ['Cursor'], 'The older name of `paths`.', cursor),
  foreign('icon', ['Cursor'], 'The badge of a custom mode.', cursor),
  foreign('color', ['Cursor'], 'The colour of a custom mode.', cursor),
]

export const topFields = fieldsBeside('metadata')
export const metadataFields = fieldsBeside('top')

function fieldsBeside(other: FieldDefinition['placement']): ReadonlyMap<string, FieldDefinition> {
  const fields = fieldTable.filter(({ placement }) => placement !== other)
  return new Map(fields.map((field) => [field.name, field]))
}

type Schema = Readonly<Record<string, unknown>>

/**
 * The frontmatter as a JSON Schema (draft 7, which editors read), made from the table of fields.
 * It accepts every file without `validate` errors that one field alone shows. It refuses some forms
 * for which `validate` only warns, such as an unquoted number in place of a text.
 */
export function frontmatterJsonSchema(): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: properties(topFields),
    required: ['name', 'description'],
    additionalProperties: {},
    title: 'Frontmatter of a SKILL.md',
    description: 'The specification, with extensions of Skillrail and of clients.',
  }
}

function properties(fields: ReadonlyMap<string, FieldDefinition>): Schema {
  return Object.fromEntries(
    Array.from(fields.values(), (field) => {
      const { name, constraint, clients, owner, source } = field
      const clientNote = owner === 'client' ? ` Only ${clients.join(' and ')}.` : ''
      return [name, { ...fieldSchema(field), description: `${constraint}${clientNote} ${source}` }]
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
      const kinds = { match: word, examples: texts, paths: texts, command: word, tool: word }
      const more = { on: { type: 'string', enum: ['edit', 'read'] }, require: {}, not: texts }
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
