import { option, type OptionSpecs, type Values } from '../../core/command.ts'
import { wrongUse } from '../../core/errors.ts'
import { objectOf, parseJson } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import { type JsonObject, workflowModes } from '../workflow/model.ts'

export const workflowOptions = {
  description: option.text('--description <text>', 'what it is for'),
  server: option.text('--server <name>', 'bind it to this server'),
  category: option.text('--category <name>', 'trigger: every tool of this category'),
  tool: option.list('--tool <name>', 'trigger: this tool (repeatable)'),
  keyword: option.list('--keyword <words>', 'trigger: these words in the request (repeatable)'),
  step: option.list('--step <tool: why>', 'a prerequisite (repeatable, in order)'),
  optionalStep: option.list(
    '--optional-step <tool: why>',
    'a prerequisite that can fail; runs after the others',
  ),
  param: option.list(
    '--param <step.name=value>',
    'a parameter of a step, such as 2.database=$call.database (repeatable)',
  ),
  mode: option.choice('--mode <mode>', `${workflowModes.join(', ')}; default: enforce`, {
    choices: workflowModes,
  }),
} as const satisfies OptionSpecs

export type WorkflowFlags = Omit<Values<typeof workflowOptions>, 'arguments'>

export function requireFlags(flags: WorkflowFlags): void {
  const { description, server, category, tool, keyword, step, optionalStep } = flags
  const hasTrigger = (server ?? category) !== undefined || tool.length + keyword.length > 0
  const missing = [
    ...(description === undefined ? ['--description'] : []),
    ...(hasTrigger ? [] : ['a trigger (--server, --category, --tool or --keyword)']),
    ...(step.length + optionalStep.length > 0 ? [] : ['--step']),
  ]
  if (missing.length === 0) return
  throw wrongUse(
    `${new Intl.ListFormat('en-GB').format(missing)} ${missing.length === 1 ? 'is' : 'are'} missing`,
    'Example: --description "Look before a deployment" --tool deploy --step "get_status: know what runs now"',
  )
}

export function hasFlags(flags: WorkflowFlags): boolean {
  const { description, server, category, tool, keyword, step, optionalStep, param, mode } = flags
  return [description, server, category, mode, tool, keyword, step, optionalStep, param]
    .flat()
    .some((value) => value !== undefined)
}

export function applyFlags(before: JsonObject, flags: WorkflowFlags): JsonObject {
  const { description, server, category, tool, keyword, step, optionalStep, mode } = flags
  for (const [name, value] of Object.entries({ description, server, category, tool, keyword })) {
    if (![value].flat().some((text) => text?.trim() === '')) continue
    throw wrongUse(`--${name} is empty`, `Omit the option, or give it a value.`)
  }
  const given = [
    ...step.map((text) => readStep('--step', text, true)),
    ...optionalStep.map((text) => readStep('--optional-step', text, false)),
  ].map((item, index) => ({ step: index + 1, ...item }))
  const after: JsonObject = {
    ...before,
    ...(description === undefined ? {} : { description }),
    triggers: {
      ...objectOf<JsonValue>(before['triggers']),
      ...(server === undefined ? {} : { server }),
      ...(category === undefined ? {} : { category }),
      ...(tool.length === 0 ? {} : { tools: tool }),
      ...(keyword.length === 0 ? {} : { keywords: keyword }),
    },
    prerequisites: given.length > 0 ? given : (before['prerequisites'] ?? []),
    ...(mode === undefined ? {} : { mode }),
  }
  return flags.param.reduce(withParam, after)
}

function readStep(option: string, text: string, required: boolean) {
  const [, tool, rest = ''] = /^([^\s:]+)\s*:(.*)$/s.exec(text.trim()) ?? []
  const description = rest.trim()
  if (tool !== undefined && description !== '') return { tool, description, required }
  throw wrongUse(
    `${option} ${JSON.stringify(text)} is not "TOOL: why"`,
    `Example: ${option} "list_tables: know the tables"`,
  )
}

function withParam(definition: JsonObject, text: string): JsonObject {
  const [, step, name, value] = /^(\d+)\.([A-Za-z_][\w-]*)=(.*)$/s.exec(text) ?? []
  const { prerequisites } = definition
  const list = Array.isArray(prerequisites) ? [...prerequisites] : []
  const index = list.findIndex((item) => objectOf(item)['step'] === Number(step))
  if (name === undefined || value === undefined || index === -1) {
    throw wrongUse(
      `--param ${JSON.stringify(text)} is not STEP.NAME=VALUE with the number of a step`,
      "Example: --param '2.database=$call.database'",
    )
  }
  const before = objectOf<JsonValue>(list[index])
  const parsed = parseJson(value)
  const given = parsed === undefined ? value : parsed
  const params = { ...objectOf<JsonValue>(before['params']), [name]: given }
  list[index] = { ...before, params }
  return { ...definition, prerequisites: list }
}
