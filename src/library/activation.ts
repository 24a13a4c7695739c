import type { Diagnostic } from '#core/errors'
import type { AllowedTool } from '#skill/model'
import type { JsonValue } from '#core/json'
import { alreadyActiveNote, wrapSkillContent } from '#skill/catalog'
import { applyArguments, doubtfulPositions, type Substitution } from '#skill/arguments'
import { SkillInvocationError } from '#skill/errors'
import { insertVariables, type VariableValues } from '#skill/variables'
import type { TrustLevel } from '#trust/model'
import type { Skill, SkillInfo } from './model.ts'

/** Who activates the skill: a user by name, the model by itself, or a program. */
export type InvocationSource = 'user' | 'model' | 'code'

export interface ActivationInput {
  skill: Skill
  source: InvocationSource
  /** The text after the skill's name, as the user typed it. */
  arguments: string
  /** The current level, with all acting parts compared. */
  trustLevel: TrustLevel
  /** Values of client variables besides the skill's own directory. */
  variables?: Pick<VariableValues, 'project' | 'session' | 'plugin'> | undefined
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
  /** Whether `content` is only a note, because the conversation still contains the skill. */
  repeated: boolean
  effects: ActivationEffects
  diagnostics: readonly Diagnostic[]
}

export interface ActivationEffects {
  /** Tools that need no approval while the skill is active. */
  preApproved: readonly AllowedTool[]
  /** Tools of an untrusted skill: while the skill is active, no other tool is allowed. */
  narrowedTo: readonly AllowedTool[] | undefined
  model: string | undefined
  /** `context: fork`: the skill runs in a subagent of this name, or in a copy of the agent. */
  fork: { agent: string | undefined } | undefined
  hooks: JsonValue | undefined
}

/** @throws {SkillInvocationError} if the skill's own flags exclude the source. */
export function checkInvocation({ name, fields }: SkillInfo, source: InvocationSource): void {
  const { userInvocable, disableModelInvocation } = fields
  if (source === 'model' && disableModelInvocation) {
    const message = `Skill ${name} cannot be activated by the model: it sets disable-model-invocation.`
    const hint = userInvocable ? 'A user can activate it by name.' : 'A program can activate it.'
    throw new SkillInvocationError({ code: 'model-invocation-disabled', message, hint })
  }
  if (source === 'user' && !userInvocable) {
    const message = `Skill ${name} cannot be activated by a user: it sets user-invocable: false.`
    const modelHint = 'The model activates it where it fits.'
    const hint = disableModelInvocation ? 'A program can activate it.' : modelHint
    throw new SkillInvocationError({ code: 'user-invocation-disabled', message, hint })
  }
}

/** Returns the text for the model and the skill's permissions. Reads and runs nothing. */
export function activateSkill(input: ActivationInput): Activation {
  const { skill, source, trustLevel, inContext } = input
  const { info, digest } = skill
  checkInvocation(info, source)
  const { name } = info
  const isRepeated = inContext?.digest === digest && inContext.arguments === input.arguments
  const { directory, fields } = info
  const variables = { ...input.variables, skill: directory || undefined }
  const { text: body, ...substitution } = applyArguments(skill.body, {
    argumentText: input.arguments,
    argumentNames: fields.arguments,
    variables,
  })
  const resources = skill.resources.files.map(({ path }) => path)
  const parts = { name, directory, body, resources, incomplete: skill.resources.truncated }
  const content = isRepeated ? alreadyActiveNote(name) : wrapSkillContent(parts)
  const request = { name, source, arguments: input.arguments, digest, trustLevel }
  const tools = fields.allowedTools && insertVariables(fields.allowedTools, variables)
  const effects = effectsOf(info, trustLevel, tools?.tools)
  const diagnostics = [
    ...commandDiagnostics(skill),
    ...trustDiagnostics(info, trustLevel),
    ...argumentDiagnostics(skill, substitution),
    ...variableDiagnostics(info.path, substitution.unknown, tools?.unknown ?? []),
  ]
  return { ...request, content, repeated: isRepeated, effects, diagnostics }
}

function argumentDiagnostics(
  { info: { path, fields }, body }: Skill,
  { used, unplaced, emptied }: Omit<Substitution, 'text'>,
): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  const report = (code: string, message: string, hint: string) =>
    diagnostics.push({ code, severity: 'warning', message, path, hint })
  if (unplaced.length > 0) {
    const message = `the skill has no placeholder for ${codeList(unplaced)}, so the model does not see it`
    report('argument-unused', message, 'A skill takes all arguments with `$ARGUMENTS`.')
  }
  // If one placeholder was filled, an empty placeholder after it means fewer arguments.
  if (used) return diagnostics
  const doubtful = doubtfulPositions(body, { names: fields.arguments, hint: fields.argumentHint })
  const emptyPlaceholders = doubtful
    .map(({ placeholder }) => placeholder)
    .filter((placeholder) => emptied.includes(placeholder))
  if (emptyPlaceholders.length > 0) {
    const message = `${codeList(emptyPlaceholders)} in the body became empty, because there is no such argument`
    report(
      'position-empty',
      message,
      `Write \`\\${emptyPlaceholders[0]}\` in the body if it is text.`,
    )
  }
  return diagnostics
}

function variableDiagnostics(
  path: string,
  inBody: readonly string[],
  inTools: readonly string[],
): Diagnostic[] {
  const places = [
    { where: 'the body', names: inBody },
    { where: '`allowed-tools`', names: inTools },
  ]
  return places.flatMap(({ where, names }): Diagnostic[] => {
    if (names.length === 0) return []
    const message = `${codeList(names)} in ${where} stays unchanged, because its value is unknown here`
    return [{ code: 'variable-unknown', severity: 'warning', message, path }]
  })
}

function codeList(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(', ')
}

function effectsOf(
  { fields }: SkillInfo,
  trustLevel: TrustLevel,
  allowedTools: readonly AllowedTool[] | undefined,
): ActivationEffects {
  const { model, context, agent, hooks } = fields
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

function commandDiagnostics({ info, body }: Skill): Diagnostic[] {
  const hint = 'Tell the model to run it.'
  return findEmbeddedCommands(body).map(({ command, line }) => {
    const message = `line ${line} of the body asks to run \`${command}\` before the model reads it; it was not run`
    return { code: 'command-not-executed', severity: 'warning', message, path: info.path, hint }
  })
}

function trustDiagnostics({ path, fields }: SkillInfo, trustLevel: TrustLevel): Diagnostic[] {
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
  /** One list for each untrusted skill. A tool is allowed if every list contains it. */
  narrowedTo: readonly (readonly AllowedTool[])[]
}

interface EmbeddedCommand {
  command: string
  line: number
}

/** Returns the commands that a body asks its client to run. Skillrail reports them and never runs them. */
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
