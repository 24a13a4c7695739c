import type { Command } from 'commander'
import { isObject, UsageError } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import { type JsonObject, type WorkflowMode, workflowModes } from '../workflow/index.ts'
import { collect } from './_collect.ts'

/** A workflow as options describe it. */
export interface WorkflowFlags {
  description?: string | undefined
  category?: string | undefined
  tool?: string[] | undefined
  keyword?: string[] | undefined
  step?: string[] | undefined
  optionalStep?: string[] | undefined
  param?: string[] | undefined
  mode?: string | undefined
}

export function addWorkflowFlags(program: Command): Command {
  return program
    .option('--description <text>', 'what it is for')
    .option('--category <name>', 'trigger: every tool of this category')
    .option('--tool <name>', 'trigger: this tool; may be repeated', collect)
    .option('--keyword <words>', 'trigger: these words in the request; may be repeated', collect)
    .option('--step <tool: why>', 'a prerequisite; may be repeated, in order', collect)
    .option('--optional-step <tool: why>', 'one that may fail; they come after the others', collect)
    .option(
      '--param <step.name=value>',
      'a parameter of a step, such as 2.database=$call.database; may be repeated',
      collect,
    )
    .option('--mode <mode>', `${workflowModes.join(', ')}; default: enforce`)
}

/**
 * What a workflow must have and the options do not say.
 *
 * @throws {UsageError} that names the options.
 */
export function requireFlags(flags: WorkflowFlags): void {
  const { description, category, tool, keyword, step, optionalStep } = flags
  const isNamed = (options: readonly unknown[]): boolean =>
    options.some((option) => option !== undefined)
  const missing = [
    isNamed([description]) ? [] : ['--description'],
    isNamed([category, tool, keyword]) ? [] : ['a trigger (--category, --tool or --keyword)'],
    isNamed([step, optionalStep]) ? [] : ['--step'],
  ].flat()
  if (missing.length === 0) return
  const last = missing.at(-1) ?? ''
  const list = missing.length === 1 ? last : `${missing.slice(0, -1).join(', ')} and ${last}`
  throw new UsageError({
    code: 'wrong-use',
    message: `${list} ${missing.length === 1 ? 'is' : 'are'} missing`,
    hint: 'Example: --description "Look before a deployment" --tool deploy --step "get_status: know what runs now"',
  })
}

export function hasFlags(flags: WorkflowFlags): boolean {
  const { description, category, tool, keyword, step, optionalStep, param, mode } = flags
  return [description, category, tool, keyword, step, optionalStep, param, mode].some(
    (value) => value !== undefined,
  )
}

/** The definition with what the options say in place of what it had. Lists are replaced whole. */
export function applyFlags(before: JsonObject, flags: WorkflowFlags): JsonObject {
  refuseEmpty(flags)
  const { description, category, tool, keyword, step, optionalStep, mode } = flags
  const triggers = {
    ...objectOf(before['triggers']),
    ...(category === undefined ? {} : { category }),
    ...(tool === undefined ? {} : { tools: tool }),
    ...(keyword === undefined ? {} : { keywords: keyword }),
  }
  const given = [
    ...(step ?? []).map((text) => ({ ...readStep('--step', text), required: true })),
    ...(optionalStep ?? []).map((text) => ({
      ...readStep('--optional-step', text),
      required: false,
    })),
  ].map((item, index) => ({ step: index + 1, ...item }))
  const prerequisites = given.length > 0 ? given : (before['prerequisites'] ?? [])
  const after: JsonObject = {
    ...before,
    ...(description === undefined ? {} : { description }),
    triggers,
    prerequisites,
    ...(mode === undefined ? {} : { mode: readMode(mode) }),
  }
  return (flags.param ?? []).reduce(withParam, after)
}

function refuseEmpty({ description, category, tool, keyword }: WorkflowFlags): void {
  const texts = Object.entries({ description, category, tool, keyword })
  const [empty] =
    texts.find(([, value]) => [value].flat().some((text) => text?.trim() === '')) ?? []
  if (empty === undefined) return
  throw new UsageError({
    code: 'wrong-use',
    message: `--${empty} is empty`,
    hint: `Leave the option out, or say what it should be.`,
  })
}

function readStep(option: string, text: string): { tool: string; description: string } {
  const [, tool, rest = ''] = /^([^\s:]+)\s*:(.*)$/s.exec(text.trim()) ?? []
  const description = rest.trim()
  if (tool !== undefined && description !== '') return { tool, description }
  throw new UsageError({
    code: 'wrong-use',
    message: `${option} ${JSON.stringify(text)} is not "TOOL: why"`,
    hint: `Example: ${option} "list_tables: know the tables"`,
  })
}

function readMode(text: string): WorkflowMode {
  const mode = workflowModes.find((candidate) => candidate === text)
  if (mode !== undefined) return mode
  throw new UsageError({
    code: 'wrong-use',
    message: `--mode ${text} is not allowed`,
    hint: `The modes are ${workflowModes.join(', ')}.`,
  })
}

function withParam(definition: JsonObject, text: string): JsonObject {
  const [, step, name, value] = /^(\d+)\.([A-Za-z_][\w-]*)=(.*)$/s.exec(text) ?? []
  const { prerequisites } = definition
  const list = Array.isArray(prerequisites) ? [...prerequisites] : []
  const index = list.findIndex((item) => objectOf(item)['step'] === Number(step))
  if (name === undefined || value === undefined || index === -1) {
    throw new UsageError({
      code: 'wrong-use',
      message: `--param ${JSON.stringify(text)} is not STEP.NAME=VALUE with the number of a step`,
      hint: "Example: --param '2.database=$call.database'",
    })
  }
  const before = objectOf(list[index])
  list[index] = { ...before, params: { ...objectOf(before['params']), [name]: readValue(value) } }
  return { ...definition, prerequisites: list }
}

/** JSON where it is some, else text. */
function readValue(text: string): JsonObject[string] {
  try {
    const value: JsonObject[string] = JSON.parse(text)
    return value
  } catch {
    return text
  }
}

function objectOf(value: unknown): JsonObject {
  return isObject<JsonValue>(value) ? value : {}
}
