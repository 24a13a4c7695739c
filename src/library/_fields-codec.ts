import type {
  AllowedTool,
  ChainDeclaration,
  ChainPolicy,
  JsonValue,
  SkillFields,
  TriggerDeclaration,
} from '../skill/index.ts'
import { noFields } from './_no-fields.ts'
import { choice, list, number, optional, record, text } from './_decode.ts'

/** What is stored beside the fields, and not again in them. */
export interface StoredHead {
  name: string
  description: string
}

/** Stored where they are set; the others are in the head, or have defaults that are not undefined. */
const optionalFields = [
  'license',
  'compatibility',
  'allowedTools',
  'chain',
  'run',
  'model',
  'context',
  'agent',
  'argumentHint',
  'hooks',
] as const satisfies readonly (keyof SkillFields)[]

/** The fields without what is in the head and without defaults; empty where nothing is left. */
export function encodeFields(fields: SkillFields, head: StoredHead): string {
  const stored: Record<string, unknown> = {}
  for (const name of optionalFields) {
    if (fields[name] !== undefined) stored[name] = fields[name]
  }
  if (fields.name !== head.name) stored['name'] = fields.name ?? null
  if (fields.arguments.length > 0) stored['arguments'] = fields.arguments
  if (fields.triggers.length > 0) stored['triggers'] = fields.triggers
  if (fields.disableModelInvocation) stored['disableModelInvocation'] = true
  if (fields.sandbox === true) stored['sandbox'] = true
  if (!fields.userInvocable) stored['userInvocable'] = false
  if (Object.keys(fields.metadata).length > 0) stored['metadata'] = fields.metadata
  return Object.keys(stored).length > 0 ? JSON.stringify(stored) : ''
}

/** The reverse of {@link encodeFields}. Throws on anything else. */
export function decodeFields(source: string, { name, description }: StoredHead): SkillFields {
  if (source === '') return { ...noFields, name, description }
  const fields = record(JSON.parse(source))
  return {
    name: fields['name'] === undefined ? name : optional(fields['name'], text),
    description,
    license: optional(fields['license'], text),
    compatibility: optional(fields['compatibility'], text),
    metadata: optional(fields['metadata'], decodeMetadata) ?? noFields.metadata,
    allowedTools: optional(fields['allowedTools'], decodeTools),
    triggers: optional(fields['triggers'], decodeTriggers) ?? noFields.triggers,
    chain: optional(fields['chain'], decodeChain),
    run: optional(fields['run'], text),
    sandbox: fields['sandbox'] === true ? true : undefined,
    model: optional(fields['model'], text),
    context: fields['context'] === 'fork' ? 'fork' : undefined,
    agent: optional(fields['agent'], text),
    disableModelInvocation: fields['disableModelInvocation'] === true,
    userInvocable: fields['userInvocable'] !== false,
    argumentHint: optional(fields['argumentHint'], text),
    arguments: optional(fields['arguments'], decodeTexts) ?? noFields.arguments,
    hooks: optional(fields['hooks'], decodeJson),
  }
}

function withoutPrototype(entries: Readonly<Record<string, string>>): Record<string, string> {
  const bare: Record<string, string> = Object.create(null)
  return Object.assign(bare, entries)
}

function decodeMetadata(value: unknown): Record<string, string> {
  const metadata = withoutPrototype({})
  for (const [key, entry] of Object.entries(record(value))) metadata[key] = text(entry)
  return metadata
}

function decodeTexts(value: unknown): string[] {
  return list(value, text)
}

function decodeTools(value: unknown): AllowedTool[] {
  return list(value, (item) => {
    const { tool, pattern } = record(item)
    return pattern === undefined
      ? { tool: text(tool) }
      : { tool: text(tool), pattern: text(pattern) }
  })
}

function decodeTriggers(value: unknown): TriggerDeclaration[] {
  return list(value, (item) => {
    const { match, inject, line } = record(item)
    return { match: text(match), inject: text(inject), line: number(line) }
  })
}

function decodeChain(value: unknown): ChainDeclaration {
  const chain = record(value)
  return {
    steps: list(chain['steps'], (item) => {
      const { name, line } = record(item)
      return { name: text(name), line: number(line) }
    }),
    policy: decodePolicy(chain['policy']),
    gates: list(chain['gates'], text),
    line: number(chain['line']),
  }
}

function decodePolicy(value: unknown): ChainPolicy {
  const policy = record(value)
  const flag = (name: keyof ChainPolicy): boolean => choice(policy[name], [true, false])
  return {
    async: flag('async'),
    continueOnError: flag('continueOnError'),
    timeout: number(policy['timeout']),
    maxDepth: number(policy['maxDepth']),
    parallelLimit: number(policy['parallelLimit']),
    validateOnLoad: flag('validateOnLoad'),
    cleanupAfter: flag('cleanupAfter'),
    earlyExitOn: choice(policy['earlyExitOn'], ['none', 'failure', 'success', 'critical']),
    continueOnSuccess: flag('continueOnSuccess'),
    passState: flag('passState'),
    retryCount: number(policy['retryCount']),
    retryUntil: choice(policy['retryUntil'], ['none', 'stable', 'success']),
    raceMode: flag('raceMode'),
  }
}

function decodeJson(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return value
  if (Array.isArray(value)) return list(value, decodeJson)
  return Object.fromEntries(
    Object.entries(record(value)).map(([key, entry]) => [key, decodeJson(entry)]),
  )
}
