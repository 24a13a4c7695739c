import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { sandboxHint } from '#chain/plan-model'
import { messageOf } from '#core/errors'
import { type JsonObject, type JsonValue, objectOf } from '#core/json'
import type { Runtime } from '#core/runtime'
import { findScript } from '#exec/find-script'
import { SandboxMissingError, noGrants } from '#exec/sandbox/grants'
import { type Confinement, openSandbox } from '#exec/sandbox/open-sandbox'
import { childEnvironment } from '#exec/process'
import { type ScriptResult, runScript } from '#exec/script'
import type { Activation } from '#library/activation'
import type { OfferedTool, SkillManager } from '#library/manager'
import type { Skill } from '#library/model'
import type { SkillFields } from '#skill/model'
import { SkillNotTrustedError } from '#trust/skill-trust'
import { textOf } from '#agent/built-in-tools/paths'
import { usageError } from '#agent/errors'
import { FailedResult } from '#agent/failed-result'
import { jsonValue, objectSchema, tool } from '#agent/tool'
import type { AgentTool, ModelObject } from '#agent/types'
import { readHooks, type SkillHook } from './hook-format.ts'

export interface SkillContext {
  manager: SkillManager
  runtime: Runtime
  project: string
  environment: readonly string[]
  serverTools: (server: string, signal: AbortSignal | undefined) => Promise<readonly AgentTool[]>
  resolveModel: (name: string) => Promise<ModelObject>
}

/** An activation, with everything that it adds to a conversation. */
export interface ActiveSkill {
  activation: Activation
  skill: Skill
  hooks: readonly SkillHook[]
  model: ModelObject | undefined
  /** Returns the current tools: a program can register more while the skill is active. */
  tools: () => readonly AgentTool[]
}

/** Prepares everything that an activation adds. Unavailable servers and models are reported and left out. */
export async function activeSkill(
  activation: Activation,
  skill: Skill,
  context: SkillContext,
  notice: (message: string) => void,
  signal: AbortSignal | undefined,
): Promise<ActiveSkill> {
  const { name, trustLevel, effects } = activation
  const isTrusted = trustLevel === 'trusted'
  const { hooks, problems } = readHooks(effects.hooks)
  for (const problem of problems) notice(`Skill ${name}: ${problem}.`)
  const ifAvailable = async <T>(subject: string, value: Promise<T>): Promise<T | undefined> => {
    try {
      return await value
    } catch (error) {
      if (signal?.aborted !== true) notice(`Skill ${name} wants ${subject}: ${messageOf(error)}`)
      return undefined
    }
  }
  const scripts = scriptTools(skill, context)
  const serverTools: AgentTool[] = []
  for (const server of isTrusted ? serverNames(skill.info.fields) : []) {
    const tools = context.serverTools(server, signal)
    serverTools.push(...((await ifAvailable(`the MCP server ${server}`, tools)) ?? []))
  }
  const model =
    effects.model === undefined || effects.model === 'inherit' || !isTrusted
      ? undefined
      : await ifAvailable(`the model ${effects.model}`, context.resolveModel(effects.model))
  const tools = () => {
    // A tool that the program registered replaces a script of the same name.
    const programTools = context.manager.getTools(name).map(programTool)
    const names = new Set(programTools.map((one) => one.name))
    return [...programTools, ...scripts.filter((one) => !names.has(one.name)), ...serverTools]
  }
  return { activation, skill, hooks, model, tools }
}

/** A tool that the program registered for a skill. It is the program's own code and needs no approval. */
function programTool({ name, skill, description, inputSchema, execute }: OfferedTool): AgentTool {
  const definition = {
    name,
    description: description ?? `A tool of the skill ${skill}.`,
    input: objectOf<JsonValue>(jsonValue({ type: 'object', ...inputSchema })),
    execute: (input: JsonObject) => execute(input),
  }
  return { ...tool(definition), origin: { kind: 'skill', skill } }
}

/** Returns the names in `metadata.mcp-servers`. A skill can only name servers that are configured. */
export function serverNames({ metadata }: SkillFields): string[] {
  const names = (metadata['mcp-servers'] ?? '').split(/[\s,]+/).filter((name) => name !== '')
  return [...new Set(names)]
}

type ScriptContext = Pick<SkillContext, 'manager' | 'runtime' | 'project' | 'environment'>

const timeoutMs = 600_000
const outputLimit = 131_072

/** Offers the executable files in `scripts/`, under their names without extension if that is unique. */
export function scriptTools(skill: Skill, context: ScriptContext): AgentTool[] {
  const paths = skill.resources.files
    .filter(({ path, executable }) => executable && /^scripts\/[^/]+$/.test(path))
    .map(({ path }) => path)
  const stemOf = (path: string) => basename(path).replace(/(?<=.)\.[^.]*$/, '')
  return paths.map((path) => {
    const isUnique = paths.filter((other) => stemOf(other) === stemOf(path)).length === 1
    return scriptTool(skill.info, path, isUnique ? stemOf(path) : basename(path), context)
  })
}

function scriptTool(
  info: Skill['info'],
  path: string,
  tool: string,
  context: ScriptContext,
): AgentTool {
  return {
    name: `${info.name}.${tool}`,
    description: `Runs ${path} of the skill ${info.name} in the project directory. Its instructions say what it takes.`,
    inputSchema: objectSchema({
      arguments: {
        type: 'array',
        items: { type: 'string' },
        description: 'Arguments of the program, one text each.',
      },
      stdin: { type: 'string', description: 'Standard input; default: an empty chain_state.' },
    }),
    readOnly: false,
    origin: { kind: 'skill', skill: info.name },
    patternText: (input) => [path, ...argumentsOf(input)].join(' '),
    effect: (input) => `runs ${join(info.directory, path)} ${JSON.stringify(argumentsOf(input))}`,
    async execute(input, call) {
      const { confinement, hint } = await confinementOf(info, path, context)
      const search = findScript(info.directory, path)
      if (search.kind !== 'found') {
        const missing = `${path} of the skill ${info.name} is gone`
        const problem = search.kind === 'broken' ? search.diagnostic.message : missing
        throw usageError('script-unusable', `${problem}.`)
      }
      const { runtime, project, environment } = context
      const scratch = mkdtempSync(join(tmpdir(), 'skillrail-agent-'))
      const runId = runtime.id()
      try {
        const result = await runScript({
          script: search.script,
          skillDirectory: info.directory,
          cwd: project,
          arguments: argumentsOf(input),
          input: textOf(input, 'stdin', emptyState),
          runId,
          step: info.name,
          attempt: 1,
          idempotencyKey: `${runId}/${call.toolCallId}`,
          scratch,
          files: join(scratch, 'call'),
          environment: childEnvironment(runtime, environment, {}),
          outputLimit,
          timeoutMs,
          signal: call.signal,
          confinement,
        })
        if (result.output.status === 'success') return scriptReport(result)
        return new FailedResult(scriptReport(result, hint))
      } finally {
        rmSync(scratch, { recursive: true, force: true })
      }
    },
  }
}

/** A trusted skill runs outside of a sandbox unless it asks for one; any other in one without grants. */
async function confinementOf(
  { name, fields }: Skill['info'],
  path: string,
  { manager }: ScriptContext,
): Promise<{ confinement?: Confinement; hint?: string }> {
  let refusal: SkillNotTrustedError | undefined
  try {
    await manager.requireTrusted(name, `run ${path}`)
  } catch (error) {
    if (!(error instanceof SkillNotTrustedError)) throw error
    refusal = error
  }
  if (!refusal && fields.sandbox !== true) return {}
  const probe = await openSandbox()
  if (probe.ok) {
    const { sandbox } = probe
    const hint = sandboxHint(sandbox.name, { allowing: refusal?.hint, grants: false })
    return { confinement: { sandbox, grants: noGrants }, hint }
  }
  if (refusal) throw refusal
  const message = `${path} of the skill ${name} runs only in a sandbox, and ${probe.reason}.`
  throw new SandboxMissingError({ code: 'sandbox-missing', message, hint: probe.hint })
}

const emptyState = JSON.stringify({
  chain_state: { previous_outputs: [], accumulated_errors: [], total_metrics: {} },
})

function scriptReport({ output, stdout, stderr }: ScriptResult, hint?: string): JsonValue {
  const { status, result, errors, metrics } = output
  return jsonValue({
    status,
    result,
    errors: errors.length === 0 ? undefined : errors,
    hint,
    metrics: Object.keys(metrics).length === 0 ? undefined : metrics,
    stdout: stdout.trim() === '' ? undefined : stdout,
    stderr: stderr.trim() === '' ? undefined : stderr,
  })
}

function argumentsOf(input: JsonObject) {
  const list = input['arguments']
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
}
