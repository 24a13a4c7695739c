import type { Diagnostic } from '#core/errors'
import type { AllowedTool } from '#skill/model'
import type { JsonValue } from '#core/json'
import { alreadyActiveNote, wrapSkillContent } from '#skill/catalog'
import { applyArguments } from '#skill/arguments'
import { SkillInvocationError } from '#skill/errors'
import type { TrustLevel } from '#trust/model'
import type { Skill, SkillInfo } from './model.ts'

/** Who asks for the skill: a user by name, the model by itself, or a program. */
export type InvocationSource = 'user' | 'model' | 'code'

export interface ActivationInput {
  skill: Skill
  source: InvocationSource
  /** What was typed after the name, as it was typed. */
  arguments: string
  /** The level now, with everything that acts compared. */
  trustLevel: TrustLevel
  /** The activation before this one, if its content is still in the conversation. */
  inContext?: { digest: string; arguments: string } | undefined
}

export interface Activation {
  name: string
  source: InvocationSource
  arguments: string
  digest: string
  trustLevel: TrustLevel
  content: string
  /** Whether `content` is only a note, because the conversation still holds the skill. */
  repeated: boolean
  effects: ActivationEffects
  diagnostics: readonly Diagnostic[]
}

export interface ActivationEffects {
  /** Tools that need no approval while the skill is active. */
  preApproved: readonly AllowedTool[]
  /** For an untrusted skill that lists tools: nothing else may be used while it is active. */
  narrowedTo: readonly AllowedTool[] | undefined
  model: string | undefined
  /** `context: fork`: the skill runs in a subagent of this name, or in a copy of the agent. */
  fork: { agent: string | undefined } | undefined
  hooks: JsonValue | undefined
}

/** @throws {SkillInvocationError} where the skill's own flags rule the source out. */
export function checkInvocation({ name, fields }: SkillInfo, source: InvocationSource): void {
  const { userInvocable, disableModelInvocation } = fields
  if (source === 'model' && disableModelInvocation) {
    const message = `Skill ${name} cannot be activated by the model: it sets disable-model-invocation.`
    const hint = userInvocable ? 'A user can activate it by name.' : 'A program can activate it.'
    throw new SkillInvocationError({ code: 'model-invocation-disabled', message, hint })
  }
  if (source === 'user' && !userInvocable) {
    const message = `Skill ${name} cannot be activated by a user: it sets user-invocable: false.`
    const byModel = 'The model activates it where it fits.'
    const hint = disableModelInvocation ? 'A program can activate it.' : byModel
    throw new SkillInvocationError({ code: 'user-invocation-disabled', message, hint })
  }
}

/** Puts together what the model gets and what the skill may do. Reads and runs nothing. */
export function activateSkill(input: ActivationInput): Activation {
  const { skill, source, trustLevel, inContext } = input
  const { info, digest } = skill
  checkInvocation(info, source)
  const { name } = info
  const repeated = inContext?.digest === digest && inContext.arguments === input.arguments
  const { directory, fields } = info
  const given = { argumentText: input.arguments, argumentNames: fields.arguments }
  const body = applyArguments(skill.body, given)
  const resources = skill.resources.files.map(({ path }) => path)
  const whole = { name, directory, body, resources, incomplete: skill.resources.truncated }
  const content = repeated ? alreadyActiveNote(name) : wrapSkillContent(whole)
  const asked = { name, source, arguments: input.arguments, digest, trustLevel }
  const effects = effectsOf(info, trustLevel)
  const diagnostics = [...commandFindings(skill), ...trustFindings(info, trustLevel)]
  return { ...asked, content, repeated, effects, diagnostics }
}

function effectsOf({ fields }: SkillInfo, trustLevel: TrustLevel): ActivationEffects {
  const { allowedTools, model, context, agent, hooks } = fields
  if (trustLevel === 'untrusted') {
    return { preApproved: [], narrowedTo: allowedTools, model, fork: undefined, hooks: undefined }
  }
  return {
    preApproved: allowedTools ?? [],
    narrowedTo: undefined,
    model,
    fork: context === 'fork' ? { agent } : undefined,
    hooks,
  }
}

function commandFindings({ info, body }: Skill): Diagnostic[] {
  const hint = 'Tell the model to run it.'
  return findEmbeddedCommands(body).map(({ command, line }) => {
    const message = `line ${line} of the body asks to run \`${command}\` before the model reads it; it was not run`
    return { code: 'command-not-executed', severity: 'warning', message, path: info.path, hint }
  })
}

function trustFindings({ path, fields }: SkillInfo, trustLevel: TrustLevel): Diagnostic[] {
  if (trustLevel === 'trusted') return []
  const withheld = [
    fields.hooks !== undefined && '`hooks`',
    fields.context === 'fork' && '`context: fork`',
    fields.allowedTools && 'the approval in `allowed-tools`',
  ].filter(Boolean)
  if (withheld.length === 0) return []
  const message = `the skill is untrusted, so ${withheld.join(', ')} has no effect`
  const hint = 'Review and trust it with: skillrail trust'
  return [{ code: 'withheld-from-untrusted', severity: 'warning', message, path, hint }]
}

export interface ActivePermissions {
  preApproved: readonly AllowedTool[]
  /** Each entry is one untrusted skill's list; a tool must be in all of them to be used. */
  narrowedTo: readonly (readonly AllowedTool[])[]
}

interface EmbeddedCommand {
  command: string
  line: number
}

/** The commands that a body asks its client to run; they are reported and never run. */
export function findEmbeddedCommands(body: string): EmbeddedCommand[] {
  const commands: EmbeddedCommand[] = []
  let block: { fence: string; start: number; runs: boolean } | undefined
  const lines = body.split('\n')
  for (const [index, line] of lines.entries()) {
    const [, fence = '', mark] = /^\s*(`{3,}|~{3,})(!?)/.exec(line) ?? []
    if (block) {
      if (!fence.startsWith(block.fence)) continue
      const command = lines.slice(block.start, index).join('\n')
      if (block.runs) commands.push({ command, line: block.start })
      block = undefined
    } else if (fence !== '') block = { fence, start: index + 1, runs: mark === '!' }
    else {
      for (const [, command = ''] of line.matchAll(/(?<=^|\s)!`([^`]+)`/g)) {
        commands.push({ command, line: index + 1 })
      }
    }
  }
  return commands
}
